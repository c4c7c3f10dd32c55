// History: a session as model input.
import { type Rejection, reject } from "../model/rejection.js";
import { isGiven, type Parameter, parseCount, switchParameter } from "../search/parameters.js";
import { historyDocument } from "../sessions/history/history-document.js";
import { type HistoryFormat, MESSAGES_DEFAULT } from "../sessions/session-query.js";
import { sessionId, sessionOperand } from "./ids.js";
import { operation } from "./operation.js";

const max_messages: Parameter<number | string, number> = {
  description:
    "Maximum number of newest messages, starting at a user's message. System messages and the consolidation summary do not " +
    "count. Of a longer turn: the user's message and the newest calls with their results. Zero or less gives none.",
  schema: { type: "number", default: MESSAGES_DEFAULT },
  example: 20,
  flag: { name: "max-messages", value: "n", says: `at most n of the newest messages (${MESSAGES_DEFAULT})` },
  refusals: ["limit_invalid", "budget_too_small"],
  parse: (value, { name }) => parseCount(name, value) ?? MESSAGES_DEFAULT,
};

const max_tokens: Parameter<number | string, number | undefined> = {
  description: "Maximum number of tokens; gives as many of the newest messages as fit. Everything returned counts.",
  schema: { type: "number" },
  flag: { name: "max-tokens", value: "n", says: "as many of the newest messages as fit into n tokens" },
  refusals: ["limit_invalid", "budget_too_small"],
  parse: (value, { name }) => parseCount(name, value),
};

const format: Parameter<HistoryFormat, HistoryFormat> = {
  description: "`openai`, or `anthropic` with a separate system text.",
  schema: { type: "string", enum: ["openai", "anthropic"], default: "openai" },
  flag: { name: "format", value: "format", says: "openai, or anthropic with a separate system text (openai)" },
  refusals: ["field_invalid"],
  parse: parseFormat,
};

const include: Parameter<string, "reasoning" | undefined> = {
  description:
    "`reasoning` keeps `reasoning_content`, `reasoning`, `reasoning_details` and `thinking_blocks` of assistants' messages " +
    "in OpenAI's form, as they were recorded. Anthropic's form always keeps signed thinking.",
  schema: { type: "string", enum: ["reasoning"] },
  flag: { name: "include", value: "what", says: "reasoning: keep the reasoning of models" },
  refusals: ["field_invalid"],
  parse: parseInclude,
};

export const getHistory = operation({
  name: "getHistory",
  tag: "Sessions",
  summary: "Get a session as model input",
  description:
    "The messages after the last clear and consolidation, repaired for the provider's API: every call has its " +
    "result, and the first message after the system's is a user's. System messages and the newest consolidation's " +
    "summary come first. A session without entries gives an empty list.",
  scope: "read",
  route: "GET /sessions/:id/history",
  tools: [
    {
      name: "session_context",
      title: "A session as model input",
      description:
        "Gives a session as messages for the provider's API: after the last clear and consolidation (whose summary " +
        "comes first), every tool call with its result.",
      list: "messages",
      names: { id: "session_id" },
    },
  ],
  command: {
    operands: [{ ...sessionOperand, name: "<id>", description: "the session's id" }],
    prose: "Cleared and consolidated messages are left out. Messages that a provider would reject are repaired.",
    examples: [
      ["the messages for a model", "hansard history cli:anna"],
      ["as JSON, within 8,000 tokens", "hansard history cli:anna --max-tokens 8000 --json | jq .messages"],
    ],
  },
  input: {
    id: sessionId,
    max_messages,
    max_tokens,
    format,
    include_pending: switchParameter({
      description: "`1` keeps calls of the last message that have no result yet.",
      flag: { name: "include-pending", says: "keep calls of the last message that have no result yet" },
    }),
    include,
    masked: switchParameter({
      description: "`1` masks secrets, as lists do.",
      flag: { name: "masked", says: "mask secrets" },
    }),
  },
  positional: ["id"],
  output: historyDocument,
  example: {
    messages: [
      { role: "user", content: "Is the build green?" },
      { role: "assistant", content: "Yes, all 412 tests pass." },
    ],
  },
  missing: undefined,
  refusals: ["history_too_large"],
  needs: "index_at_head",
  async answer({ histories, mask }, { id, include, masked, ...query }) {
    const found = await histories.history({ session_id: id, include_reasoning: include === "reasoning", ...query });
    return masked ? mask.value(found) : found;
  },
});

function parseFormat(value: unknown): HistoryFormat | Rejection {
  if (!isGiven(value)) return "openai";
  if (value === "openai" || value === "anthropic") return value;
  return reject({ code: "field_invalid", field: "format", message: "format must be openai or anthropic" });
}

function parseInclude(value: unknown): "reasoning" | undefined | Rejection {
  if (!isGiven(value)) return undefined;
  if (value === "reasoning") return value;
  return reject({ code: "field_invalid", field: "include", message: "include can only be reasoning" });
}
