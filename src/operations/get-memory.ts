// One memory with its history.
import { memoryDetail } from "../memories/review/memory-answers.js";
import { memoryId } from "./ids.js";
import { operation } from "./operation.js";

export const getMemory = operation({
  name: "getMemory",
  tag: "Memories",
  summary: "Get one memory with its history",
  description: "With the quotes that are its evidence, and the answers that were given it.",
  scope: "read",
  route: "GET /memories/:id",
  tools: [],
  command: { examples: [["one memory with its evidence and history", "hansard memories show ID"]] },
  input: { id: memoryId("ports") },
  positional: ["id"],
  output: memoryDetail,
  missing: "memory",
  refusals: [],
  needs: "index_at_head",
  answer: ({ memories }, query) => memories.get(query.id),
});
