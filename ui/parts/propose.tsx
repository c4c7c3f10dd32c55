// A sentence marked in a transcript becomes a candidate with one key, its evidence filled in.
import { useState } from "react";
import { useMay } from "../access.js";
import { proposeMemory } from "../api.js";
import { useKeys } from "../keys.js";

const types = ["preference", "project", "knowledge", "adaptation", "identity", "episodic"] as const;

interface Chosen {
  readonly quote: string;
  readonly entry_id: string;
}

export function Propose({ project }: { readonly project: string }) {
  const may = useMay("review");
  const [chosen, setChosen] = useState<Chosen>();
  const [content, setContent] = useState("");
  const [type, setType] = useState<(typeof types)[number]>("knowledge");
  const [outcome, setOutcome] = useState("");
  useKeys({
    m: () => {
      const marked = may ? markedWords() : undefined;
      setOutcome(marked === undefined ? "Mark a sentence first, then press m." : "");
      setChosen(marked);
      setContent(marked?.quote ?? "");
    },
  });
  if (chosen === undefined) {
    return outcome === "" ? null : (
      <p className="proposal" role="status">
        {outcome}{" "}
        <button type="button" className="plain" onClick={() => setOutcome("")}>
          Close
        </button>
      </p>
    );
  }
  const propose = (): void => {
    const evidence = [{ entry_id: chosen.entry_id, quote: chosen.quote }];
    proposeMemory({ status: "candidate", source: "person", type, content, project, evidence }).then(
      (answer) => {
        setOutcome("dropped" in answer ? `Not proposed: ${answer.reason}` : "Proposed. It waits in Review.");
        setChosen(undefined);
      },
      (error: Error) => setOutcome(error.message),
    );
  };
  return (
    <form
      className="proposal"
      aria-label="Propose a memory"
      onSubmit={(event) => {
        event.preventDefault();
        propose();
      }}
    >
      <textarea
        aria-label="Statement"
        rows={2}
        value={content}
        // biome-ignore lint/a11y/noAutofocus: who pressed the key wants to go on typing.
        autoFocus
        onChange={({ target }) => setContent(target.value)}
        onKeyDown={({ key }) => key === "Escape" && setChosen(undefined)}
      />
      <select aria-label="Type" value={type} onChange={({ target }) => setType(target.value as (typeof types)[number])}>
        {types.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <button type="submit">Propose</button>
      <button type="button" className="plain" onClick={() => setChosen(undefined)}>
        Close
      </button>
      {outcome !== "" && <span role="alert">{outcome}</span>}
    </form>
  );
}

/** What is marked, and the entry it stands in. */
function markedWords(): Chosen | undefined {
  const selection = getSelection();
  const quote = selection?.toString().trim() ?? "";
  const node = selection?.anchorNode;
  const element = node instanceof Element ? node : node?.parentElement;
  const entry_id = element?.closest<HTMLElement>("[data-entry]")?.dataset.entry ?? "";
  return quote === "" || entry_id === "" ? undefined : { quote, entry_id };
}
