// Retiring a memory, with or without a replacement.
import { memory } from "../memories/review/memory-answers.js";
import { newEdit, parseVerdict } from "../memories/review/memory-input.js";
import { memoryId } from "./ids.js";
import { body, operation } from "./operation.js";

export const supersedeMemory = operation({
  name: "supersedeMemory",
  tag: "Memories",
  summary: "Retire a memory",
  description: "`content` adds a memory that replaces it, named by `superseded_by`.",
  scope: "review",
  route: "POST /memories/:id/supersede",
  tools: [],
  command: undefined,
  input: { id: memoryId("ports") },
  positional: ["id"],
  body: body({
    schema: newEdit,
    example: { content: "The server of atlas listens on port 5000" },
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
  answer: ({ memories }, { id, body }) => memories.supersede(id, body),
});
