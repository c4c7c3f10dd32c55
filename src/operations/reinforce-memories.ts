// Counting which memories one interaction was given, used and confirmed.
import { reinforcement } from "../memories/review/memory-answers.js";
import { noFields } from "./entry-body.js";
import { interactionId } from "./ids.js";
import { operation } from "./operation.js";

export const reinforceMemories = operation({
  name: "reinforceMemories",
  tag: "Memories",
  summary: "Count which memories were given, used and confirmed in an interaction",
  description:
    "Each memory counts once per turn. Only a confirmation of a memory that was not given raises its confidence.",
  scope: "review",
  route: "POST /interactions/:id/reinforce",
  tools: [],
  command: undefined,
  input: { id: interactionId },
  positional: ["id"],
  body: noFields,
  output: reinforcement,
  answer_is: "What was counted.",
  missing: undefined,
  refusals: ["interaction_not_found"],
  reads_all: true,
  needs: "store",
  answer: ({ memories }, { id }) => memories.reinforceOne(id),
});
