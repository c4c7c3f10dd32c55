// `hansard search`: for people, for programs and for agents.
import { beforeAll, expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { markedLine } from "../../src/surfaces/cli/text/marked-text.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";

const data = folderOfFile();
const at = (minute: number) => `2026-11-15T06:${minute}:37.123Z`;

const entries: readonly EntryInput[] = [
  { kind: "message", created_at: at(10), session_id: "s:1", role: "user", content: "a timeout\nagain", project: "web" },
  { kind: "error", created_at: at(11), error: "timeout \u001b[31mred\u001b]0;owned\u0007 \u202eevil", project: "api" },
  { kind: "tool_call", created_at: at(12), tool: "ping", result: "-x and timeout" },
];

beforeAll(() => fillStore(data, entries));

test("shows hits newest first, which entry it is and the words around the match", async () => {
  const { status, stdout, stderr } = await runCli(["search", "timeout"], { data });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toBe(
    [
      "#3  2026-11-15 06:12  tool_call\n    -x and timeout\n",
      "#2  2026-11-15 06:11  error  api\n    timeout red evil\n",
      "#1  2026-11-15 06:10  user  a timeout again  s:1  web\n    a timeout again\n",
    ].join("\n"),
  );
});

test("a hit in a context says how often it was given", async () => {
  const given = folderOfTest();
  const context_pack = { system: "Never push to main." };
  const turn = { kind: "interaction", created_at: at(10), session_id: "s:1", context_pack } as const;
  await fillStore(given, [
    { ...turn, prompt: "one" },
    { ...turn, prompt: "two" },
    { ...turn, session_id: "s:2", prompt: "three" },
  ]);
  const { stdout } = await runCli(["search", "in:context push"], { data: given });
  expect(stdout).toContain("#2  2026-11-15 06:10  interaction  given 2 times  one  s:1\n    Never push to main.\n");
  expect(stdout).toContain("#3  2026-11-15 06:10  interaction  given 1 time  three  s:2\n");
});

test("matches in kinds that only --kind finds are counted below, and memories say their status", async () => {
  const folder = folderOfTest();
  const note = { kind: "raw", source: "otlp", record: { text: "a timeout" } } as const;
  await fillStore(folder, [...entries, note, note]);
  const content = "Every timeout is 30 seconds long";
  const { id } = await readJson(["memories", "add", content, "--type", "identity"], { data: folder });
  const { stdout } = await runCli(["search", "timeout", "--limit", "1"], { data: folder });
  expect(stdout).toMatch(/^#3 .*\n {4}-x and timeout\n\nNot shown: 2 with kind:raw, 1 with kind:memory\n$/);
  expect((await runCli(["search", "seconds"], { data: folder })).stdout).toBe(
    "Nothing recorded matches 'seconds'.\n\nNot shown: 1 with kind:memory\n",
  );
  const found = await runCli(["search", "seconds", "--kind", "memory"], { data: folder });
  expect(found.stdout).toMatch(
    /^#\d+ {2}\S+ \S+ {2}memory_proposed {2}active.*\n {4}Every timeout is 30 seconds long\n$/,
  );
  expect(await readJson(["search", "seconds"], { data: folder })).toMatchObject({
    results: [],
    elsewhere: { memory: 1 },
  });
  expect((await runCli(["search", "timeout", "--text"], { data: folder })).stdout).toMatch(/^3 found/);
  expect((await runCli(["search", "seconds", "--text"], { data: folder })).stdout).toBe(
    "Nothing recorded matches 'seconds'.\n",
  );
  expect(id).toMatch(/./);
});

test("words are one query, filters typed or given", async () => {
  expect((await readJson(["search", "timeout", "kind:error"], { data })).results).toMatchObject([{ position: 2 }]);
  expect((await readJson(["search", "timeout", "--project", "web"], { data })).results).toMatchObject([
    { position: 1 },
  ]);
  expect((await readJson(["search", "--role", "user"], { data })).results).toMatchObject([{ position: 1 }]);
  expect((await readJson(["search", "--session", "-", "timeout"], { data })).results).toHaveLength(2);
  expect((await readJson(["search", "--until", "2026-11-15T06:10:40Z", "timeout"], { data })).results).toHaveLength(1);
  expect((await readJson(["search", "timeout -again"], { data })).results).toHaveLength(2);
  expect((await readJson(["search", '"-x and"'], { data })).results).toMatchObject([{ position: 3 }]);
});

test("--json is the document of GET /search, page by page", async () => {
  const first = await readJson(["search", "timeout", "--limit", "2", "--facets"], { data });
  expect(first).toMatchObject({ results: [{ position: 3, field: "result" }, { position: 2 }], facets: { counted: 3 } });
  const second = await readJson(["search", "timeout", "--limit", "2", "--cursor", first.next_cursor], { data });
  expect(second).toMatchObject({ results: [{ position: 1 }], next_cursor: null });
});

test("further hits are announced on standard error", async () => {
  const { stdout, stderr } = await runCli(["search", "timeout", "--limit", "1", "--facets"], { data });
  expect(stderr).toMatch(/^1 shown; for more add\n--cursor \S+\n$/);
  expect(stdout).toContain("3 found\nkinds     error 1, message 1, tool_call 1\n");
});

test("--text is what session_history answers, free of control sequences", async () => {
  const { stdout } = await runCli(["search", "timeout", "--text"], { data });
  expect(stdout).toBe(
    [
      "3 found for 'timeout', newest first:",
      "[2026-11-15T06:12:37] tool:ping → -x and timeout",
      "[2026-11-15T06:11:37] ERROR: timeout red evil",
      "[2026-11-15T06:10:37] user: a timeout again (s:1)\n",
    ].join("\n"),
  );
  const none = await runCli(["search", "a", "timeout", "--text", "--role", "assistant"], { data });
  expect(none).toEqual({ status: 0, stderr: "", stdout: "Nothing recorded matches 'a timeout'.\n" });
});

test("nothing found is said, and is no failure", async () => {
  expect(await runCli(["search", "no such\u001b[31m thing"], { data })).toEqual({
    status: 0,
    stdout: "Nothing recorded matches 'no such thing'.\n",
    stderr: "",
  });
  expect((await runCli(["search", "--kind", "decision"], { data })).stdout).toBe("Nothing recorded matches.\n");
});

test.each<[readonly string[], string, number]>([
  [["search"], "query_empty", 2],
  [["search", "kind:boo"], "kind_unknown", 2],
  [["search", "x", "--role", "boss"], "role_unknown", 2],
  [["search", "x", "--since", "never"], "time_invalid", 2],
  [["search", "x", "--limit", "many"], "limit_invalid", 2],
  [["search", "x", "--text"], "option_misplaced", 2],
])("%j is refused with %s", async (args, code, status) => {
  expect(await readError(args, { data })).toMatchObject({ code, status });
});

test("an error in the query is explained without naming an option that was not given", async () => {
  const { status, stderr } = await runCli(["search", "x", "role:boss"], { data });
  expect(status).toBe(2);
  expect(stderr).toContain('"role:boss" at character 3 of the query: unknown role "boss"');
  expect(stderr).not.toContain("--q");
});

test("an excluded word that looks like an option gets a hint how to write it", async () => {
  const { status, stderr } = await runCli(["search", "timeout", "-again"], { data });
  expect(status).toBe(2);
  expect(stderr).toContain("unknown option '-again'");
  expect(stderr).toContain("hansard search -- one -other");
  const { stdout } = await runCli(["search", "--limit", "5", "--", "timeout", "-again"], { data });
  expect(stdout).toMatch(/^#3 .*\n.*\n\n#2 /);
});

test("facets that do not name every session still count all that was found", async () => {
  const many = folderOfTest();
  await fillStore(
    many,
    Array.from({ length: 150 }, (_, nth): EntryInput => ({ kind: "error", error: "boom", session_id: `s${nth}` })),
  );
  const { stdout } = await runCli(["search", "boom", "--limit", "0", "--facets"], { data: many });
  expect(stdout).toContain("\n150 found\nkinds     error 150\n");
  expect(stdout).toMatch(/\nsessions {2}s0 1, .*, …\n$/);
});

test("a folder without a store is said to be none", async () => {
  expect(await readError(["search", "x", "--data", folderOfTest()])).toMatchObject({
    code: "store_missing",
    status: 1,
  });
});

test("marks survive cleaning and wrapping, and recorded text cannot make its own", () => {
  const bold = (text: string): string => `<${text}>`;
  const snippet = "a \ufdd0bc\u001b[1md  e\nf";
  const { text, paint } = markedLine({ snippet, matches: [[2, 11]] }, bold);
  expect(paint(text)).toBe("a <bcd > e f");
  expect(paint("\ufdd0one\n  two\ufdd1 three")).toBe("<one>\n<  two> three");
});
