// What rules on words and decisions would propose of an entry, whatever its session is and however often it was said.
import { readByRules } from "../../src/memories/propose/rules/rules.js";
import { proposalOf } from "../../src/memories/propose/words/user-words.js";
import type { Entry } from "../../src/model/entry.js";
import type { Proposal } from "../../src/model/memory.js";

export function ruleProposals(entry: Entry): readonly Proposal[] {
  const { decision, findings } = readByRules(entry);
  const said = findings.map((finding) => proposalOf({ ...finding, project: entry.project }, [finding]));
  return [...(decision === undefined ? [] : [decision]), ...said];
}
