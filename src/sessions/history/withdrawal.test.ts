// Withdrawn messages: history leaves them out and stays valid, and the log keeps them.
import { expect, test } from "vitest";
import { assistant, recordedSession, result, system, user } from "../../../test/support/recorded-session.js";

test("a withdrawn message is not in history, and stays in the session", async () => {
  const session = await recordedSession(user("q"), assistant("wrong"), user("again"), assistant("right"));
  expect(await session.withdraw(2)).toMatchObject({ status: "recorded", position: 5 });
  expect((await session.history()).map(({ content }) => content)).toEqual(["q", "again", "right"]);
  const { messages } = await session.history({ format: "anthropic" });
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect((await session.entries()).entries).toHaveLength(5);
  expect(await session.summary()).toMatchObject({ entries: 5, messages: 4 });
});

test("a withdrawn call takes its results with it, and a withdrawn result its call", async () => {
  const call = await recordedSession(user("q"), assistant("", "c1"), result("c1"), assistant("done"));
  await call.withdraw(2);
  expect((await call.history()).map(({ role }) => role)).toEqual(["user", "assistant"]);
  const answer = await recordedSession(user("q"), assistant("", "c1"), result("c1"), assistant("done"));
  await answer.withdraw(3);
  expect((await answer.history()).map(({ content }) => content)).toEqual(["q", "done"]);
});

test("system messages can be withdrawn, and a window skips withdrawn messages", async () => {
  const session = await recordedSession(system("be rude"), system("be kind"), user("1"), user("2"), user("3"));
  await session.withdraw(1);
  await session.withdraw(4);
  expect((await session.history({ max_messages: 2 })).map(({ content }) => content)).toEqual(["be kind", "1", "3"]);
});

test("a session whose messages are all withdrawn has no history, but for interactions that are nobody's message", async () => {
  const session = await recordedSession(user("q"), assistant("a"), { kind: "interaction", prompt: "q", response: "a" });
  await session.withdraw(1);
  await session.withdraw(2);
  expect(await session.history()).toEqual([]);
  await session.interaction({ prompt: "p", response: "r" });
  expect((await session.history()).map(({ content }) => content)).toEqual(["p", "r"]);
});

test("a consolidation ends with a turn of the remaining messages", async () => {
  const session = await recordedSession(user("1"), assistant("a"), user("2"), assistant("b", "c1"));
  await session.withdraw(4);
  expect(await session.consolidate(4)).toEqual({ through: 2 });
});

test("withdrawing twice, or after a clear, changes nothing more", async () => {
  const session = await recordedSession(user("1"), assistant("a"), user("2"));
  await session.withdraw(1);
  await session.withdraw(1);
  expect((await session.history()).map(({ content }) => content)).toEqual(["2"]);
  await session.clear();
  await session.withdraw(3);
  await session.message({ role: "user", content: "3" });
  expect((await session.history()).map(({ content }) => content)).toEqual(["3"]);
});
