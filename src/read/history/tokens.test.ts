// History within a number of tokens.
import { expect, test } from "vitest";
import { assistant, recordedSession, result, system, user } from "../../../test/support/recorded-session.js";

const WORDS = "word ".repeat(100);
const exchanges = [user(`1 ${WORDS}`), assistant(WORDS), user(`2 ${WORDS}`), assistant(WORDS), user(`3 ${WORDS}`)];

test("whole turns are dropped, the oldest first", async () => {
  const session = await recordedSession(...exchanges);
  const counts: number[] = [];
  for (const max_tokens of [0, 50, 150, 300, 450, 600, 1_000]) {
    const history = await session.history({ max_tokens });
    expect(history).toEqual((await session.history()).slice(5 - history.length));
    counts.push(history.length);
  }
  expect(counts).toEqual([0, 0, 1, 1, 3, 5, 5]);
});

test("nothing is shown, and no system message either, where the last exchange does not fit", async () => {
  const session = await recordedSession(system("s"), user("q"), assistant(WORDS));
  expect(await session.history({ max_tokens: 60 })).toEqual([]);
  expect(await session.history({ max_tokens: 60, format: "anthropic" })).toEqual({ system: "", messages: [] });
});

test("system messages and results of tools cost tokens too", async () => {
  const withSystem = await recordedSession(system(WORDS), user("q"));
  expect(await withSystem.history({ max_tokens: 100 })).toEqual([]);
  const withResult = await recordedSession(user("q"), assistant("", "c1"), result("c1", WORDS));
  expect(await withResult.history({ max_tokens: 100 })).toEqual([]);
  expect(await withResult.history({ max_tokens: 300 })).toHaveLength(3);
});

test("max_messages and max_tokens both hold", async () => {
  const session = await recordedSession(...exchanges);
  expect(await session.history({ max_messages: 1, max_tokens: 10_000 })).toHaveLength(1);
});

test("texts that name a model's special tokens are counted as text", async () => {
  const session = await recordedSession(user("what is <|endoftext|>?"));
  expect(await session.history({ max_tokens: 100 })).toHaveLength(1);
});

test("texts without any break are counted piece by piece, and no further than they fit", async () => {
  const session = await recordedSession(user("a".repeat(2_000_000)), assistant("x".repeat(20_000)));
  expect(await session.history({ max_tokens: 100 })).toEqual([]);
  expect(await session.history({ max_tokens: 20_000 })).toEqual([]);
});

test("what is no number is refused", async () => {
  const session = await recordedSession(user("q"));
  const refused = session.history({ max_tokens: "many" });
  await expect(refused).rejects.toMatchObject({ code: "limit_invalid", field: "max_tokens" });
});
