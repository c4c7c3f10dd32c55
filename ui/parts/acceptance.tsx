// How many proposals of each source people accept, and which sources are paused.
import type { Memory, MemoryPage } from "../api.js";
import { plural } from "../format.js";

export const sourceWords: { readonly [source in Memory["source"]]: string } = {
  person: "a person",
  agent: "an agent",
  "rule:commands": "a rule for commands",
  "rule:words": "a rule for user messages",
  decision: "a decision",
  import: "a file",
  model: "a model",
};

const sourceNames: { readonly [source in Memory["source"]]: string } = {
  person: "People",
  agent: "Agents",
  "rule:commands": "Rules for commands",
  "rule:words": "Rules for user messages",
  decision: "Decisions",
  import: "Files",
  model: "Models",
};

export function Acceptance({ acceptance }: { readonly acceptance: MemoryPage["acceptance"] }) {
  if (acceptance.length === 0) return null;
  return (
    <section className="acceptance">
      <h2>Acceptance by source</h2>
      <ul>
        {acceptance.map(({ source, generation, accepted, rejected, is_paused }) => {
          const verdicts = accepted + rejected;
          return (
            <li key={`${source} ${generation}`} title={generation === "" ? undefined : `generation ${generation}`}>
              <span>{sourceNames[source]}</span>
              <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                <rect className="bar" width={(100 * accepted) / verdicts} height="4" />
              </svg>
              <span className="quiet">
                {accepted} of {plural(verdicts, "proposal")} accepted
              </span>
              {is_paused && <span className="note">Paused: too few accepted</span>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
