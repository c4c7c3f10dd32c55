// Sessions that have only recorded requests, and what Anthropic's form keeps of its own blocks.
import { expect, test } from "vitest";
import { memoryRecorder } from "../../../test/support/memory-recorder.js";

type Fields = Parameters<ReturnType<typeof memoryRecorder>["recorder"]["recordInteraction"]>[0];

function recordedWith(...interactions: readonly Fields[]) {
  const { recorder } = memoryRecorder();
  const session = recorder.session("s");
  return Promise.all([]).then(async () => {
    for (const one of interactions) await session.interaction(one);
    return session;
  });
}

test("the newest request's messages are the history, and its answer; earlier ones are in it already", async () => {
  const calls = [{ id: "c1", type: "function", function: { name: "look", arguments: '{"at":"sea"}' } }];
  const session = await recordedWith(
    { prompt: "hello", response: "hi", context_pack: { messages: [{ role: "user", content: "hello" }] } },
    {
      prompt: "look",
      response: "",
      context_pack: {
        messages: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "hello" },
          { role: "assistant", content: "hi" },
          { role: "user", content: "look" },
          { role: "assistant", content: null, tool_calls: calls },
          { role: "tool", tool_call_id: "c1", content: "waves" },
        ],
      },
      extra: { tool_calls: [{ ...calls[0], id: "c2" }] },
    },
  );
  expect(await session.history({ include_pending: true })).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "hello" },
    { role: "assistant", content: "hi" },
    { role: "user", content: "look" },
    { role: "assistant", content: "", tool_calls: calls },
    { role: "tool", content: "waves", tool_call_id: "c1" },
    { role: "assistant", content: "", tool_calls: [{ ...calls[0], id: "c2" }] },
  ]);
  expect((await session.history({ max_messages: 3 })).map(({ role }) => role)).toEqual([
    ...["system", "user", "assistant", "tool"],
  ]);
});

test.each([
  [
    "Anthropic's",
    {
      system: [{ type: "text", text: "Be brief." }],
      messages: [
        { role: "user", content: "look" },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: { at: "sea" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "waves" }] },
      ],
    },
  ],
  [
    "Gemini's, whose calls have no ids",
    {
      system: "Be brief.",
      messages: [
        { role: "user", content: [{ text: "look" }] },
        { role: "model", content: [{ functionCall: { name: "look", args: { at: "sea" } } }] },
        { role: "user", content: [{ functionResponse: { name: "look", response: "waves" } }] },
      ],
    },
  ],
  [
    "the AI SDK's",
    {
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "look" }] },
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: "sea" } }],
        },
        {
          role: "tool",
          content: [
            { type: "tool-result", toolCallId: "c1", toolName: "look", output: { type: "text", value: "waves" } },
          ],
        },
      ],
    },
  ],
])("a request in %s form", async (_, context_pack) => {
  const session = await recordedWith({ prompt: "look", response: "It is calm.", context_pack });
  const { system, messages } = await session.history({ format: "anthropic" });
  expect(system).toBe("Be brief.");
  const id = expect.any(String);
  expect(messages).toEqual([
    { role: "user", content: "look" },
    { role: "assistant", content: [{ type: "tool_use", id, name: "look", input: { at: "sea" } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "waves" }] },
    { role: "assistant", content: "It is calm." },
  ]);
});

test("nothing that is no message makes one", async () => {
  const messages = [
    null,
    7,
    "text",
    [],
    { role: 7, content: { a: 1 } },
    { role: "tool", content: [{ type: "tool-result" }] },
  ];
  const session = await recordedWith({ prompt: "p", context_pack: { messages } });
  expect(await session.history()).toEqual([{ role: "user", content: "" }]);
});

test("a clear leaves out the requests before it", async () => {
  const session = await recordedWith({
    prompt: "p",
    response: "r",
    context_pack: { messages: [{ role: "user", content: "p" }] },
  });
  await session.clear();
  expect(await session.history()).toEqual([]);
});

const used = { type: "server_tool_use", id: "srv1", name: "web_search", input: { query: "tide" } };
const found = { type: "web_search_tool_result", tool_use_id: "srv1", content: [] };

test("blocks of the provider's own tools keep their place in Anthropic's form, in pairs", async () => {
  const { recorder } = memoryRecorder();
  const session = recorder.session("s");
  await session.message({ role: "user", content: "When is the tide?" });
  const orphan = { ...used, id: "srv2" };
  const content = [{ type: "text", text: "I look." }, used, found, orphan, { type: "text", text: "At noon." }];
  await session.message({ role: "assistant", content });
  const { messages } = await session.history({ format: "anthropic" });
  expect(messages[1]?.content).toEqual(content.filter((block) => block !== orphan));
  expect((await session.history())[1]?.content).toEqual([
    { type: "text", text: "I look." },
    { type: "text", text: "At noon." },
  ]);
});

test("breakpoints of the prompt cache stay in Anthropic's form, the newest four of them", async () => {
  const { recorder } = memoryRecorder();
  const session = recorder.session("s");
  const cache_control = { type: "ephemeral", ttl: "1h" };
  for (const text of ["1", "2", "3", "4"]) {
    await session.message({ role: "user", content: [{ type: "text", text, cache_control }] });
    const call = {
      type: "tool_use",
      id: `c${text}`,
      name: "look",
      input: {},
      cache_control: { type: "ephemeral", other: 1 },
    };
    await session.message({ role: "assistant", content: text === "4" ? [call] : "ok" });
  }
  const result = { type: "tool_result", tool_use_id: "c4", content: "waves", cache_control };
  const picture = { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" }, cache_control };
  await session.message({ role: "user", content: [result, picture] });
  const { messages } = await session.history({ format: "anthropic" });
  expect(messages.slice(0, 6).map(({ content }) => content)).toEqual(["1", "ok", "2", "ok", "3", "ok"]);
  expect(messages.slice(6)).toEqual([
    { role: "user", content: [{ type: "text", text: "4", cache_control }] },
    {
      role: "assistant",
      content: [{ type: "tool_use", id: "c4", name: "look", input: {}, cache_control: { type: "ephemeral" } }],
    },
    { role: "user", content: [result, picture] },
  ]);
  expect(JSON.stringify(await session.history())).not.toContain("cache_control");
});
