// The defects of the programs Hansard descends from, each by its name: what they did, and what happens here instead.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type EntryInput, openRecorder, type Recorder, RecorderError } from "../../src/index.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { folderOfTest } from "../support/temporary-folder.js";

const messageOf = (fields: object): EntryInput => ({ kind: "message", session_id: "s", ...fields }) as EntryInput;
const said = (role: string, content: string): EntryInput => messageOf({ role, content });

async function withStore(act: (recorder: Recorder, data: string) => Promise<void>): Promise<void> {
  const data = folderOfTest();
  const recorder = await openRecorder({ data });
  try {
    await act(recorder, data);
  } finally {
    await recorder.close();
  }
}

describe("faults of the interaction trail", () => {
  test("rows beyond 500 can be reached, each exactly once", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(Array.from({ length: 1_203 }, (_, n) => ({ kind: "interaction", prompt: `${n}` }) as const));
    const prompts: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await recorder.listInteractions({ limit: 10_000, ...(cursor ? { cursor } : {}) });
      expect(page.interactions.length).toBeLessThanOrEqual(500);
      prompts.push(...page.interactions.map(({ prompt = "" }) => prompt));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(prompts).toEqual(Array.from({ length: 1_203 }, (_, n) => `${1_202 - n}`));
  });

  test("times have milliseconds, and entries of one instant keep the order they were recorded in", async () => {
    const { recorder } = memoryRecorder();
    const created_at = "2026-11-15T06:39:37.123456Z";
    await recorder.append(["a", "b", "c"].map((prompt) => ({ kind: "interaction", prompt, created_at }) as const));
    const { interactions } = await recorder.listInteractions();
    expect(interactions.map(({ prompt }) => prompt)).toEqual(["c", "b", "a"]);
    expect(interactions[0]?.created_at).toBe("2026-11-15T06:39:37.123Z");
  });

  test.each([
    "2026-11-15 06:39:37",
    "2026-11-15T06:39:37Z",
    "2026-11-15T06:39:37.000",
    "2026-11-15T08:39:37+02:00",
    "2026-11-14T22:39:37-08:00",
  ])("since compares times, not strings of two shapes: %s", async (since) => {
    const { recorder } = memoryRecorder();
    await recorder.append([
      { kind: "interaction", prompt: "before", created_at: "2026-11-15 06:39:36.999" },
      { kind: "interaction", prompt: "at", created_at: "2026-11-15T06:39:37Z" },
      { kind: "interaction", prompt: "after", created_at: "2026-11-15T07:39:38+01:00" },
    ]);
    const { interactions } = await recorder.listInteractions({ since });
    expect(interactions.map(({ prompt }) => prompt)).toEqual(["after", "at"]);
  });

  test("a prompt-only turn can be completed", async () => {
    const { recorder } = memoryRecorder();
    const { id } = await recorder.recordInteraction({ prompt: "p", session_id: "s" });
    await recorder.completeInteraction(id, { response: "r" });
    expect(await recorder.getInteraction(id)).toMatchObject({ prompt: "p", response: "r" });
    expect(await recorder.session("s").history()).toMatchObject([{ content: "p" }, { content: "r" }]);
  });

  test("raw values read back as they were written, from the answer, from get and from the list", () =>
    withStore(async (recorder) => {
      const given = { context_pack: { depth: [1, { two: null }] }, usage: { n: 1.5 }, chunks_used: ["c"] };
      const answered = await recorder.recordInteraction({ prompt: " p\u0000 ", latency_ms: 12.5, ...given });
      expect(answered).toMatchObject({ prompt: " p\u0000 ", latency_ms: 12.5, ...given });
      expect(await recorder.getInteraction(answered.id)).toEqual(answered);
      const { context_pack, response, ...row } = answered;
      expect((await recorder.listInteractions()).interactions).toEqual([{ ...row, response_chars: 0 }]);
    }));
});

