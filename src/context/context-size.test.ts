// How large a context may be, and how much is read for it.
import { expect, test } from "vitest";
import { LARGE_MARK, recordLarge } from "../../test/support/large-session.js";
import { assistant, type SessionEntry, system, user } from "../../test/support/recorded-session.js";

const MIB = 1024 * 1024;
const refused = { code: "context_too_large", hint: expect.stringContaining("/entries") };
const last = (entries: readonly SessionEntry[]): readonly SessionEntry[] => [
  ...entries,
  { ...assistant("Yes."), id: "answer" },
];

test("a context over 32 MiB is refused before more than a few of its entries were read", async () => {
  const sessions = [
    Array.from({ length: 41 }, () => user(LARGE_MARK)),
    [...Array.from({ length: 41 }, () => system(LARGE_MARK)), user("Hello")],
  ];
  for (const session of sessions) {
    const { log, recorder } = await recordLarge(last(session));
    await expect(recorder.context("answer")).rejects.toMatchObject(refused);
    await expect(recorder.told("answer", "hello")).rejects.toMatchObject(refused);
    expect(log.chars).toBeLessThan(150 * MIB);
  }
});

test("what was removed since the answer before counts, too", async () => {
  const { recorder } = await recordLarge(
    last([user(LARGE_MARK), user(LARGE_MARK), assistant("No."), { kind: "clear" }, user(`${LARGE_MARK}!`)]),
  );
  await expect(recorder.context("answer")).rejects.toMatchObject(refused);
});

test("two entries as large as they may be are a context", async () => {
  const { recorder } = await recordLarge(last([user(LARGE_MARK), user(LARGE_MARK)]));
  expect((await recorder.context("answer"))?.messages).toHaveLength(2);
});
