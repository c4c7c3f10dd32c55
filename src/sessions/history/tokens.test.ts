// History within a number of tokens.
import { expect, test } from "vitest";
import { assistant, recordedSession, result, system, user } from "../../../test/support/recorded-session.js";
import type { HistoryOptions } from "../../index.js";
import type { RecorderError } from "../../model/rejection.js";
import type { AnthropicHistory } from "./model-input.js";

const WORDS = "word ".repeat(100);
const exchanges = [user(`1 ${WORDS}`), assistant(WORDS), user(`2 ${WORDS}`), assistant(WORDS), user(`3 ${WORDS}`)];

/** The error for a budget that is too small. */
async function leastOf(session: Awaited<ReturnType<typeof recordedSession>>, options: HistoryOptions): Promise<number> {
  const refused = await session.history(options).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "budget_too_small", field: "max_tokens" });
  return (refused as RecorderError).least ?? 0;
}

test("whole turns are dropped, the oldest first", async () => {
  const session = await recordedSession(...exchanges);
  const counts: number[] = [];
  const least = await leastOf(session, { max_tokens: 0 });
  for (const max_tokens of [least, 150, 300, 450, 600, 1_000]) {
    const history = await session.history({ max_tokens });
    expect(history).toEqual((await session.history()).slice(5 - history.length));
    counts.push(history.length);
  }
  expect(counts).toEqual([1, 1, 1, 3, 5, 5]);
});

test("if the newest messages do not fit, the error names the minimum: that is accepted, one less is not", async () => {
  for (const format of ["openai", "anthropic"] as const) {
    const session = await recordedSession(system("s"), user("q"), assistant("old"), assistant(WORDS));
    const least = await leastOf(session, { max_tokens: 60, format });
    expect(await leastOf(session, { max_tokens: least - 1, format })).toBe(least);
    const history = await session.history({ max_tokens: least, format });
    const messages = Array.isArray(history) ? history : [null, ...(history as AnthropicHistory).messages];
    expect(messages).toHaveLength(3);
  }
});

test("system messages, summaries and results of tools cost tokens too", async () => {
  const withSystem = await recordedSession(system(WORDS), user("q"));
  expect(await leastOf(withSystem, { max_tokens: 100 })).toBeGreaterThan(100);
  const withSummary = await recordedSession(user("q"), { kind: "consolidation", through: 1, summary: WORDS });
  expect(await leastOf(withSummary, { max_tokens: 100 })).toBeGreaterThan(100);
  const withResult = await recordedSession(user("q"), assistant("", "c1"), result("c1", WORDS));
  expect(await leastOf(withResult, { max_tokens: 100 })).toBeGreaterThan(100);
  expect(await withResult.history({ max_tokens: 300 })).toHaveLength(3);
});

test("max_messages and max_tokens both hold", async () => {
  const session = await recordedSession(...exchanges);
  expect(await session.history({ max_messages: 1, max_tokens: 10_000 })).toHaveLength(1);
});

test("texts that contain a model's special tokens are counted as text", async () => {
  const session = await recordedSession(user("what is <|endoftext|>?"));
  expect(await session.history({ max_tokens: 100 })).toHaveLength(1);
});

test("texts without any break are counted in chunks", async () => {
  const session = await recordedSession(user("a".repeat(2_000_000)), assistant("x".repeat(20_000)));
  const least = await leastOf(session, { max_tokens: 100 });
  expect(least).toBeGreaterThan(250_000);
  expect(await session.history({ max_tokens: least })).toHaveLength(2);
});

test("invalid numbers are refused", async () => {
  const session = await recordedSession(user("q"));
  const refused = session.history({ max_tokens: "many" });
  await expect(refused).rejects.toMatchObject({ code: "limit_invalid", field: "max_tokens" });
});