describe("faults of the session logger", () => {
  test("an acknowledged entry is in the summary at once, without a flush", () =>
    withStore(async (recorder) => {
      const session = recorder.session("s");
      for (let messages = 1; messages <= 3; messages += 1) {
        await session.message({ role: "user", content: "m" });
        expect(await session.summary()).toMatchObject({ messages });
      }
    }));

  test("no buffer is lost: another reader sees acknowledged entries while the writer is still open", () =>
    withStore(async (recorder, data) => {
      await recorder.session("s").error({ error: "e" });
      const other = await openRecorder({ data });
      expect(await other.session("s").summary()).toMatchObject({ errors: 1 });
      await other.close();
    }));

  test("a session goes on past midnight", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append({ ...said("user", "late"), created_at: "2026-11-14T23:59:59.999Z" });
    await recorder.append({ ...said("assistant", "early"), created_at: "2026-11-15T00:00:00.000Z" });
    expect(await recorder.session("s").history()).toHaveLength(2);
    const [summary] = (await recorder.listSessions()).sessions;
    expect(summary).toMatchObject({ first_at: "2026-11-14T23:59:59.999Z", last_at: "2026-11-15T00:00:00.000Z" });
  });

  test("one unserialisable argument affects only itself, and a retry is stored once", () =>
    withStore(async (recorder) => {
      const session = recorder.session("s");
      const circle: { self?: unknown } = {};
      circle.self = circle;
      const outcomes = await Promise.allSettled([
        session.message({ id: "before", role: "user", content: "before" }),
        session.toolCall({ tool: "t", args: circle }),
        session.toolCall({ tool: "t", args: { big: 10n } }),
        session.toolCall({ id: "after", tool: "t", args: { n: 1 } }),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(RecorderError);
      }
      await session.message({ id: "before", role: "user", content: "before" });
      expect(await session.summary()).toMatchObject({ entries: 2, messages: 1, tool_calls: 1 });
    }));

  test("null content does not crash anything that shows it", async () => {
    const { recorder } = memoryRecorder();
    const calls = [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }];
    await recorder.append([said("user", "q"), messageOf({ role: "assistant", content: null, tool_calls: calls })]);
    const session = recorder.session("s");
    expect(await session.history({ include_pending: true })).toMatchObject([{ content: "q" }, { content: "" }]);
    expect((await session.entries()).entries).toMatchObject([{ content: "q" }, { content: "" }]);
    expect((await recorder.listEntries()).entries).toHaveLength(2);
  });

  test("times are UTC, and one without a zone means UTC, wherever the machine stands", async () => {
    vi.stubEnv("TZ", "Pacific/Auckland");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(new Date(2026, 10, 15).getTimezoneOffset()).not.toBe(0);
    const { recorder } = memoryRecorder();
    await recorder.append({ ...said("user", "q"), created_at: "2026-11-15 06:39:37" });
    expect(await recorder.session("s").summary()).toMatchObject({ first_at: "2026-11-15T06:39:37.000Z" });
  });

  test("tool results are kept whole, not cut at 500 characters", () =>
    withStore(async (recorder) => {
      const result = "0123456789".repeat(100_000);
      const { id } = await recorder.session("s").toolCall({ tool: "read", result });
      expect(await recorder.getEntry(id)).toMatchObject({ result });
    }));
});

describe("faults of the session manager", () => {
  test("a:b, a/b, a_b and A:B are apart", () =>
    withStore(async (recorder) => {
      const ids = ["a:b", "a/b", "a_b", "A:B"];
      for (const id of ids) await recorder.session(id).message({ role: "user", content: id });
      for (const id of ids) expect(await recorder.session(id).history()).toEqual([{ role: "user", content: id }]);
      expect((await recorder.listSessions()).sessions.map(({ session_id }) => session_id)).toEqual(ids.reverse());
    }));

  test("last_at is not reset by opening the store and reading the session", async () => {
    const data = folderOfTest();
    const writer = await openRecorder({ data });
    await writer.append(said("user", "q"));
    const before = await writer.session("s").summary();
    await writer.close();
    await new Promise((resolve) => setTimeout(resolve, 5));
    const reader = await openRecorder({ data });
    await reader.session("s").history();
    expect(await reader.session("s").summary()).toEqual(before);
    await reader.close();
  });

  test("a message that calls itself metadata is not swallowed", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(messageOf({ role: "user", content: "metadata", _type: "metadata", metadata: {} }));
    const session = recorder.session("s");
    expect(await session.history()).toEqual([{ role: "user", content: "metadata" }]);
    expect((await session.entries()).entries).toMatchObject([{ extra: { _type: "metadata", metadata: {} } }]);
  });

  test("extra keys do not overwrite role and content", async () => {
    const { recorder } = memoryRecorder();
    const extra = { role: "system", content: "obey", kind: "clear", position: 7 };
    await recorder.append(messageOf({ role: "user", content: "q", extra }));
    expect(await recorder.session("s").history()).toEqual([{ role: "user", content: "q" }]);
    expect(await recorder.getEntry(1)).toMatchObject({
      kind: "message",
      role: "user",
      content: "q",
      position: 1,
      extra,
    });
  });

  test("nulls do not kill the list of sessions", async () => {
    const { recorder } = memoryRecorder();
    const nothing = { created_at: null, project: null, client: null, extra: null };
    await recorder.append([
      said("user", "q"),
      { kind: "session_info", session_id: "n", title: null, metadata: { key: null }, parent: null, ...nothing },
    ]);
    const { sessions } = await recorder.listSessions();
    expect(sessions).toMatchObject([{ session_id: "n", title: "", metadata: { key: null } }, { session_id: "s" }]);
  });

  test("max_messages=0 returns nothing, instead of everything", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append([said("user", "q"), said("assistant", "a")]);
    expect(await recorder.session("s").history({ max_messages: 0 })).toEqual([]);
  });

  test("a window without a user turn does not start with an orphan", async () => {
    const { recorder } = memoryRecorder();
    const calls = [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }];
    await recorder.append([
      said("user", "q"),
      messageOf({ role: "assistant", content: null, tool_calls: calls }),
      messageOf({ role: "tool", content: "r", tool_call_id: "c1" }),
    ]);
    const session = recorder.session("s");
    await expect(session.history({ max_messages: 1 })).rejects.toMatchObject({ code: "budget_too_small", least: 3 });
    const history = await session.history({ max_messages: 3 });
    expect(history.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });

  test("one entry that is refused loses neither the session nor what comes after it", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(said("user", "kept"));
    await expect(recorder.append(messageOf({ role: "nobody", content: "x" }))).rejects.toBeInstanceOf(RecorderError);
    await recorder.append(said("assistant", "kept too"));
    expect(await recorder.session("s").history()).toMatchObject([{ content: "kept" }, { content: "kept too" }]);
  });

  test("clearing a session leaves everything in the log", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append([said("user", "q"), said("assistant", "a")]);
    await recorder.session("s").clear();
    expect(await recorder.session("s").history()).toEqual([]);
    expect(await recorder.session("s").summary()).toMatchObject({ messages: 2, entries: 3 });
    expect(await recorder.getEntry(1)).toMatchObject({ content: "q" });
  });
});

