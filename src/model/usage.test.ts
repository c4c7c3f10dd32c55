// Token counts as providers record them, under their various names.
import { expect, test } from "vitest";
import type { JsonValue } from "./json.js";
import { readUsage } from "./usage.js";

test.each<[string, JsonValue, object]>([
  [
    "our own names",
    { input_tokens: 5, output_tokens: 1, cache_read_tokens: 2, cache_write_tokens: 3, reasoning_tokens: 4 },
    {},
  ],
  [
    "Anthropic's",
    { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 2, cache_creation_input_tokens: 3 },
    { counting: "anthropic" },
  ],
  [
    "OpenAI's chat completions",
    {
      prompt_tokens: 5,
      completion_tokens: 1,
      total_tokens: 6,
      prompt_tokens_details: { cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 4 },
    },
    { counting: "openai" },
  ],
  [
    "OpenAI's responses",
    {
      input_tokens: 5,
      output_tokens: 1,
      input_tokens_details: { cached_tokens: 2 },
      output_tokens_details: { reasoning_tokens: 4 },
    },
    { counting: "openai" },
  ],
  [
    "Gemini's",
    { promptTokenCount: 5, candidatesTokenCount: 1, cachedContentTokenCount: 2, thoughtsTokenCount: 4 },
    { counting: "gemini" },
  ],
  ["the AI SDK's", { inputTokens: 5, outputTokens: 1, cachedInputTokens: 2, reasoningTokens: 4 }, {}],
])("%s are read", (_, source, expected) => {
  const { usage, ...rest } = readUsage(source) ?? {};
  expect(usage).toMatchObject({ input_tokens: 5, output_tokens: 1, cache_read_tokens: 2 });
  expect(rest).toEqual(expected);
});

test("other values are ignored, and without any count there is no usage", () => {
  for (const count of [-1, 1.5, 1e300, "12", null, true, [1], { n: 1 }]) {
    expect(readUsage({ input_tokens: count, output_tokens: 0 })).toEqual({ usage: { output_tokens: 0 } });
    expect(readUsage({ input_tokens: count })).toBeUndefined();
  }
  for (const source of [undefined, null, 12, "12", [], {}, { tokens: 3 }]) expect(readUsage(source)).toBeUndefined();
});
