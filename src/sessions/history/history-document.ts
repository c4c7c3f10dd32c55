// A history as the answered document, in OpenAI's or Anthropic's form.
import { Type } from "typebox";
import { reasoningFields } from "../../model/content.js";
import type { JsonValue } from "../../model/json.js";
import { each, named, oneOf, text } from "../../model/schema.js";
import type { AnthropicHistory, OpenAiMessage } from "./model-input.js";

const content = Type.Unsafe<string | readonly object[]>({
  oneOf: [{ type: "string" }, { type: "array", items: { type: "object" } }],
});

const openAiMessage = Type.Object({
  role: oneOf(["system", "user", "assistant", "tool"]),
  content,
  tool_calls: Type.Optional(Type.Unsafe<readonly object[]>({ type: "array", items: { type: "object" }, minItems: 1 })),
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

const anthropicMessage = Type.Object({ role: oneOf(["user", "assistant"]), content });

const anthropicHistory = named(
  "AnthropicHistory",
  Type.Object({ system: text, messages: Type.Array(anthropicMessage) }, { additionalProperties: false }),
);

export type HistoryDocument = { messages: OpenAiMessage[] } | AnthropicHistory;
export const historyDocument = Type.Unsafe<HistoryDocument>({
  title: "History",
  oneOf: [openAiHistory, anthropicHistory],
});
