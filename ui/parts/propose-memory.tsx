// Proposes the selected text of a transcript as a memory, with its evidence. If a gate drops it, it can be reworded.
import { useState } from "react";
import { type MemoryType, memoryTypes } from "../../src/model/memory.js";
import { usePermission } from "../access.js";
import { getEntry, proposeMemory, type Row } from "../api.js";
import { speakerOf } from "../format.js";
import { useKeys } from "../keyboard.js";
import { Link, to } from "../router.js";
import { fullText } from "./evidence.js";

interface Proposal {
  readonly content: string;
  readonly type: MemoryType;
  readonly evidence: readonly { readonly entry_id: string; readonly quote: string }[];
}

export function ProposeMemory({ project }: { readonly project: string }) {
  const isAllowed = usePermission("review");
  const [draft, setDraft] = useState<Proposal>();
  const [outcome, setOutcome] = useState<{ readonly words: string; readonly isDone: boolean }>();
  const refuse = (proposed: Proposal | undefined, words: string): void => {
    setDraft(proposed);
    setOutcome({ words, isDone: false });
  };
  const propose = (proposed: Proposal): void => {
    proposeMemory({ status: "candidate", source: "person", project, ...proposed }).then(
      (answer) => {
        if ("dropped" in answer) return refuse(proposed, `Not proposed: ${answer.reason}`);
        setDraft(undefined);
        setOutcome({ words: "id" in answer ? `Proposed “${answer.content}”.` : "Sent for review.", isDone: true });
      },
      (error: Error) => refuse(proposed, error.message),
    );
  };
  useKeys({
    m: () => {
      if (!isAllowed) return;
      const selected = proposalFromSelection();
      if (selected === undefined) refuse(undefined, "Select a sentence first, then press m.");
      else selected.then(propose, (error: Error) => refuse(undefined, error.message));
    },
  });
  if (draft === undefined) {
    if (outcome === undefined) return null;
    return (
      <p className="proposal" role="status">
        {outcome.words} {outcome.isDone && <Link to={to(["memory"])}>It is in the review queue.</Link>}{" "}
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
        // biome-ignore lint/a11y/noAutofocus: the reader has just asked to edit.
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

/** The selected text as a proposal; undefined if nothing in an entry is selected. */
function proposalFromSelection(): Promise<Proposal> | undefined {
  const selection = getSelection();
  const selected = selection?.toString().trim() ?? "";
  const node = selection?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  const entry_id = element?.closest<HTMLElement>("[data-entry]")?.dataset.entry ?? "";
  if (selected === "" || entry_id === "") return undefined;
  return getEntry(entry_id).then((entry) => {
    const row = entry as unknown as Row;
    const quote = findQuote(fullText(row), selected);
    // A person's proposal needs no evidence, so it is kept even if no quote is found.
    const evidence = quote === undefined ? [] : [{ entry_id, quote }];
    const isUsers = speakerOf(row) === "user";
    return { content: selected.replace(/\s+/g, " "), type: isUsers ? "preference" : "knowledge", evidence };
  });
}

/** Signs and white space that rendering Markdown removes. */
const MARKDOWN_SIGN = /[*_`~#>|\\\s[\]]/;

/** The recorded text behind a selection: a quote must match the entry exactly, Markdown signs included. */
function findQuote(text: string, selected: string): string | undefined {
  if (text.includes(selected)) return selected;
  const places: number[] = [];
  let bare = "";
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charAt(at);
    if (MARKDOWN_SIGN.test(unit)) continue;
    bare += unit;
    places.push(at);
  }
  const bareQuote = selected.split(MARKDOWN_SIGN).join("");
  const found = bareQuote === "" ? -1 : bare.indexOf(bareQuote);
  return found === -1 ? undefined : text.slice(places[found], (places[found + bareQuote.length - 1] as number) + 1);
}
