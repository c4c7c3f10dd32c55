// Context: what a model was given for an answer, and how that differs from the answer before.
import { contextAnswer } from "../model/context.js";
import { switchParameter } from "../search/parameters.js";
import { entryRef, foundFor } from "./ids.js";
import { operation } from "./operation.js";

export const context = operation({
  name: "context",
  tag: "Context",
  summary: "Get what a model was given for an answer",
  description:
    "For an interaction or an assistant's message. For a tool call, an error or a decision: of the answer it came from. " +
    "Exact if the request was recorded (`context_pack.messages`), otherwise the session's history as it was then.",
  scope: "read",
  route: "GET /entries/:id/context",
  tools: [],
  command: {
    operands: [
      {
        name: "<id|position>",
        parameter: "id",
        description: "the answer: an interaction, an assistant's message, a tool call or an error",
      },
    ],
    prose: "Exact if the request was recorded; otherwise reconstructed from the session's history.",
    examples: [
      ["the context of an answer", "hansard context 12"],
      ["the messages that were new", "hansard context 12 --json | jq '.messages[.previous.added[]]'"],
    ],
  },
  input: {
    id: entryRef,
    masked: switchParameter({
      description: "`1` masks secrets, as lists do.",
      flag: { name: "masked", says: "mask secrets" },
    }),
  },
  positional: ["id"],
  output: contextAnswer,
  missing: "entry",
  refusals: ["field_invalid", "context_too_large"],
  needs: "index_at_head",
  answer: async ({ contexts }, { id, masked }) => foundFor(id, await contexts.context({ ...id, is_masked: masked })),
});
