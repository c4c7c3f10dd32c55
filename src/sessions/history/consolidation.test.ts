// Where consolidations end, and which are refused.
import { describe, expect, test } from "vitest";
import { memoryRecorder } from "../../../test/support/memory-recorder.js";
import { assistant, recordedSession, result, user } from "../../../test/support/recorded-session.js";

const twoTurns = [user("1"), assistant("2"), user("3"), assistant("4")];

describe("a consolidation", () => {
  test("ends at the last complete turn, and says so", async () => {
    const session = await recordedSession(...twoTurns);
    expect(await session.consolidate(3)).toEqual({ through: 2 });
    expect(await session.history()).toMatchObject([{ content: "3" }, { content: "4" }]);
    expect(await session.summary()).toMatchObject({ consolidated_through: 2, entries: 5, messages: 4 });
  });

  test("through the last answer leaves an empty history until the next message", async () => {
    const session = await recordedSession(...twoTurns);
    expect(await session.consolidate(4)).toEqual({ through: 4 });
    expect(await session.history()).toEqual([]);
    await session.message({ role: "user", content: "5" });
    expect(await session.history()).toMatchObject([{ content: "5" }]);
  });

  test("keeps its summary, and everything before it stays in the log", async () => {
    const session = await recordedSession(...twoTurns);
    await session.consolidate(2, { summary: "1 and 2", trigger: "manual", tokens_before: 120 });
    const { entries } = await session.entries();
    expect(entries.map((entry) => entry.kind)).toEqual([...Array(4).fill("message"), "consolidation"]);
    expect(entries[4]).toMatchObject({
      kind: "consolidation",
      through: 2,
      summary: "1 and 2",
      kept: [],
      trigger: "manual",
      tokens_before: 120,
      extra: {},
    });
  });

  test("never ends between a call and its result, however late that comes", async () => {
    const session = await recordedSession(
      ...[user("1"), assistant("2", "c1"), user("3"), assistant("4"), result("c1"), user("6"), assistant("7")],
    );
    expect(await session.consolidate(4)).toEqual({ through: 0 });
    expect(await session.consolidate(6)).toEqual({ through: 5 });
  });

  test("does not end with an unanswered question, or with a tool call without a result", async () => {
    const waiting = await recordedSession(...twoTurns, user("5"));
    expect(await waiting.consolidate(5)).toEqual({ through: 4 });
    const calling = await recordedSession(...twoTurns, user("5"), assistant("6", "c1"), result("c1"));
    expect(await calling.consolidate(7)).toEqual({ through: 4 });
  });

  test("in a session of interactions ends with one that has its response", async () => {
    const { recorder } = memoryRecorder();
    const session = recorder.session("s");
    await recorder.recordInteraction({ session_id: "s", prompt: "p", response: "r" });
    await recorder.recordInteraction({ id: "open", session_id: "s", prompt: "q" });
    expect(await session.consolidate(2)).toEqual({ through: 1 });
    await recorder.completeInteraction("open", { response: "a" });
    expect(await session.history()).toMatchObject([{ content: "q" }, { content: "a" }]);
    expect(await session.consolidate(2)).toEqual({ through: 2 });
  });

  test("that would move nothing is answered without an entry", async () => {
    const session = await recordedSession(...twoTurns);
    expect(await session.consolidate(1)).toEqual({ through: 0 });
    await session.consolidate(2);
    expect(await session.consolidate(2)).toEqual({ through: 2 });
    expect(await session.consolidate(3)).toEqual({ through: 2 });
    expect(await session.summary()).toMatchObject({ entries: 5 });
  });

  test("does not reach back past a clear", async () => {
    const session = await recordedSession(...twoTurns, { kind: "clear" }, user("6"));
    expect(await session.consolidate(4)).toEqual({ through: 0 });
    expect(await session.history()).toMatchObject([{ content: "6" }]);
  });
});

describe("refused is", () => {
  test("going back", async () => {
    const session = await recordedSession(...twoTurns);
    await session.consolidate(4);
    await expect(session.consolidate(2)).rejects.toMatchObject({ code: "consolidation_backwards", field: "through" });
  });

  test.each([0, -1, 1.5, Number.NaN, 99])("%s, which is not a position of the session", async (through) => {
    const session = await recordedSession(...twoTurns);
    await expect(session.consolidate(through)).rejects.toMatchObject({ code: "field_invalid", field: "through" });
  });

  test.each([{ summary: 7 }, { trigger: [] }, { tokens_before: -1 }, { tokens_before: "many" }])(
    "%j, also where nothing would move",
    async (options) => {
      const session = await recordedSession(...twoTurns);
      const [field] = Object.keys(options);
      await expect(session.consolidate(1, options as never)).rejects.toMatchObject({ code: "field_invalid", field });
    },
  );

  test("a position of another session", async () => {
    const session = await recordedSession(...twoTurns, { ...user("elsewhere"), session_id: "other" });
    await expect(session.consolidate(5)).rejects.toMatchObject({ code: "field_invalid", field: "through" });
  });
});
