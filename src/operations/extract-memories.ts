// Proposing what rules find in one interaction.
import { extraction } from "../memories/review/memory-answers.js";
import { noFields } from "./entry-body.js";
import { interactionId } from "./ids.js";
import { operation } from "./operation.js";

export const extractMemories = operation({
  name: "extractMemories",
  tag: "Memories",
  summary: "Propose what rules find in an interaction",
  description: "Proposals wait for review; what was dropped names its gate. Asking again proposes nothing new.",
  scope: "review",
  route: "POST /interactions/:id/extract",
  tools: [],
  command: undefined,
  input: { id: interactionId },
  positional: ["id"],
  body: noFields,
  output: extraction,
  answer_is: "The result.",
  missing: undefined,
  refusals: ["interaction_not_found"],
  reads_all: true,
  needs: "store",
  answer: ({ memories }, { id }) => memories.extractOne(id),
});
