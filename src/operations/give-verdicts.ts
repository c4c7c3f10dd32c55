// Verdicts on several candidates at once.
import { verdictsGiven } from "../memories/review/memory-answers.js";
import { newVerdicts, parseVerdicts } from "../memories/review/memory-input.js";
import { exampleCandidates } from "./ids.js";
import { body, operation } from "./operation.js";

export const giveVerdicts = operation({
  name: "giveVerdicts",
  tag: "Memories",
  summary: "Give verdicts on several candidates, all or none",
  description: "Each of them is promoted, or rejected.",
  scope: "review",
  route: "POST /memories/verdicts",
  tools: [],
  command: undefined,
  input: {},
  positional: [],
  body: body({
    schema: newVerdicts,
    example: { promote: exampleCandidates.slice(1) },
    is_required: true,
    form: "json_or_empty",
    actor: "sender_by_default",
    parse: parseVerdicts,
  }),
  output: verdictsGiven,
  answer_is: "The memories as they are now.",
  missing: undefined,
  refusals: ["memory_not_found", "verdict_given"],
  needs: "store",
  answer: ({ memories }, { body }) => memories.verdicts(body),
});
