// Thoughts in history: signed blocks in Anthropic's form, fields of reasoning in OpenAI's if requested.
import { expect, test } from "vitest";
import { assistant, recordedSession, result, user } from "../../../test/support/recorded-session.js";

const signed = { type: "thinking", thinking: "hm", signature: "s1" };
const redacted = { type: "redacted_thinking", data: "AAAA" };
const text = { type: "text", text: "let me see" };
const toolUse = (id: string): object => ({ type: "tool_use", id, name: "read", input: {} });

test("signed thinking keeps its place between texts and calls", async () => {
  const blocks = [signed, text, redacted, toolUse("c1"), { ...signed, signature: "s2" }, toolUse("c2")];
  const session = await recordedSession(user("q"), assistant(blocks), result("c1"), result("c2"), assistant("done"));
  const { messages } = await session.history({ format: "anthropic" });
  expect(messages[1]).toStrictEqual({ role: "assistant", content: blocks });
});

test("thinking without a signature is left out, and a signed block has only its own fields", async () => {
  const blocks = [
    { type: "thinking", thinking: "unsigned" },
    { type: "thinking", thinking: "blank", signature: "" },
    { type: "redacted_thinking" },
    { type: "reasoning", summary: [] },
    { ...signed, cache_control: { type: "ephemeral" } },
    text,
  ];
  const session = await recordedSession(user("q"), assistant(blocks));
  const { messages } = await session.history({ format: "anthropic" });
  expect(messages[1]).toStrictEqual({ role: "assistant", content: [signed, text] });
  expect((await session.history())[1]).toStrictEqual({ role: "assistant", content: [text] });
});

test("a message with only thoughts is left out, and none ends with one", async () => {
  const session = await recordedSession(
    user("q"),
    assistant([signed]),
    assistant([signed, text, redacted]),
    // The call has no result, so only the thought before it would remain at the end.
    assistant([text, signed, toolUse("c9")]),
  );
  const { messages } = await session.history({ format: "anthropic" });
  expect(messages).toStrictEqual([
    { role: "user", content: "q" },
    { role: "assistant", content: [signed, text, redacted, text] },
  ]);
});

test("calls in tool_calls come after the blocks, and one that is in both is used once", async () => {
  const session = await recordedSession(
    user("q"),
    assistant([signed, toolUse("c2"), text], "c1", "c2"),
    result("c1"),
    result("c2"),
  );
  const { messages } = await session.history({ format: "anthropic" });
  const content = [signed, { id: "c2" }, text, { id: "c1" }];
  expect(messages[1]).toMatchObject({ content });
});

const reasoning = {
  reasoning_content: "first this",
  reasoning: "then that",
  reasoning_details: [{ type: "reasoning.text", text: "x" }],
  thinking_blocks: [signed],
};

test("with include=reasoning OpenAI's form keeps the four fields as recorded, and without it none", async () => {
  const session = await recordedSession(
    { ...user("q"), reasoning: "not an assistant's" },
    { ...assistant("a"), ...reasoning, effort: "high" },
    { ...assistant("b"), reasoning: null },
  );
  const plain = [
    { role: "user", content: "q" },
    { role: "assistant", content: "a" },
    { role: "assistant", content: "b" },
  ];
  expect(await session.history()).toStrictEqual(plain);
  expect(await session.history({ include: "" })).toStrictEqual(plain);
  expect(await session.history({ include: "reasoning" })).toStrictEqual([
    plain[0],
    { ...plain[1], ...reasoning },
    plain[2],
  ]);
  await expect(session.history({ include: "everything" })).rejects.toMatchObject({
    code: "field_invalid",
    field: "include",
  });
});

test("thoughts cost tokens if they are sent", async () => {
  const long = "word ".repeat(200);
  const session = await recordedSession(user("q"), {
    ...assistant([{ ...signed, thinking: long }, text]),
    reasoning_content: long,
  });
  expect(await session.history({ max_tokens: 100 })).toHaveLength(2);
  const refused = { code: "budget_too_small", field: "max_tokens" };
  await expect(session.history({ max_tokens: 100, include: "reasoning" })).rejects.toMatchObject(refused);
  await expect(session.history({ max_tokens: 100, format: "anthropic" })).rejects.toMatchObject(refused);
});

test("roles of other providers are read as views read them, and stored unchanged", async () => {
  const session = await recordedSession(
    { kind: "message", role: "developer", content: "be brief" },
    user("q"),
    { ...assistant("", "c1"), role: "model" },
    { ...result("c1"), role: "function" },
    { kind: "message", role: "model", content: "done" },
  );
  expect((await session.history()).map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
  const { entries } = await session.entries();
  expect(entries.map((entry) => ("role" in entry ? entry.role : ""))).toEqual([
    ...["developer", "user", "model", "function", "model"],
  ]);
});

test("null content with calls reads as an empty text", async () => {
  const session = await recordedSession(user("q"), assistant(null, "c1"), result("c1"));
  expect((await session.history())[1]).toMatchObject({ role: "assistant", content: "" });
  expect((await session.entries()).entries[1]).toMatchObject({ content: "" });
});
