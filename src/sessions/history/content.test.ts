// Content of one provider in the other's form, and content that neither knows.
import { describe, expect, test } from "vitest";
import {
  assistant,
  recordedSession,
  result,
  type SessionEntry,
  system,
  user,
} from "../../../test/support/recorded-session.js";
import type { AnthropicMessage } from "./model-input.js";

const openAiImage = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const anthropicImage = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const openAiLink = { type: "image_url", image_url: { url: "https://example.org/a.png" } };
const anthropicLink = { type: "image", source: { type: "url", url: "https://example.org/a.png" } };
const openAiFile = { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } };
const anthropicFile = {
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
  title: "a.pdf",
};

async function asOpenAi(content: unknown): Promise<unknown> {
  return (await (await recordedSession(user(content))).history())[0]?.content;
}

async function asAnthropic(content: unknown): Promise<unknown> {
  return (await (await recordedSession(user(content))).history({ format: "anthropic" })).messages[0]?.content;
}

describe("a user's content parts", () => {
  test.each([openAiImage, openAiLink, openAiFile])("of OpenAI stay unchanged in its form: %j", async (part) => {
    expect(await asOpenAi([{ type: "text", text: "see" }, part])).toStrictEqual([{ type: "text", text: "see" }, part]);
  });

  test.each([
    [anthropicImage, openAiImage],
    [anthropicLink, openAiLink],
    [anthropicFile, openAiFile],
  ])("of Anthropic become OpenAI's: %j", async (given, expected) => {
    expect(await asOpenAi([given])).toStrictEqual([expected]);
  });

  test.each([
    [openAiImage, anthropicImage],
    [openAiLink, anthropicLink],
    [openAiFile, { type: "document", source: anthropicFile.source }],
  ])("of OpenAI become Anthropic's: %j", async (given, expected) => {
    expect(await asAnthropic([given])).toStrictEqual([expected]);
  });

  test.each([
    ["plain", "plain"],
    [{ text: "no type" }, "no type"],
    [{ type: "text", text: "cached", cache_control: { type: "for ever" } }, "cached"],
    [{ type: "image_url" }, '{"type":"image_url"}'],
    [{ type: "image", source: {} }, '{"type":"image","source":{}}'],
    [{ unknown: [1] }, '{"unknown":[1]}'],
  ])("that are broken, or that a provider does not accept, are described in words: %j", async (given, words) => {
    expect(await asOpenAi([given])).toStrictEqual([{ type: "text", text: words }]);
    expect(await asAnthropic([given])).toBe(words);
  });
});

test.each([
  "data:image/svg+xml;base64,AAAA",
  "data:text/plain;base64,AAAA",
  "data:image/png;base64,",
  "data:image/svg+xml;utf8,<svg/>",
  "blob:xx",
  "file:///etc/x",
  "",
])("an image that Anthropic does not accept is described in words: %s", async (url) => {
  const given = { type: "image_url", image_url: { url } };
  expect(await asAnthropic([given])).toBe(JSON.stringify(given));
});

test.each([
  { type: "base64", media_type: "text/plain", data: "AAAA" },
  { type: "text", media_type: "application/pdf", data: "x" },
  { type: "url", url: "file:///etc/x" },
])("a document that Anthropic does not accept is described in words: %j", async (source) => {
  const given = { type: "document", source };
  expect(await asAnthropic([given])).toBe(JSON.stringify(given));
});

test("a media type ignores case", async () => {
  const given = { type: "image_url", image_url: { url: "data:image/PNG;base64,AAAA" } };
  expect(await asAnthropic([given])).toStrictEqual([anthropicImage]);
});

