// A history as the answered document, in OpenAI's or Anthropic's form: schemas and types.
import { Type } from "typebox";
import { reasoningFields } from "../../model/content.js";
import type { JsonObject, JsonValue } from "../../model/json.js";
import { type AnswerOf, each, named, oneOf, text } from "../../model/schema.js";

const content = Type.Unsafe<string | readonly JsonObject[]>({
  oneOf: [{ type: "string" }, { type: "array", items: { type: "object" } }],
});

export interface OpenAiCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export type OpenAiMessage = AnswerOf<typeof openAiMessage>;
const openAiMessage = Type.Object({
  role: oneOf(["system", "user", "assistant", "tool"]),
  content,
  tool_calls: Type.Optional(
    Type.Unsafe<readonly OpenAiCall[]>({ type: "array", items: { type: "object" }, minItems: 1 }),
  ),
  tool_call_id: Type.Optional(text),
  name: Type.Optional(text),
  ...each(
    reasoningFields,
    Type.Optional(Type.Unsafe<JsonValue>({ description: "With `include=reasoning`, as it was recorded." })),
  ),
});

const openAiHistory = named(
  "OpenAiHistory",
  Type.Object({ messages: Type.Array(openAiMessage) }, { additionalProperties: false }),
);

export type AnthropicMessage = AnswerOf<typeof anthropicMessage>;
const anthropicMessage = Type.Object({ role: oneOf(["user", "assistant"]), content });

export type AnthropicHistory = AnswerOf<typeof anthropicHistory>;
const anthropicHistory = named(
  "AnthropicHistory",
  Type.Object({ system: text, messages: Type.Array(anthropicMessage) }, { additionalProperties: false }),
);

export type HistoryDocument = AnswerOf<typeof openAiHistory> | AnthropicHistory;
export const historyDocument = Type.Unsafe<HistoryDocument>({
  title: "History",
  oneOf: [openAiHistory, anthropicHistory],
});
