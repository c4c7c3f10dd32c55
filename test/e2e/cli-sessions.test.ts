// `hansard sessions` and `hansard history`: the real command, on stores made for it.
import { beforeAll, describe, expect, test } from "vitest";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";

const data = folderOfFile();
const at = (minute: number) => `2026-11-15T12:${String(minute).padStart(2, "0")}:00.000Z`;
const hostile = "\u001b]0;owned\u0007\u001b[2J\u202eevil\u009b31m";
const call = { id: "c1", type: "function", function: { name: "ls", arguments: '{"path":"."}' } };

/** Positions 1 to 9 are cli:anna's, 10 and 11 those of two other sessions. */
const entries: readonly EntryInput[] = [
  { kind: "session_info", session_id: "cli:anna", created_at: at(0), title: `Release ${hostile}`, metadata: { n: 1 } },
  { kind: "message", session_id: "cli:anna", created_at: at(1), role: "system", content: "Be brief.", project: "web" },
  { kind: "message", session_id: "cli:anna", created_at: at(2), role: "user", content: `Which\nfiles? ${hostile}` },
  {
    kind: "message",
    session_id: "cli:anna",
    created_at: at(3),
    role: "assistant",
    content: null,
    tool_calls: [call],
  },
  {
    kind: "tool_call",
    session_id: "cli:anna",
    created_at: at(4),
    tool: "ls",
    args: { path: "." },
    result: Array.from({ length: 40 }, (_, n) => `file-${n}`).join("\n"),
    tool_call_id: "c1",
    duration_ms: 1_200,
  },
  { kind: "message", session_id: "cli:anna", created_at: at(5), role: "timmy", content: "Forty.", confidence: 0.4 },
  { kind: "error", session_id: "cli:anna", created_at: at(6), error: "boom", context: "while counting" },
  { kind: "decision", session_id: "cli:anna", created_at: at(7), decision: "Stop", rationale: "enough" },
  { kind: "message", session_id: "cli:anna", created_at: at(8), role: "user", content: "Thanks" },
  { kind: "interaction", session_id: "-anna", created_at: at(9), prompt: "Why?", response: "Because." },
  { kind: "error", session_id: "cli/anna", created_at: at(10), error: "alone" },
];

beforeAll(() => fillStore(data, entries));

async function withLibrary<T>(work: (recorder: Recorder) => Promise<T>, folder = data): Promise<T> {
  const recorder = await openRecorder({ data: folder });
  try {
    return await work(recorder);
  } finally {
    await recorder.close();
  }
}

test("the timeline shows the answer, and how it was reached", async () => {
  const folder = folderOfTest();
  const s = { session_id: "s" };
  await fillStore(folder, [
    { kind: "interaction", ...s, id: "later", prompt: "Why?" },
    { kind: "response", interaction_id: "later", response: "Because it rained." },
    { kind: "interaction", ...s, prompt: "At length?", response: `Well, ${"so it goes on. ".repeat(400)}` },
    {
      kind: "message",
      ...s,
      role: "assistant",
      content: [{ type: "tool_use", name: "Bash", input: { command: "ls" } }],
    },
    { kind: "message", ...s, role: "user", content: [{ type: "tool_result", content: "a.txt", is_error: true }] },
  ]);
  const { stdout } = await runCli(["sessions", "s", "--entries"], { data: folder });
  expect(stdout).toMatch(/interaction +Why\?\n +→ Because it rained\.\n/);
  expect(stdout).toMatch(/response +answers later\n +→ Because it rained\.\n/);
  expect(stdout).toMatch(/→ Well, so it goes on\. .*\n +… 6,006 characters in total\n/);
  expect(stdout).toMatch(/assistant +calls Bash {"command":"ls"}\n/);
  expect(stdout).toMatch(/user +→ failed: a\.txt\n/);
});

