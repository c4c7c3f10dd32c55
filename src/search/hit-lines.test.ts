// The lines that an agent reads, kind by kind, exactly as the contract has them.
import { expect, test } from "vitest";
import { memoryRecorder } from "../../test/support/memory-recorder.js";
import type { EntryInput } from "../model/entry.js";

async function linesFor(
  entries: readonly EntryInput[],
  query: string,
  options: object = {},
): Promise<readonly string[]> {
  const { recorder } = memoryRecorder();
  await recorder.append(entries.map((entry, at) => ({ created_at: `2026-11-15T06:39:${10 + at}.999Z`, ...entry })));
  return (await recorder.sessionHistory({ query, ...options })).split("\n");
}

const s = { session_id: "s:1" };

test("the first line counts and quotes, and the newest comes first", async () => {
  const said = (content: string): EntryInput => ({ kind: "message", ...s, role: "user", content });
  expect(await linesFor([said("find me"), said("not"), said("FIND too")], "find")).toEqual([
    "2 found for 'find', newest first:",
    "[2026-11-15T06:39:12] user: FIND too (s:1)",
    "[2026-11-15T06:39:10] user: find me (s:1)",
  ]);
});

test("the query, a role and a number can be given by themselves", async () => {
  const { recorder } = memoryRecorder();
  await recorder.append(
    ["one", "two"].map((word) => ({ kind: "message", ...s, role: "user", content: `${word} find` })),
  );
  expect(await recorder.sessionHistory("find", "user", 1)).toBe(
    await recorder.sessionHistory({ query: "find", limit: 1 }),
  );
  expect(await recorder.sessionHistory("find", "assistant")).toBe("Nothing recorded matches 'find'.");
});

test("nothing found says so", async () => {
  expect(await linesFor([{ kind: "clear", ...s }], "it's\nnot")).toEqual(["Nothing recorded matches 'it's not'."]);
  expect(await linesFor([{ kind: "error", error: "x" }], "x", { limit: 0 })).toEqual(["Nothing recorded matches 'x'."]);
});

test.each<[EntryInput, string]>([
  [{ kind: "message", ...s, role: "timmy", content: "x" }, "assistant: x (s:1)"],
  [{ kind: "message", ...s, role: "user", content: [{ type: "text", text: "x" }, "y"] }, "user: x y (s:1)"],
  [{ kind: "tool_call", tool: "run", args: { x: 1 }, result: "a\nb" }, "tool:run → a b"],
  [{ kind: "tool_call", ...s, tool: "run", result: { x: [1, 2] } }, 'tool:run → {"x":[1,2]} (s:1)'],
  [{ kind: "tool_call", tool: "x" }, "tool:x → "],
  [{ kind: "error", error: "x failed\r\nbadly", context: "c" }, "ERROR: x failed badly"],
  [{ kind: "decision", decision: "x it is", rationale: "r" }, "DECIDED: x it is"],
  [{ kind: "interaction", prompt: "x?", response: "yes" }, "Q: x? A: yes"],
  [{ kind: "consolidation", ...s, through: 1, summary: "x\u2028y" }, "consolidation: x y (s:1)"],
])("of %j the line is %j", async (entry, line) => {
  expect(await linesFor([entry], "x")).toEqual(["1 found for 'x', newest first:", `[2026-11-15T06:39:10] ${line}`]);
});

test("a response that came later is a line of its own, and its interaction is shown with it", async () => {
  const asked: EntryInput = { kind: "interaction", id: "i", prompt: "x?", ...s };
  const answered: EntryInput = { kind: "response", interaction_id: "i", response: "x!" };
  expect((await linesFor([asked, answered], "x")).slice(1)).toEqual([
    "[2026-11-15T06:39:11] response: x! (s:1)",
    "[2026-11-15T06:39:10] Q: x? A: x! (s:1)",
  ]);
});

test("texts are cut by code points: 200, and 100 of a tool's result", async () => {
  const long = "🙂".repeat(300);
  const [, message = ""] = await linesFor([{ kind: "message", ...s, role: "user", content: long }], "🙂");
  expect(message).toBe(`[2026-11-15T06:39:10] user: ${"🙂".repeat(200)} (s:1)`);
  const [, result = ""] = await linesFor([{ kind: "tool_call", tool: "t", result: `🙂${"ab\r\n".repeat(80)}` }], "🙂");
  expect(Array.from(result.split(" → ")[1] ?? "")).toHaveLength(100);
  const [, asked = ""] = await linesFor([{ kind: "interaction", prompt: `x${long}`, response: long }], "x");
  expect(asked).toBe(`[2026-11-15T06:39:10] Q: x${"🙂".repeat(199)} A: ${"🙂".repeat(200)}`);
});

test("the query is one phrase, and the role counts messages only", async () => {
  const entries: readonly EntryInput[] = [
    { kind: "message", ...s, role: "user", content: "role:user -x" },
    { kind: "message", ...s, role: "assistant", content: "role:user" },
    { kind: "error", error: "user -x role:user" },
  ];
  expect(await linesFor(entries, "role:user -x")).toHaveLength(2);
  expect(await linesFor(entries, "role:user", { role: "timmy" })).toEqual([
    "1 found for 'role:user', newest first:",
    "[2026-11-15T06:39:11] assistant: role:user (s:1)",
  ]);
  expect(await linesFor(entries, "role", { limit: 1 })).toHaveLength(2);
});

test("an empty role is every role", async () => {
  const entries: readonly EntryInput[] = [
    { kind: "message", ...s, role: "user", content: "x" },
    { kind: "message", ...s, role: "system", content: "x" },
    { kind: "error", error: "x" },
  ];
  expect((await linesFor(entries, "x", { role: "" }))[0]).toBe("3 found for 'x', newest first:");
});

test("a phrase does not match across two fields", async () => {
  const entries: readonly EntryInput[] = [{ kind: "decision", decision: "use x", rationale: "because y" }];
  expect(await linesFor(entries, "because y")).toHaveLength(2);
  expect(await linesFor(entries, "x because")).toEqual(["Nothing recorded matches 'x because'."]);
});
