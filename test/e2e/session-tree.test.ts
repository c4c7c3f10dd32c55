// The tree of a session: what is inside of what, and what it took, whatever the parents say.
import { describe, expect, test } from "vitest";
import type { EntryInput, TreeNode } from "../../src/index.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { startServer } from "./http-client.js";

const START = Date.parse("2026-03-02T09:00:00Z");
const MODEL = "claude-sonnet-4-20250514";

function at(ms: number): string {
  return new Date(START + ms).toISOString();
}

function tool(id: string, ms: number, more: object = {}): EntryInput {
  return { kind: "tool_call", id, session_id: "s", created_at: at(ms), tool: `tool-${id}`, result: "", ...more };
}

function call(id: string, ms: number, more: object = {}): EntryInput {
  const usage = { input_tokens: 1_000, output_tokens: 100 };
  const fields = { prompt: `ask ${id}`, response: `answer ${id}`, model: MODEL, usage, latency_ms: 50 };
  return { kind: "interaction", id, session_id: "s", created_at: at(ms), ...fields, ...more };
}

/** Ids with those inside of them. */
type Shape = { readonly [id: string]: Shape };

function shapeOf(nodes: readonly TreeNode[] = []): Shape {
  return Object.fromEntries(
    nodes.map(({ entry_id, kind, session_id, children }) => [
      kind === "session" ? `session ${session_id}` : entry_id,
      shapeOf(children),
    ]),
  );
}

async function treeOf(entries: readonly EntryInput[], session_id = "s") {
  const { recorder } = memoryRecorder();
  await recorder.append(entries);
  return recorder.session(session_id).tree();
}

describe("a tree", () => {
  test("nests by parent_id, whichever came first, and adds time, tokens and cost up", async () => {
    const tree = await treeOf([
      { kind: "message", id: "prompt", session_id: "s", created_at: at(0), role: "user", content: "Plan\n the trip" },
      tool("inner", 30, { parent_id: "outer", duration_ms: 20 }),
      call("deep", 35, { parent_id: "inner" }),
      call("outer", 10, { parent_id: "prompt" }),
      tool("second", 60, { parent_id: "outer", duration_ms: 5 }),
      { kind: "error", id: "alone", session_id: "s", created_at: at(90), error: "rate limited" },
    ]);
    expect(shapeOf(tree?.roots)).toEqual({ prompt: { outer: { inner: { deep: {} }, second: {} } }, alone: {} });
    const [prompt, alone] = tree?.roots ?? [];
    const outer = prompt?.children[0];
    const own = { duration_ms: 50, tokens: 1_100, cost: 0.0045 };
    expect(outer).toMatchObject({ kind: "interaction", title: "ask outer", ...own });
    expect(outer?.total).toEqual({ duration_ms: 125, tokens: 2_200, cost: 0.009 });
    expect(prompt).toMatchObject({ title: "Plan the trip", duration_ms: null, tokens: 0, cost: null });
    expect(prompt?.total).toEqual(outer?.total);
    expect(alone?.total).toEqual({ duration_ms: 0, tokens: 0, cost: null });
    expect(tree).not.toHaveProperty("is_cut");
  });

  test("has tool calls inside of the answer that called them, and a call that was recorded twice once", async () => {
    const tool_calls = [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }];
    const tree = await treeOf([
      { kind: "message", session_id: "s", created_at: at(0), role: "user", content: "hello" },
      call("request", 1, { prompt: "hello", response: "", extra: { tool_calls } }),
      { kind: "message", id: "said", session_id: "s", created_at: at(2), role: "assistant", content: null, tool_calls },
      tool("run", 3, { tool_call_id: "c1", duration_ms: 7 }),
      tool("named", 4, { parent_id: "said" }),
    ]);
    expect(shapeOf(tree?.roots)).toEqual({ request: { run: {}, named: {} } });
    expect(tree?.roots[0]?.total).toMatchObject({ duration_ms: 57, tokens: 1_100 });
  });

  test("has an interaction that was completed later once, with what its response says", async () => {
    const { recorder } = memoryRecorder();
    await recorder.append(call("late", 0, { response: "", usage: {}, latency_ms: null }));
    const usage = { input_tokens: 10, output_tokens: 1 };
    await recorder.completeInteraction("late", { response: "done", usage, latency_ms: 9 });
    const tree = await recorder.session("s").tree();
    expect(tree?.roots).toMatchObject([{ entry_id: "late", duration_ms: 9, tokens: 11, children: [] }]);
  });

  test("has subagents inside of what they were made for, or of the tool that ran then", async () => {
    const info = (id: string, ms: number, parent: string): EntryInput => ({
      ...({ kind: "session_info", id: `info-${id}`, session_id: id, created_at: at(ms), parent } as const),
      title: `Agent ${id}`,
    });
    const entries = [
      tool("long", 0, { duration_ms: 1_000 }),
      tool("short", 100, { duration_ms: 200 }),
      info("by-time", 150, "s"),
      call("a", 160, { session_id: "by-time" }),
      info("by-name", 5_000, "s"),
      call("b", 5_001, { session_id: "by-name", parent_id: "long" }),
      info("below", 5_002, "by-name"),
      call("c", 5_003, { session_id: "below" }),
      info("nowhere", 9_000, "s"),
    ];
    const tree = await treeOf(entries);
    expect(shapeOf(tree?.roots)).toEqual({
      long: { "session by-name": { b: {}, "session below": { c: {} } } },
      short: { "session by-time": { a: {} } },
      "session nowhere": {},
    });
    expect(tree?.roots[0]?.total).toEqual({ duration_ms: 1_100, tokens: 2_200, cost: 0.009 });
    expect(tree?.roots[0]?.children[0]).toMatchObject({ entry_id: "info-by-name", title: "Agent by-name" });
    expect(shapeOf((await treeOf(entries, "by-name"))?.roots)).toEqual({ b: {}, "session below": { c: {} } });
  });

  test("is whole although parents are missing, elsewhere, themselves or below themselves", async () => {
    const tree = await treeOf([
      tool("lost", 0, { parent_id: "nobody" }),
      tool("far", 1, { parent_id: "other" }),
      call("other", 1, { session_id: "unrelated" }),
      tool("self", 2, { parent_id: "self" }),
      tool("one", 3, { parent_id: "three" }),
      tool("two", 4, { parent_id: "one" }),
      tool("three", 5, { parent_id: "two" }),
      tool("hanging", 6, { parent_id: "two" }),
    ]);
    const ids: string[] = [];
    const walk = (nodes: readonly TreeNode[] = []): void => {
      for (const { entry_id, children } of nodes) {
        ids.push(entry_id);
        walk(children);
      }
    };
    walk(tree?.roots);
    expect(ids.toSorted()).toEqual(["far", "hanging", "lost", "one", "self", "three", "two"]);
    expect(tree?.roots.map(({ entry_id }) => entry_id)).toEqual(expect.arrayContaining(["lost", "far", "self"]));
    const rings = await treeOf([
      { kind: "session_info", session_id: "s", parent: "t" },
      { kind: "session_info", session_id: "t", parent: "s" },
      tool("in-s", 1, { parent_id: "in-t" }),
      tool("in-t", 1, { session_id: "t", parent_id: "in-s" }),
    ]);
    expect(JSON.stringify(rings)).toContain('"in-s"');
    expect(JSON.stringify(rings)).toContain('"in-t"');
  });

  test("masks secrets in its titles, also at their ends", async () => {
    const secret = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
    const tree = await treeOf([
      call("a", 0, { prompt: `${"x".repeat(100)} ${secret}` }),
      tool("b", 1, { tool: secret }),
    ]);
    const text = JSON.stringify(tree);
    expect(text).not.toContain(secret.slice(0, 12));
    const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0B\n".repeat(130)}-----END PRIVATE KEY-----`;
    expect(JSON.stringify(await treeOf([call("a", 0, { prompt: key })]))).not.toContain("MIIE");
  });

  test("is undefined for a session that is not there", async () => {
    expect(await treeOf([tool("a", 0)], "nobody")).toBeUndefined();
  });
});

