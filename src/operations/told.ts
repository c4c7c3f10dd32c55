// Told: whether a text was in the model's context when it answered.
import { toldAnswer } from "../model/context.js";
import type { Parameter } from "../search/parameters.js";
import { parsePhrase } from "../search/search-query.js";
import { entryRef, foundFor } from "./ids.js";
import { operation } from "./operation.js";

const q: Parameter<string, string> = {
  description: "The text to look for, as one phrase; compared as in search.",
  schema: { type: "string" },
  example: "port 4747",
  refusals: ["query_empty", "query_too_long", "field_invalid"],
  parse: (value) => parsePhrase(value, "q"),
};

export const told = operation({
  name: "told",
  tag: "Context",
  summary: "Ask whether a text was in the model's context when it answered",
  description:
    "Given (and where), fallen out (with the last answer that had it, and why), never given in the session, or unknown: not " +
    "found, but the source does not record all that the model was given, so absence is not proven.",
  scope: "read",
  route: "GET /entries/:id/told",
  tools: [
    {
      name: "told",
      title: "Was this in the model's context?",
      description:
        "Whether a text was in the model's context for an answer: given, fallen out (when, why), never given, or unknown: " +
        "not found, but not all of it is recorded.",
    },
  ],
  command: {
    operands: [
      {
        name: "<id|position>",
        parameter: "id",
        description: "the answer: an interaction, an assistant's message, a tool call or an error",
      },
      { name: "<text...>", parameter: "q", description: "the text to look for, as one phrase" },
    ],
    prose:
      "Prints one of: given, fell out (with when and why), never given in the session, or unknown: not found, but the source " +
      "does not record all that the model was given (the system prompt, for example), so absence is not proven.",
    examples: [
      ["was the rule there?", 'hansard told 12 "never push to main"'],
      ["the first answer that had a text in its context", "hansard told 40 --json /etc/app.conf | jq .first_given"],
    ],
  },
  input: { id: entryRef, q },
  positional: ["id", "q"],
  output: toldAnswer,
  missing: "entry",
  refusals: ["field_invalid", "context_too_large"],
  scans_texts: true,
  needs: "index_at_head",
  answer: async ({ contexts }, { id, q }) => foundFor(id, await contexts.told({ ...id, phrase: q })),
});
