// What summaries, lists and outlines of sessions say: titles, failures, turns, files, costs with subagents, outcomes, order.
import { describe, expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { memoryRecorder } from "../support/memory-recorder.js";

const MINUTE = 60_000;
const START = Date.parse("2026-03-02T09:00:00Z");

function at(minutes: number): string {
  return new Date(START + minutes * MINUTE).toISOString();
}

function user(session_id: string, minutes: number, content: string, more: object = {}): EntryInput {
  return { kind: "message", session_id, created_at: at(minutes), role: "user", content, ...more };
}

function answer(session_id: string, minutes: number, content: string, output_tokens: number): EntryInput {
  const usage = { input_tokens: 100, output_tokens };
  const extra = { model: "claude-sonnet-4-20250514", message_id: `${session_id}:${minutes}`, usage };
  return { kind: "message", session_id, created_at: at(minutes), role: "assistant", content, extra };
}

function call(session_id: string, minutes: number, tool: string, args: object, more: object = {}): EntryInput {
  const fields = { tool, args: args as EntryInput & object, result: "ok", ...more };
  return { kind: "tool_call", session_id, created_at: at(minutes), project: "atlas", ...fields } as EntryInput;
}

const work: readonly EntryInput[] = [
  {
    kind: "session_info",
    session_id: "main",
    created_at: at(0),
    project: "atlas",
    metadata: { cwd: "/work-of-anna/atlas" },
  },
  user("main", 0, "<reminder>", { injected: "reminder" }),
  user("main", 0, "/clear"),
  user("main", 1, "Fix the  login\nplease", { project: "atlas", client: "cli" }),
  call("main", 2, "Read", { file_path: "/work-of-anna/atlas/src/login.ts" }),
  call("main", 3, "Edit", { file_path: "src/login.ts", old_string: "a", new_string: "b" }),
  call("main", 4, "Bash", { command: "npm test" }, { is_error: true, result: "2 failed" }),
  answer("main", 5, "Fixed.", 1_000),
  // Half a day later.
  user("main", 700, "Again", { project: "elsewhere" }),
  { kind: "error", session_id: "main", created_at: at(701), error: "rate limited" },
  { kind: "session_info", session_id: "main/agent-1", created_at: at(2), parent: "main", title: "Look around" },
  answer("main/agent-1", 3, "Looked.", 2_000),
  user("other", 900, "Short question"),
  answer("other", 901, "Short answer", 10),
];

describe("a summary", () => {
  test("has a title, failures, turns, files, active time, cost with subagents and the first project", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(work);
    const main = await recorder.session("main").summary();
    expect(main).toMatchObject({
      title: "Fix the login please",
      title_source: "first_prompt",
      project: "atlas",
      projects: ["atlas", "elsewhere"],
      children: 1,
      messages: 4,
      tool_calls: 3,
      errors: 1,
      failures: 2,
      turns: 3,
      // Named once absolutely and once below the working directory.
      files: 1,
      active_ms: 6 * MINUTE,
      outcome: "failed",
      last_answer: "Fixed.",
      usage: { calls: 1, input_tokens: 100, output_tokens: 1_000 },
    });
    expect(main?.cost).toBeCloseTo(0.0153, 6);
    expect(main?.cost_total).toBeCloseTo(0.0456, 6);
    expect(await recorder.session("main/agent-1").summary()).toMatchObject({
      title: "Look around",
      title_source: "given",
      parent: "main",
      project: "atlas",
      projects: [],
      turns: 0,
      outcome: "done",
    });
  });

  test("forgets the words of a prompt and an answer that were forgotten", async () => {
    const { recorder } = memoryRecorder();
    const { entries } = await recorder.append(work);
    await recorder.listSessions({ sort: "cost" });
    for (const nth of [3, 7]) await recorder.forget({ entry: entries[nth]?.id as string, reason: "test" });
    const main = await recorder.session("main").summary();
    expect(main).toMatchObject({ title: "Again", last_answer: "", usage: { calls: 0 }, turns: 2 });
    expect(main).not.toHaveProperty("cost");
    expect((await recorder.listSessions({ title: "login" })).sessions).toEqual([]);
  });

  test.each<[string, readonly EntryInput[], string]>([
    ["with an answer", [user("s", 0, "p"), answer("s", 1, "a", 1)], "done"],
    ["without one", [user("s", 0, "p")], "stopped"],
    ["a call without a result", [user("s", 0, "p"), call("s", 1, "Bash", {}), answer("s", 1, "", 1)], "stopped"],
    ["interrupted", [user("s", 0, "p"), user("s", 1, "[Request interrupted by user]")], "stopped"],
    ["a failure, then an answer", [{ kind: "error", session_id: "s", error: "e" }, answer("s", 1, "a", 1)], "done"],
    ["only results", [call("s", 0, "Bash", {})], "done"],
    ["a prompt just now", [{ kind: "message", session_id: "s", role: "user", content: "p" }], "running"],
  ])("%s: the outcome is right", async (_, entries, outcome) => {
    const { recorder } = memoryRecorder();
    await recorder.append(entries);
    expect(await recorder.session("s").summary()).toMatchObject({ outcome });
  });

  test("one prompt, recorded as a message and with every call of a loop, is one turn", async () => {
    const { recorder } = memoryRecorder();
    const asked = { kind: "interaction", session_id: "s", prompt: "Do it" } as const;
    await recorder.append([
      user("s", 0, "Do it"),
      { ...asked, response: "", extra: { tool_calls: [{ function: { name: "ls" } }] } },
      { ...asked, response: "Done" },
      answer("s", 1, "Done", 1),
      user("s", 2, "Do it"),
    ]);
    expect(await recorder.session("s").summary()).toMatchObject({ turns: 2 });
    expect((await recorder.session("s").outline())?.turns.rows.map(([position]) => position)).toEqual([1, 5]);
  });

  test("a hostile title is one short line, and one wrong time makes no decades of work", async () => {
    const { recorder } = memoryRecorder();
    const title = `\u001b]0;owned\u0007Line\r\n\u202eone\0 ${"x".repeat(10_000)}`;
    await recorder.append([
      { kind: "session_info", session_id: "s", created_at: at(0), title },
      { kind: "error", session_id: "s", created_at: "2099-01-01T00:00:00Z", error: "clock" },
      { kind: "error", session_id: "s", created_at: at(1), error: "e" },
      { kind: "error", session_id: "s", created_at: at(3), error: "e" },
    ]);
    const summary = await recorder.session("s").summary();
    expect(summary?.title).toMatch(/^Line one x{480,495}…$/);
    expect(summary).toMatchObject({ active_ms: 2 * MINUTE, failures: 3 });
  });

  test("parents that form a cycle or were never recorded end somewhere", async () => {
    const { recorder } = memoryRecorder();
    const info = (session_id: string, parent: string) => ({ kind: "session_info", session_id, parent }) as const;
    await recorder.append([info("a", "b"), info("b", "a"), info("c", "c"), info("d", "nobody")]);
    const { sessions } = await recorder.listSessions({ sort: "cost" });
    expect(sessions.map(({ session_id, children }) => [session_id, children])).toEqual([
      ["d", 0],
      ["c", 0],
      ["b", 1],
      ["a", 1],
    ]);
    expect((await recorder.listSessions({ parent: "-" })).sessions.map(({ session_id }) => session_id)).toContain("d");
  });
});