test("100,000 entries, one inside of the other, make an answer of bounded size and depth, and others are not kept waiting", async () => {
  const { recorder } = memoryRecorder();
  for (let nth = 0; nth < 100_000; nth += 5_000) {
    const entries = Array.from({ length: 5_000 }, (_, own): EntryInput => {
      const number = nth + own;
      const parent_id = number === 0 ? "" : `e${number - 1}`;
      return tool(`e${number}`, number, { tool: "t".repeat(200), duration_ms: 1, parent_id });
    });
    await recorder.append(entries);
  }
  await recorder.count();
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const tree = await recorder.session("s").tree();
  clearInterval(timer);
  expect(tree?.is_cut).toBe(true);
  const text = JSON.stringify(tree);
  expect(text.length).toBeLessThan(10_000_000);
  expect(tree?.roots[0]?.total.duration_ms).toBe(10_000);
  let depth = 0;
  for (let nodes = tree?.roots ?? []; nodes.length > 0; nodes = nodes.at(0)?.children ?? []) depth += 1;
  expect(depth).toBe(90);
  // The machine may be busy with other tests.
  expect(longest).toBeLessThan(1_000);
}, 120_000);

test("large calls are read only as far as 128 Mi characters", async () => {
  const { recorder } = memoryRecorder();
  const context_pack = { messages: [{ role: "user", content: "x".repeat(15 * 1024 * 1024) }] };
  for (let nth = 0; nth < 12; nth += 1) await recorder.append(call(`big-${nth}`, nth, { context_pack }));
  const tree = await recorder.session("s").tree();
  expect(tree?.is_cut).toBe(true);
  expect(tree?.roots.length).toBeGreaterThanOrEqual(8);
  expect(tree?.roots.length).toBeLessThan(12);
}, 120_000);

test("over HTTP it is the same, and an unknown session is a 404", async () => {
  const server = await startServer();
  await server.post("/entries", [call("outer", 0), tool("inner", 1, { parent_id: "outer" })]);
  const { status, body } = await server.get("/sessions/s/tree");
  expect(status).toBe(200);
  expect(body).toEqual(await server.recorder.session("s").tree());
  expect(shapeOf(body.roots)).toEqual({ outer: { inner: {} } });
  expect((await server.get("/sessions/none/tree")).status).toBe(404);
});
