// Promoting a candidate to a memory.
import { memory } from "../memories/review/memory-answers.js";
import { newEdit, parseVerdict } from "../memories/review/memory-input.js";
import { memoryId } from "./ids.js";
import { body, operation } from "./operation.js";

export const promoteMemory = operation({
  name: "promoteMemory",
  tag: "Memories",
  summary: "Promote a candidate to a memory",
  description: "`content` replaces its wording.",
  scope: "review",
  route: "POST /memories/:id/promote",
  tools: [],
  command: undefined,
  input: { id: memoryId("ports") },
  positional: ["id"],
  body: body({
    schema: newEdit,
    example: { reason: "It says so in the README." },
    is_required: false,
    form: "json_or_empty",
    actor: "sender_by_default",
    parse: (given) => parseVerdict(given, newEdit),
  }),
  output: memory,
  answer_is: "The memory as it is now.",
  missing: undefined,
  refusals: ["memory_known", "memory_not_found", "verdict_given"],
  needs: "store",
  answer: ({ memories }, { id, body }) => memories.promote(id, body),
});