describe("the list", () => {
  test("is a line each, the latest first, with title, counts and project", async () => {
    const { status, stdout, stderr } = await runCli(["sessions"], { data });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const [head, ...lines] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^WHEN +SESSION +PROJECT +CLIENT +LENGTH +PROMPTS +FAILURES +COST +TITLE$/);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^11-15 12:10 +cli\/anna +0 +1$/);
    expect(lines[1]).toMatch(/^11-15 12:09 +-anna +1 +0 +Why\?$/);
    expect(lines[2]).toMatch(/^11-15 12:08 +cli:anna +web +8m +\d +1 +Release evil$/);
  });

  test("--json is the document of GET /sessions, with its filters and cursors", async () => {
    expect(await readJson(["sessions"], { data })).toEqual(await withLibrary((recorder) => recorder.listSessions()));
    const filtered = await readJson(["sessions", "--project", "web"], { data });
    expect(filtered.sessions).toMatchObject([{ session_id: "cli:anna" }]);
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: { sessions: { session_id: string }[]; next_cursor: string | null } = await readJson(
        ["sessions", "--limit", "2", "--cursor", cursor],
        { data },
      );
      seen.push(...page.sessions.map(({ session_id }) => session_id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(["cli/anna", "-anna", "cli:anna"]);
  });

  test("a page that is not the last says how to go on, on stderr", async () => {
    const { stdout, stderr } = await runCli(["sessions", "--limit", "1"], { data });
    expect(stdout.trimEnd().split("\n")).toHaveLength(2);
    expect(stderr).toMatch(/^1 shown; for more add\n--cursor \S+\n$/);
  });

  test("an empty store says how a session begins, and a filter that finds none says that", async () => {
    const empty = folderOfTest();
    await fillStore(empty, [{ kind: "error", error: "in no session" }]);
    const { status, stdout } = await runCli(["sessions"], { data: empty });
    expect(status).toBe(0);
    expect(stdout).toContain("No sessions yet.");
    expect(stdout).toContain("hansard record --kind message --session");
    expect((await runCli(["sessions", "--client", "none"], { data })).stdout).toBe("No session matches.\n");
    expect(await readJson(["sessions"], { data: empty })).toEqual({ sessions: [], next_cursor: null });
  });
});