describe("an assistant's content parts", () => {
  test("of Anthropic: tool_use becomes a call, text stays, thinking only in its own provider's form", async () => {
    const blocks = [
      { type: "thinking", thinking: "hm", signature: "x" },
      { type: "text", text: "let me see" },
      { type: "tool_use", id: "c1", name: "read", input: { path: "a" } },
    ];
    const answer = { type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: "seen" }] };
    const session = await recordedSession(user("q"), assistant(blocks), user([answer, { type: "text", text: "and?" }]));
    expect(await session.history()).toStrictEqual([
      { role: "user", content: "q" },
      {
        role: "assistant",
        content: [{ type: "text", text: "let me see" }],
        tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }],
      },
      { role: "tool", content: [{ type: "text", text: "seen" }], tool_call_id: "c1" },
      { role: "user", content: [{ type: "text", text: "and?" }] },
    ]);
    expect((await session.history({ format: "anthropic" })).messages).toStrictEqual([
      { role: "user", content: "q" },
      { role: "assistant", content: blocks },
      { role: "user", content: [answer, { type: "text", text: "and?" }] },
    ]);
  });

  test("with a refusal are OpenAI's own, and text for Anthropic", async () => {
    const session = await recordedSession(user("q"), assistant([{ type: "refusal", refusal: "no" }]));
    expect((await session.history())[1]?.content).toEqual([{ type: "refusal", refusal: "no" }]);
    expect((await session.history({ format: "anthropic" })).messages[1]?.content).toBe("no");
  });

  test("that an assistant may not send are described in words", async () => {
    const session = await recordedSession(user("q"), assistant([anthropicImage]));
    const words = JSON.stringify(anthropicImage);
    expect((await session.history())[1]?.content).toEqual([{ type: "text", text: words }]);
    expect((await session.history({ format: "anthropic" })).messages[1]?.content).toBe(words);
  });
});

describe("Anthropic's form", () => {
  async function messagesOf(...entries: readonly SessionEntry[]): Promise<readonly AnthropicMessage[]> {
    return (await (await recordedSession(...entries)).history({ format: "anthropic" })).messages;
  }

  test("has the system text separate, all of it", async () => {
    const session = await recordedSession(system("be kind"), user("q"), system([{ type: "text", text: "be brief" }]));
    expect((await session.history({ format: "anthropic" })).system).toBe("be kind\n\nbe brief");
  });

  test("alternates strictly: consecutive messages of one role are merged", async () => {
    expect(await messagesOf(user("1"), user("2"), assistant("3"), assistant("4"))).toEqual([
      { role: "user", content: ["1", "2"].map((text) => ({ type: "text", text })) },
      { role: "assistant", content: ["3", "4"].map((text) => ({ type: "text", text })) },
    ]);
  });

  test("puts results first into the user's message", async () => {
    const messages = await messagesOf(user("q"), assistant("", "c1"), result("c1", "x"), user("and?"));
    expect(messages[2]).toEqual({
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", content: "x" },
        { type: "text", text: "and?" },
      ],
    });
  });

  test("marks results that are errors, also without a text", async () => {
    const failed = { kind: "tool_call", tool: "read", tool_call_id: "c1", is_error: true };
    const messages = await messagesOf(user("q"), assistant("", "c1"), failed);
    expect(messages[2]?.content).toEqual([
      { type: "tool_result", tool_use_id: "c1", content: "error", is_error: true },
    ]);
  });

  test("makes ids of calls valid, and unique over the whole history", async () => {
    const turns = ["a:b", "a.b", "a_b", "a_b"].flatMap((id) => [assistant("", id), result(id, id)]);
    const messages = await messagesOf(user("q"), ...turns);
    const blocks = messages.flatMap((message) => (typeof message.content === "string" ? [] : message.content));
    expect(blocks.flatMap((block) => ("id" in block ? block.id : []))).toEqual(["a_b", "a_b-2", "a_b-3", "a_b-4"]);
    expect(blocks.flatMap((block) => ("tool_use_id" in block ? block.tool_use_id : []))).toEqual([
      "a_b",
      "a_b-2",
      "a_b-3",
      "a_b-4",
    ]);
  });

  test("ends an assistant's last text without white space", async () => {
    expect((await messagesOf(user("q"), assistant("a \n"))).at(-1)).toEqual({ role: "assistant", content: "a" });
  });

  const tooDeep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  test.each([
    ['{"path":"a"}', { path: "a" }],
    ["{broken", { _raw: "{broken" }],
    ["", { _raw: "" }],
    ["[1]", { _raw: [1] }],
    ["null", { _raw: null }],
    [tooDeep, { _raw: tooDeep }],
  ])("has arguments that are not a JSON object under _raw: %.20s", async (args, input) => {
    const message = { ...assistant(""), tool_calls: [{ id: "c1", function: { name: "read", arguments: args } }] };
    const messages = await messagesOf(user("q"), message, result("c1"));
    expect(messages[1]?.content).toEqual([{ type: "tool_use", id: "c1", name: "read", input }]);
  });
});

test("replaces characters that OpenAI does not allow in names of speakers", async () => {
  const session = await recordedSession({ ...user("q"), name: "Ada <Lovelace>" });
  expect((await session.history())[0]?.name).toBe("Ada__Lovelace_");
});
