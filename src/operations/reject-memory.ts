// Turning a candidate down.
import { memory } from "../memories/review/memory-answers.js";
import { newVerdict, parseVerdict } from "../memories/review/memory-input.js";
import { exampleCandidates, memoryId } from "./ids.js";
import { body, operation } from "./operation.js";

export const rejectMemory = operation({
  name: "rejectMemory",
  tag: "Memories",
  summary: "Reject a candidate",
  description: "It is not proposed again.",
  scope: "review",
  route: "POST /memories/:id/reject",
  tools: [],
  command: undefined,
  input: { id: memoryId(exampleCandidates[0]) },
  positional: ["id"],
  body: body({
    schema: newVerdict,
    example: { reason: "obvious" },
    is_required: false,
    form: "json_or_empty",
    actor: "sender_by_default",
    parse: (given) => parseVerdict(given, newVerdict),
  }),
  output: memory,
  answer_is: "The memory as it is now.",
  missing: undefined,
  refusals: ["memory_known", "memory_not_found", "verdict_given"],
  needs: "store",
  answer: ({ memories }, { id, body }) => memories.reject(id, body),
});
