// Searching through a recorder: which entries are hits, in which order, on which pages, and how they are counted.
import { beforeAll, describe, expect, test } from "vitest";
import { type MemoryRecorder, memoryRecorder } from "../../test/support/memory-recorder.js";
import type { EntryInput } from "../model/entry.js";
import type { SearchOptions } from "../recorder/recorder.js";

let store: MemoryRecorder;

const entries: readonly EntryInput[] = [
  { kind: "message", session_id: "s:1", role: "user", content: "The Timeout of the café", project: "atlas" },
  {
    kind: "message",
    session_id: "s:1",
    role: "timmy",
    content: [{ type: "text", text: "a timeout?" }, { type: "image" }],
  },
  { kind: "tool_call", session_id: "s:2", tool: "fetch", args: { timeout: 30 }, result: '{"ok":true}' },
  { kind: "error", error: "Connection reset", context: "timeout after 30 s", project: "beacon", client: "cli" },
  { kind: "decision", decision: "retry" },
  { kind: "interaction", id: "asked", prompt: "Why a timeout?", session_id: "s:3" },
  { kind: "response", interaction_id: "asked", response: "Because of the proxy." },
  { kind: "raw", source: "timeout", record: { timeout: ["raw"] } },
  { kind: "session_info", session_id: "s:1", title: "timeout" },
];

beforeAll(async () => {
  store = memoryRecorder();
  await store.recorder.append(entries);
});

async function positions(query: string, options: SearchOptions = {}): Promise<readonly number[]> {
  return (await store.recorder.search(query, options)).results.map(({ position }) => position);
}

test.each<[string, readonly number[]]>([
  ["timeout", [6, 4, 3, 2, 1]],
  ["TIMEOUT 30", [4, 3]],
  ["connection after", [4]],
  ['"connection after"', []],
  ["timeout -30", [6, 2, 1]],
  ['timeout -"a timeout"', [4, 3, 1]],
  ["cafe\u0301", [1]],
  ["cafe", []],
  ["none", []],
  ["undefined", []],
  ["true", [3]],
  ['"ok"', [3]],
  ["image", []],
  ["kind:raw timeout", [8]],
  ["kind:raw", [8]],
  ["role:assistant timeout", [2]],
  ["role:timmy", [2]],
  ["role:user kind:error", []],
  ["project:atlas timeout", [1]],
  ["project:- timeout", [6, 3, 2]],
  ["session_id:s:1", [2, 1]],
  ["session_id:s:1 kind:session_info", [9]],
  ["kind:error,decision", [5, 4]],
  ["kind:raw,error timeout", [8, 4]],
  ["proxy", [7]],
  ["client:cli", [4]],
  ["t -o", [5]],
  ["-timeout", [7, 5]],
])("%j finds %j", async (query, expected) => {
  expect(await positions(query)).toEqual(expected);
});

test("a hit is the summary of its entry, flat, with the reason it was found", async () => {
  const { results } = await store.recorder.search("why");
  expect(results).toMatchObject([
    {
      position: 6,
      kind: "interaction",
      response_chars: 21,
      field: "prompt",
      snippet: "Why a timeout?",
      matches: [[0, 3]],
    },
  ]);
  expect(results[0]).not.toHaveProperty("response");
});

test("a hit in a response that came later carries the interaction's id", async () => {
  const { results } = await store.recorder.search("proxy");
  expect(results).toMatchObject([{ kind: "response", interaction_id: "asked", field: "response", session_id: "s:3" }]);
});

test("the field is the one that holds the first term", async () => {
  expect((await store.recorder.search("timeout connection")).results).toMatchObject([{ field: "context" }]);
  expect((await store.recorder.search("connection timeout")).results).toMatchObject([{ field: "error" }]);
});

test("filters alone list, with the beginning of the entry's texts and nothing marked", async () => {
  const { results } = await store.recorder.search("kind:error");
  expect(results).toMatchObject([{ field: "", snippet: "Connection reset timeout after 30 s", matches: [] }]);
  expect((await store.recorder.search("kind:session_info")).results).toMatchObject([{ snippet: "", matches: [] }]);
});

describe("pages", () => {
  test("reach every hit exactly once, also while entries arrive", async () => {
    const { recorder } = memoryRecorder();
    const note = (at: number): EntryInput => ({
      kind: "error",
      error: `note ${at}`,
      created_at: `2026-11-15T00:00:0${at % 3}Z`,
    });
    await recorder.append(Array.from({ length: 100 }, (_, at) => note(at)));
    const before = (await recorder.search("note", { limit: 500 })).results.map(({ position }) => position);
    const found: number[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof recorder.search>> = await recorder.search("note", { limit: 7, cursor });
      found.push(...page.results.map(({ position }) => position));
      cursor = page.next_cursor;
      await recorder.append({ kind: "error", error: "note, newer" });
    } while (cursor !== null);
    expect(found).toEqual(before);
  });

  test("a limit of zero or less gives none", async () => {
    expect(await store.recorder.search("timeout", { limit: 0 })).toEqual({ results: [], next_cursor: null });
    expect(await store.recorder.search("timeout", { limit: -5 })).toEqual({ results: [], next_cursor: null });
  });

  test("10 hits without a limit", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(Array.from({ length: 12 }, (): EntryInput => ({ kind: "error", error: "same" })));
    const { results, next_cursor } = await recorder.search("same");
    expect(results).toHaveLength(10);
    expect((await recorder.search("same", { cursor: next_cursor })).results).toHaveLength(2);
  });

  test("end early where entries are large, and lead on", async () => {
    const { recorder } = memoryRecorder();
    const content = `needle ${"x".repeat(6 * 1024 * 1024)}`;
    for (let at = 0; at < 4; at += 1)
      await recorder.append({ kind: "message", session_id: "s", role: "user", content });
    const first = await recorder.search("needle");
    expect(first.results.map(({ position }) => position)).toEqual([4, 3, 2]);
    const second = await recorder.search("needle", { cursor: first.next_cursor });
    expect(second.results.map(({ position }) => position)).toEqual([1]);
  });
});