describe("faults of self-reflection", () => {
  test("topics are not made of stop words", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(
      Array.from({ length: 4 }, () => said("user", "what about this and that deployment, with what?")),
    );
    expect((await recorder.reflect()).topics.map(({ word }) => word)).toEqual(["deployment"]);
  });

  test("there are topics in Chinese", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(
      ["服务器为什么停止了？", "请检查服务器。", "这个服务器可以重启吗？"].map((text) => said("user", text)),
    );
    expect((await recorder.reflect()).topics.map(({ word }) => word)).toContain("服务");
  });
});

describe("what they did, and Hansard does too", () => {
  test("an empty id names no interaction, and a session without entries has no summary", async () => {
    const { recorder } = memoryRecorder();
    await recorder.recordInteraction({ prompt: "p" });
    expect(await recorder.getInteraction("")).toBeUndefined();
    expect(await recorder.session("s").summary()).toBeUndefined();
  });

  test("recording an interaction changes none of the memories that it names", () =>
    withStore(async (recorder) => {
      const content = "The port of atlas is 4747";
      const { id, confidence } = await recorder.memories.add({ type: "project", project: "atlas", content });
      const context_pack = { memories: [{ id, type: "project", content: "The port of atlas is 80" }] };
      await recorder.recordInteraction({
        prompt: "Which port?",
        response: "80.",
        project: "atlas",
        memories_used: [id],
        context_pack,
      });
      // Its uses are counted from the log; its statement, its status and its confidence are a person's.
      expect(await recorder.memories.get(id)).toMatchObject({ content, confidence, status: "active", evidence: [] });
    }));

  test("clearing a session leaves its title and metadata", async () => {
    const { recorder } = memoryRecorder();
    const session = recorder.session("s");
    await session.info({ title: "Upgrade", metadata: { channel: "telegram" } });
    await session.message({ role: "user", content: "q" });
    await session.clear();
    expect(await session.summary()).toMatchObject({ title: "Upgrade", metadata: { channel: "telegram" } });
  });

  test("a message is appended to a session of 10,000 as quickly as to a session of none", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(Array.from({ length: 10_000 }, (_, n) => ({ ...said("user", `${n}`), session_id: "long" })));
    const times: { [session_id: string]: number[] } = { long: [], short: [] };
    // In turns, because whatever else the machine does must slow down both alike.
    for (let n = 0; n < 100; n += 1) {
      for (const [session_id, taken] of Object.entries(times)) {
        const start = performance.now();
        await recorder.session(session_id).message({ role: "user", content: `${n}` });
        taken.push(performance.now() - start);
      }
    }
    const [long = 0, short = 0] = Object.values(times).map((taken) => taken.toSorted((a, b) => a - b)[50]);
    expect(long).toBeLessThan(short * 5);
  });
});
