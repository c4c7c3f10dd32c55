// Sessions written back in the forms of coding agents: read again, they are the same conversation, and nothing is recorded twice.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixturePath } from "../../../test/support/fixtures.js";
import { type ImportBench, importBench } from "../../../test/support/import-target.js";
import { expectLegalHistory } from "../../../test/support/transcripts.js";
import type { Entry, Recorder } from "../../index.js";
import { type Conversation, readConversation } from "./conversation.js";
import { planResume, type ResumePlan } from "./resume.js";
import { type ResumeTool, resumeTools } from "./target.js";

const place = { cwd: "/srv/shop", home: "/nonexistent" };

/** Sessions of the fixtures, each with a compaction, failed calls or a branch that was left. */
const sources: readonly (readonly [tool: string, file: string, session_id: string])[] = [
  [
    "claude-code",
    "claude-code/shop/9f0c7a52-1111-4222-8333-444455556666.jsonl",
    "9f0c7a52-1111-4222-8333-444455556666",
  ],
  ["codex", "codex", "019e0000-aaaa-7bbb-8ccc-ddddeeeeffff"],
  ["pi", "pi", "5b5b0000-0000-4000-8000-000000000001"],
  ["gemini-cli", "gemini-cli", ""],
];

async function conversationOf(recorder: Recorder, session_id: string): Promise<Conversation> {
  return readConversation(session_id, recorder.exportEntries({ session_id }));
}

async function written(bench: ImportBench, session_id: string, tool: ResumeTool): Promise<ResumePlan> {
  return planResume(await conversationOf(bench.recorder, session_id), tool, place);
}

/** What was said, without what the tool that wrote it put into the conversation. */
async function spoken(bench: ImportBench, session_id: string): Promise<readonly string[]> {
  const injected = (entry: Entry): boolean =>
    entry.kind === "message" && entry.injected !== "" && entry.injected !== "command";
  const left = new Set((await bench.entries()).flatMap((entry) => (injected(entry) ? [textOf(entry)] : [])));
  const messages = await expectLegalHistory(bench.recorder, session_id);
  return messages
    .filter(({ role }) => role !== "system")
    .map((message) => `${message.role}: ${textOf(message)}`)
    .filter((line) => ![...left].some((text) => line === `user: ${text}`));
}

function textOf(said: object): string {
  const { content } = said as { readonly content?: unknown };
  if (typeof content === "string") return content.trim();
  return Array.isArray(content)
    ? content
        .map((part) => (part as { text?: string }).text ?? "")
        .join("\n")
        .trim()
    : "";
}

async function benchWith([, file, known]: (typeof sources)[number]): Promise<{
  readonly bench: ImportBench;
  readonly session_id: string;
}> {
  const bench = importBench();
  await bench.import(fixturePath("import", file));
  const [first] = (await bench.recorder.listSessions({})).sessions.slice(-1);
  return { bench, session_id: known === "" ? (first?.session_id ?? "") : known };
}

describe.each(sources.map((source) => [source[0], source] as const))("a session of %s", (name, source) => {
  test.each(resumeTools)("goes to %s, and is the same conversation there", async (tool) => {
    const { bench, session_id } = await benchWith(source);
    const { id, path, lines } = await written(bench, session_id, tool);
    const again = importBench();
    const report = await again.import(again.write(path, lines.join("")));
    expect(report.rejected).toEqual([]);
    expect(await spoken(again, id)).toEqual(await spoken(bench, session_id));
    expect(id === session_id).toBe(tool === name);
  });
});

test.each(resumeTools)("a session that goes back to %s adds nothing that was said a second time", async (tool) => {
  const source = sources.find(([name]) => name === tool);
  if (source === undefined) throw new Error(`no fixture of ${tool}`);
  const { bench, session_id } = await benchWith(source);
  const before = (await bench.entries()).length;
  const { path, lines } = await written(bench, session_id, tool);
  await bench.import(bench.write(path, lines.join("")));
  const added = (await bench.entries()).slice(before).map(({ kind }) => kind);
  expect(added.filter((kind) => !["raw", "session_info", "audit"].includes(kind))).toEqual([]);
});

test("what the record does not hold is counted: calls without results, what was taken back, what was cleared", async () => {
  const bench = importBench();
  const session = bench.recorder.session("cli:anna");
  await session.message({ role: "user", content: "before" });
  await session.clear();
  await session.message({ role: "system", content: "Be brief." });
  await session.message({ role: "user", content: "Which files?" });
  const guess = await session.message({ role: "assistant", content: "A guess." });
  await session.withdraw(guess.position);
  const tool_calls = ["c1", "c2"].map((id) => ({ id, type: "function", function: { name: "ls", arguments: "{}" } }));
  await session.message({ role: "assistant", content: "Looking.", tool_calls });
  await session.toolCall({ tool: "ls", result: "a.txt", tool_call_id: "c1" });
  await session.message({ role: "user", content: "Thanks" });
  const conversation = await conversationOf(bench.recorder, "cli:anna");
  const plan = planResume(conversation, "claude-code", place);
  expect(conversation.left_out).toMatchObject({ cleared: 1, withdrawn: 1, unanswered: 1, system: 1, injected: 0 });
  expect(plan).toMatchObject({ messages: 3, path: join("projects", "-srv-shop", `${plan.id}.jsonl`) });
  expect(plan.lines.join("")).not.toMatch(/before|A guess|c2/);
});

test("interactions alone are a conversation too, with answers that came later", async () => {
  const bench = importBench();
  const { id } = await bench.recorder.recordInteraction({ session_id: "s", prompt: "Why?", model: "m-1" });
  await bench.recorder.completeInteraction(id, { response: "Because." });
  const { lines } = await written(bench, "s", "pi");
  expect(lines.join("")).toMatch(/"Why\?".*\n.*"Because\."/);
});

test.each(resumeTools)("ids and texts of any kind make a file that %s's importer reads whole", async (tool) => {
  const bench = importBench();
  const session = bench.recorder.session("weird/../\u{1F600} id");
  const hostile = '\u2028 \ud800 "</script>" \\ \u0000 灯';
  await session.message({ role: "user", content: hostile });
  const tool_calls = [{ id: "a b:c", type: "function", function: { name: "do it", arguments: "not json" } }];
  await session.message({ role: "assistant", content: [{ type: "text", text: hostile }], tool_calls });
  await session.toolCall({ tool: "do it", result: { deep: [hostile] }, tool_call_id: "a b:c", is_error: true });
  await session.message({
    role: "user",
    content: [{ type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }],
  });
  await session.message({ role: "assistant", content: "seen" });
  const { id, path, lines } = await written(bench, "weird/../\u{1F600} id", tool);
  expect(path).not.toContain("..");
  expect(lines.every((line) => line.indexOf("\n") === line.length - 1)).toBe(true);
  const again = importBench();
  expect((await again.import(again.write("copy.jsonl", lines.join("")))).rejected).toEqual([]);
  const roles = (await expectLegalHistory(again.recorder, id)).map(({ role }) => role);
  expect(roles).toEqual(["user", "assistant", "tool", "user", "assistant"]);
});