describe("the list", () => {
  const ids = async (
    recorder: ReturnType<typeof memoryRecorder>["recorder"],
    options: Parameters<typeof recorder.listSessions>[0],
  ) => (await recorder.listSessions(options)).sessions.map(({ session_id }) => session_id);

  test("is filtered and sorted by the store, in both directions", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(work);
    const list = (options: Parameters<typeof recorder.listSessions>[0]) => ids(recorder, options);
    expect(await list({})).toEqual(["other", "main", "main/agent-1"]);
    expect(await list({ order: "asc" })).toEqual(["main/agent-1", "main", "other"]);
    expect(await list({ sort: "cost" })).toEqual(["main", "main/agent-1", "other"]);
    expect(await list({ sort: "cost", order: "asc" })).toEqual(["other", "main/agent-1", "main"]);
    expect(await list({ sort: "failures" })).toEqual(["main", "other", "main/agent-1"]);
    expect(await list({ sort: "title" })).toEqual(["main", "main/agent-1", "other"]);
    expect(await list({ sort: "length" })).toEqual(["main", "main/agent-1", "other"].toSorted(byActive));
    expect(await list({ parent: "-" })).toEqual(["other", "main"]);
    expect(await list({ parent: "main" })).toEqual(["main/agent-1"]);
    expect(await list({ title: "LOGIN" })).toEqual(["main"]);
    expect(await list({ title: "look" })).toEqual(["main/agent-1"]);
    expect(await list({ project: "atlas" })).toEqual(["main", "main/agent-1"]);
    expect(await list({ since: at(900) })).toEqual(["other"]);
    expect(await list({ until: at(2) })).toEqual(["main", "main/agent-1"]);
    expect(await list({ user_id: "-", tag: "-" })).toHaveLength(3);
    expect(await list({ tag: "none" })).toEqual([]);
  });

  test.each(["last", "first", "failures", "cost", "title"] as const)(
    "by %s: pages reach each session once while entries arrive",
    async (sort) => {
      const { recorder } = memoryRecorder();
      await recorder.append(
        Array.from({ length: 12 }, (_, nth) => ({ kind: "error", session_id: `s${nth % 6}`, error: "e" }) as const),
      );
      const seen: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await recorder.listSessions({ sort, limit: 2, ...(cursor === undefined ? {} : { cursor }) });
        seen.push(...page.sessions.map(({ session_id }) => session_id));
        await recorder.append([
          { kind: "error", session_id: "s0", error: "e" },
          { kind: "error", session_id: `new-${seen.length}`, error: "e" },
        ]);
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
      expect(seen.toSorted()).toEqual(["s0", "s1", "s2", "s3", "s4", "s5"]);
    },
  );
});

