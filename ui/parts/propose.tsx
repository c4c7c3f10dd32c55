// A sentence marked in a transcript becomes a candidate with one key, its evidence filled in. Where a gate lets it not pass as
// it stands, it can be worded anew.
import { useState } from "react";
import { type MemoryType, memoryTypes } from "../../src/model/memory.js";
import { useMay } from "../access.js";
import { getEntry, proposeMemory, type Row } from "../api.js";
import { useKeys } from "../keys.js";
import { Link, to } from "../router.js";
import { quoteIn } from "../transcript/quote.js";
import { speakerOf } from "../words.js";
import { wholeText } from "./evidence.js";

interface Proposed {
  readonly content: string;
  readonly type: MemoryType;
  readonly evidence: readonly { readonly entry_id: string; readonly quote: string }[];
}

export function Propose({ project }: { readonly project: string }) {
  const may = useMay("review");
  const [draft, setDraft] = useState<Proposed>();
  const [outcome, setOutcome] = useState<{ readonly words: string; readonly isDone: boolean }>();
  const refuse = (proposed: Proposed | undefined, words: string): void => {
    setDraft(proposed);
    setOutcome({ words, isDone: false });
  };
  const propose = (proposed: Proposed): void => {
    proposeMemory({ status: "candidate", source: "person", project, ...proposed }).then(
      (answer) => {
        if ("dropped" in answer) return refuse(proposed, `Not proposed: ${answer.reason}`);
        setDraft(undefined);
        setOutcome({ words: `Proposed “${answer.content}”.`, isDone: true });
      },
      (error: Error) => refuse(proposed, error.message),
    );
  };
  useKeys({
    m: () => {
      if (!may) return;
      const marked = markedWords();
      if (marked === undefined) refuse(undefined, "Select a sentence first, then press m.");
      else marked.then(propose, (error: Error) => refuse(undefined, error.message));
    },
  });
  if (draft === undefined) {
    if (outcome === undefined) return null;
    return (
      <p className="proposal" role="status">
        {outcome.words} {outcome.isDone && <Link to={to(["review"])}>It is in the review queue.</Link>}{" "}
        <button type="button" className="plain" onClick={() => setOutcome(undefined)}>
          Close
        </button>
      </p>
    );
  }
  return (
    <form
      className="proposal"
      aria-label="Propose a memory"
      onSubmit={(event) => {
        event.preventDefault();
        propose(draft);
      }}
    >
      {outcome !== undefined && <span role="alert">{outcome.words}</span>}
      <textarea
        aria-label="Statement"
        rows={2}
        value={draft.content}
        // biome-ignore lint/a11y/noAutofocus: who pressed the key wants to go on typing.
        autoFocus
        onChange={({ target }) => setDraft({ ...draft, content: target.value })}
        onKeyDown={({ key }) => key === "Escape" && setDraft(undefined)}
      />
      <select
        aria-label="Type"
        value={draft.type}
        onChange={({ target }) => setDraft({ ...draft, type: target.value as MemoryType })}
      >
        {memoryTypes.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <button type="submit">Propose</button>
      <button
        type="button"
        className="plain"
        onClick={() => {
          setDraft(undefined);
          setOutcome(undefined);
        }}
      >
        Close
      </button>
    </form>
  );
}

/** What is marked as a proposal; undefined where nothing is, or not in an entry. */
function markedWords(): Promise<Proposed> | undefined {
  const selection = getSelection();
  const shown = selection?.toString().trim() ?? "";
  const node = selection?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  const entry_id = element?.closest<HTMLElement>("[data-entry]")?.dataset.entry ?? "";
  if (shown === "" || entry_id === "") return undefined;
  return getEntry(entry_id).then((entry) => {
    const row = entry as unknown as Row;
    const quote = quoteIn(wholeText(row), shown);
    // A person's word needs no evidence, so that what cannot be quoted is no reason to lose it.
    const evidence = quote === undefined ? [] : [{ entry_id, quote }];
    const isUsers = ["user", "asked"].includes(speakerOf(row));
    return { content: shown.replace(/\s+/g, " "), type: isUsers ? "preference" : "knowledge", evidence };
  });
}