describe("facets", () => {
  test("count all hits, whatever page is asked for", async () => {
    const { facets, results } = await store.recorder.search("timeout", { facets: true, limit: 1 });
    expect(results).toHaveLength(1);
    expect(facets).toEqual({
      kinds: [
        { kind: "message", count: 2 },
        ...["error", "interaction", "tool_call"].map((kind) => ({ kind, count: 1 })),
      ],
      projects: [
        { project: "", count: 3 },
        { project: "atlas", count: 1 },
        { project: "beacon", count: 1 },
      ],
      sessions: [
        { session_id: "s:1", count: 2 },
        ...["", "s:2", "s:3"].map((session_id) => ({ session_id, count: 1 })),
      ],
      counted: 5,
      complete: true,
    });
    expect(await store.recorder.search("timeout")).not.toHaveProperty("facets");
  });

  test("name the commonest and say that they are not all", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(
      Array.from({ length: 150 }, (_, at): EntryInput => ({ kind: "error", error: "x", project: `p${at}` })),
    );
    const { facets } = await recorder.search("x", { facets: "1" });
    expect(facets?.projects).toHaveLength(100);
    expect(facets).toMatchObject({ counted: 150, complete: false });
  });
});

test("facets count the newest 2,000 hits and say so; one hit more or less makes the difference", async () => {
  const { recorder } = memoryRecorder();
  const hits = (count: number, project: string): EntryInput[] =>
    Array.from({ length: count }, () => ({ kind: "error", error: "x", project }));
  await recorder.append(hits(1, "oldest"));
  await recorder.append(hits(1_999, "newer"));
  expect((await recorder.search("x", { facets: true, limit: 1 })).facets).toMatchObject({
    counted: 2_000,
    complete: true,
    projects: [
      { project: "newer", count: 1_999 },
      { project: "oldest", count: 1 },
    ],
  });
  await recorder.append(hits(1, "newer"));
  const { facets, results } = await recorder.search("x", { facets: true, limit: 1 });
  expect(results).toHaveLength(1);
  expect(facets).toMatchObject({ counted: 2_000, complete: false, projects: [{ project: "newer", count: 2_000 }] });
});

test("facets look through the newest entries only where that takes long, and say so", async () => {
  const { recorder } = memoryRecorder();
  const entries = (count: number, error: string): EntryInput[] =>
    Array.from({ length: count }, () => ({ kind: "error", error }));
  await recorder.append(entries(1, "needle"));
  await recorder.append(entries(5_500, "needle in hay"));
  await recorder.append(entries(1, "needle"));
  const { facets, results } = await recorder.search("needle -hay", { facets: true });
  expect(results).toHaveLength(2);
  expect(facets).toMatchObject({ counted: 1, complete: false });
});

describe("matches in kinds that only kind: finds", () => {
  test("are counted by the name that finds them, where there are any and no kind is asked for", async () => {
    const { recorder } = store;
    expect(await recorder.search("timeout")).toMatchObject({ elsewhere: { raw: 1 } });
    expect((await recorder.search("session_id:s:1")).elsewhere).toEqual({ session_info: 1 });
    expect((await recorder.search("-timeout")).elsewhere).toEqual({ session_info: 1 });
    for (const query of ["connection", "timeout kind:error", "timeout in:context", "role:user timeout"]) {
      expect(Object.keys(await recorder.search(query))).toEqual(["results", "next_cursor"]);
    }
  });

  test("are counted on the first page alone", async () => {
    const { next_cursor, elsewhere } = await store.recorder.search("timeout", { limit: 1 });
    expect(elsewhere).toEqual({ raw: 1 });
    expect(await store.recorder.search("timeout", { limit: 1, cursor: next_cursor })).not.toHaveProperty("elsewhere");
  });

  test("are counted as far as little work leads, which the answer says", async () => {
    const { recorder } = memoryRecorder();
    const raws = (count: number, word: string): EntryInput[] =>
      Array.from({ length: count }, () => ({ kind: "raw", source: "s", record: { word } }));
    await recorder.append(raws(100, "often"));
    expect(await recorder.search("often")).toMatchObject({ elsewhere: { raw: 100 } });
    expect(await recorder.search("often")).not.toHaveProperty("elsewhere_at_least");
    await recorder.append(raws(1, "often"));
    expect(await recorder.search("often")).toMatchObject({ elsewhere: { raw: 100 }, elsewhere_at_least: true });
    await recorder.append({ kind: "raw", source: "s", record: { large: `often ${"x".repeat(2_000_000)}` } });
    expect(await recorder.search("often")).toMatchObject({ elsewhere: { raw: 1 }, elsewhere_at_least: true });
    await recorder.append(raws(500, "other"));
    expect(await recorder.search("often")).toMatchObject({ results: [], elsewhere_at_least: true });
  });
});

test("what was just recorded is found", async () => {
  const { recorder } = memoryRecorder();
  for (let at = 0; at < 20; at += 1) {
    await recorder.append({ kind: "decision", decision: `freshly made ${at};` });
    expect((await recorder.search(`"${at};"`)).results).toHaveLength(1);
  }
});