function byActive(left: string, right: string): number {
  const active: { readonly [id: string]: number } = { main: 6, "main/agent-1": 1, other: 1 };
  return (active[right] ?? 0) - (active[left] ?? 0) || (left === "main/agent-1" ? 1 : -1);
}

describe("an outline", () => {
  test("has turns with calls, failures and cost, children, files and a map", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(work);
    const outline = await recorder.session("main").outline();
    expect(outline?.turns.rows.map(([position, ms, prompt, ...rest]) => [position, ms, prompt, ...rest])).toEqual([
      [3, 0, "/clear", 0, 0, 0, null, MINUTE],
      [4, MINUTE, "Fix the login please", 3, 1, 1_100, 0.0153, 4 * MINUTE],
      [9, 700 * MINUTE, "Again", 0, 1, 0, null, MINUTE],
    ]);
    expect(outline?.children).toMatchObject([{ session_id: "main/agent-1", title: "Look around", failures: 0 }]);
    expect(outline?.files).toEqual([{ path: "src/login.ts", reads: 1, writes: 1, last_position: 6 }]);
    expect(outline?.by_kind).toEqual({ session_info: 1, message: 5, tool_call: 3, error: 1 });
    const sums = outline?.bins.columns.map((_, column) =>
      (outline.bins.rows as readonly (readonly number[])[]).reduce((sum, row) => sum + (row[column] ?? 0), 0),
    );
    expect(sums).toEqual([3, 1, 2, 2, 0, 2]);
    expect(await recorder.session("nobody").outline()).toBeUndefined();
  });

  test("is joined over pieces as one, and stays small", async () => {
    const { recorder } = memoryRecorder();
    const entries = Array.from({ length: 5_000 }, (_, nth): EntryInput => {
      const minutes = nth / 60;
      if (nth % 10 === 0) return user("long", minutes, "w");
      return call("long", minutes, "Bash", { command: "ls" }, nth % 50 === 7 ? { is_error: true } : {});
    });
    for (let done = 0; done < entries.length; done += 777) await recorder.append(entries.slice(done, done + 777));
    const outline = await recorder.session("long").outline();
    const rows = outline?.turns.rows ?? [];
    expect(rows).toHaveLength(500);
    expect(rows.map(([position]) => position)).toEqual(Array.from({ length: 500 }, (_, nth) => nth * 10 + 1));
    expect(rows.every(([, , , calls]) => calls === 9)).toBe(true);
    expect(rows.reduce((sum, [, , , , failures]) => sum + failures, 0)).toBe(100);
    expect(rows.reduce((sum, row) => sum + row[7], 0)).toBe(4_999 * 1_000);
    expect(JSON.stringify(rows).length / rows.length).toBeLessThan(60);
    expect(outline?.bins.rows).toHaveLength(200);
    expect((await recorder.session("long").summary())?.turns).toBe(500);
  });
});