describe("one session", () => {
  test("shows its facts and its timeline, with results shortened and no control sequences", async () => {
    const { status, stdout, stderr } = await runCli(["sessions", "cli:anna"], { data });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^Release evil\n {2}Session +cli:anna\n {2}Time +2026-11-15 12:00 to 12:08, active 8m\n/);
    expect(stdout).toContain("9, 5 messages, 1 tool call, 1 error, 1 decision\n");
    expect(stdout).toMatch(/#3 {2}2026-11-15 12:02:00 {2}user +Which\n +files\? evil\n/);
    expect(stdout).toMatch(/#4 .* assistant +calls ls \{"path":"\."\}\n/);
    expect(stdout).toMatch(
      /#5 .* tool_call +ls \(1,200 ms\) \{"path":"\."\}\n +→ file-0\n +file-1\n +file-2\n +… \d+ char/,
    );
    expect(stdout).toMatch(/#6 .* assistant +Forty\.\n +confidence 0\.4\n/);
    expect(stdout).toMatch(/#7 .* error +boom\n +while counting\n/);
    expect(stdout).toMatch(/#8 .* decision +Stop\n +because: enough\n/);
    expect(stdout).not.toContain("file-3");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });

  test("--json is its summary, and with --entries its timeline", async () => {
    const documents = await withLibrary(async (recorder) => {
      const session = recorder.session("cli:anna");
      return [await session.summary(), await session.entries({ order: "desc", limit: 3 })];
    });
    const timeline = ["sessions", "cli:anna", "--entries", "--order", "desc", "--limit", "3"];
    expect([await readJson(["sessions", "cli:anna"], { data }), await readJson(timeline, { data })]).toEqual(documents);
  });

  test("--order, --limit and --cursor lead through the timeline", async () => {
    const args = ["sessions", "cli:anna", "--order", "desc", "--limit", "7"];
    const first = await runCli(args, { data });
    expect(first.stdout.match(/^ *#\d+/gm)).toEqual(["#9", "#8", "#7", "#6", "#5", "#4", "#3"]);
    const cursor = first.stderr.match(/--cursor (\S+)/)?.[1] as string;
    const second = await runCli([...args, "--cursor", cursor], { data });
    expect(second.stdout).toMatch(/^#2 .*\n#1 /);
    expect(second.stderr).toBe("");
  });

  test("ids are exact, and one that starts with a dash comes after --", async () => {
    expect(await readJson(["sessions", "cli/anna"], { data })).toMatchObject({ session_id: "cli/anna", entries: 1 });
    const { stdout } = await runCli(["sessions", "--json", "--", "-anna"], { data });
    expect(JSON.parse(stdout)).toMatchObject({ session_id: "-anna", interactions: 1 });
  });

  test.each<[readonly string[], number, string]>([
    [["CLI:anna"], 1, "session_not_found"],
    [["nobody", "--clear"], 1, "session_not_found"],
    [["nobody", "--consolidate", "1"], 1, "session_not_found"],
    [[""], 2, "session_id_invalid"],
    [[".."], 2, "session_id_invalid"],
    [["x".repeat(513)], 2, "session_id_invalid"],
    [["a\nb"], 2, "session_id_invalid"],
    [["cli:anna", "--entries", "--order", "up"], 2, "field_invalid"],
    [["cli:anna", "--entries", "--limit", "many"], 2, "limit_invalid"],
    [["cli:anna", "--entries", "--cursor", "x"], 2, "cursor_invalid"],
    [["cli:anna", "--limit", "3"], 2, "option_misplaced"],
    [["cli:anna", "--project", "web"], 2, "option_misplaced"],
    [["cli:anna", "--clear", "--consolidate", "6"], 2, "option_misplaced"],
    [["cli:anna", "--summary", "x"], 2, "option_misplaced"],
    [["cli:anna", "--consolidate", "10"], 2, "field_invalid"],
    [["cli:anna", "--consolidate", "99"], 2, "field_invalid"],
    [["cli:anna", "--consolidate", "six"], 2, "field_invalid"],
    [["--clear"], 2, "argument_missing"],
    [["--sort", "size"], 2, "field_invalid"],
    [["--consolidate", "6"], 2, "argument_missing"],
    [["a", "b"], 2, "argument_excess"],
  ])("sessions %j is status %i: %s", async (args, status, code) => {
    expect(await readError(["sessions", ...args], { data })).toMatchObject({ status, code });
  });

  test("a refusal names the option that was given, and never one that is not there", async () => {
    const through = await runCli(["sessions", "cli:anna", "--consolidate", "10"], { data });
    expect(through.stderr).toMatch(/field: --consolidate\n/);
    const id = await runCli(["history", ".."], { data });
    expect(id.stderr).not.toContain("field:");
  });
});

describe("marks", () => {
  test("--consolidate reports where the turn ended, adds nothing twice, and refuses to go back", async () => {
    const folder = folderOfTest();
    await fillStore(folder, entries);
    const consolidate = (position: string, ...more: readonly string[]) =>
      runCli(["sessions", "cli:anna", "--consolidate", position, ...more], { data: folder });
    expect((await consolidate("5")).stdout).toBe("No complete turn up to #5; nothing was added.\n");
    const moved = await consolidate("9", "--summary", "Forty files.");
    expect(moved.stdout).toBe("Consolidated through #6, where the last complete turn ends.\n");
    expect((await consolidate("6")).stdout).toBe("Already consolidated through #6; nothing was added.\n");
    expect(await readJson(["sessions", "cli:anna", "--consolidate", "9"], { data: folder })).toEqual({ through: 6 });
    expect(await consolidate("3")).toMatchObject({ status: 1, stdout: "" });
    expect(await readJson(["show", "12"], { data: folder })).toMatchObject({ through: 6, summary: "Forty files." });
    expect(await readJson(["stats"], { data: folder })).toMatchObject({ entries: 12 });
    const { messages } = await readJson(["history", "cli:anna"], { data: folder });
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(["system", "user", "user"]);
    expect(messages.slice(1)).toEqual([
      { role: "user", content: "Forty files." },
      { role: "user", content: "Thanks" },
    ]);
  });

  test("--clear empties history and nothing else", async () => {
    const folder = folderOfTest();
    await fillStore(folder, entries);
    const { stdout } = await runCli(["sessions", "cli:anna", "--clear"], { data: folder });
    expect(stdout).toBe("Cleared: history starts after #12. Earlier entries stay in the log.\n");
    const receipt = await readJson(["sessions", "cli:anna", "--clear"], { data: folder });
    expect(receipt).toMatchObject({ status: "recorded", position: 13 });
    expect((await runCli(["history", "cli:anna"], { data: folder })).stdout).toMatch(/^No history: /);
    expect(await readJson(["sessions", "cli:anna"], { data: folder })).toMatchObject({ entries: 11, messages: 5 });
  });
});

describe("history", () => {
  test("is a transcript with its speakers, and nothing recorded can pass for one", async () => {
    const { status, stdout, stderr } = await runCli(["history", "cli:anna"], { data });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^system\n {2}Be brief\.\n\nuser\n {2}Which\n {2}files\? evil\n\nassistant\n {2}calls ls /);
    expect(stdout).toMatch(/\ntool(?: ls)?\n {2}file-0\n(?: {2}file-\d+\n){11} {2}… \d+ characters in total\n/);
    expect(stdout).toMatch(/\n\nassistant\n {2}Forty\.\n\nuser\n {2}Thanks\n$/);
    const anthropic = await runCli(["history", "cli:anna", "--format", "anthropic"], { data });
    expect(anthropic.stdout).toMatch(/^system\n {2}Be brief\.\n\nuser\n/);
    expect(anthropic.stdout).toMatch(/\nuser\n {2}→ file-0\n/);
  });

  test("--json is the document of GET /sessions/{id}/history, whole, in both formats", async () => {
    const { openai, anthropic } = await withLibrary(async (recorder) => {
      const session = recorder.session("cli:anna");
      return { openai: await session.history(), anthropic: await session.history({ format: "anthropic" }) };
    });
    expect(await readJson(["history", "cli:anna"], { data })).toEqual({ messages: openai });
    expect(await readJson(["history", "cli:anna", "--format", "anthropic"], { data })).toEqual(anthropic);
    expect(JSON.stringify(openai)).toContain("file-39");
  });

  test("takes the newest messages, and pending calls if requested", async () => {
    const folder = folderOfTest();
    const asked = { kind: "message", session_id: "s", role: "user", content: "Files?" } as const;
    const pending = { kind: "message", session_id: "s", role: "assistant", content: "", tool_calls: [call] } as const;
    await fillStore(folder, [asked, pending]);
    const count = async (...args: readonly string[]) =>
      (await readJson(["history", "s", ...args], { data: folder })).messages.length;
    expect(await count()).toBe(1);
    expect(await count("--include-pending")).toBe(2);
    expect(await count("--max-messages", "0")).toBe(0);
    expect(await count("--max-tokens", "1000")).toBe(1);
  });

  test("of an unknown session there is none, which is no failure", async () => {
    expect(await readJson(["history", "nobody"], { data })).toEqual({ messages: [] });
    const { status, stdout } = await runCli(["history", "nobody"], { data });
    expect([status, stdout]).toEqual([0, 'No history: no entries in session "nobody".\n']);
  });

  test.each<[readonly string[], string]>([
    [["cli:anna", "--format", "gemini"], "field_invalid"],
    [["cli:anna", "--max-messages", "many"], "limit_invalid"],
    [["cli:anna", "--max-tokens", "1k"], "limit_invalid"],
    [[""], "session_id_invalid"],
    [[], "argument_missing"],
  ])("history %j is status 2: %s", async (args, code) => {
    expect(await readError(["history", ...args], { data })).toMatchObject({ status: 2, code });
  });
});
