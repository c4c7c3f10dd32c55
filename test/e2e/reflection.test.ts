// Reflection through every surface: library, HTTP in both forms, and the command line.
import { expect, test } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { memoryRecorder } from "../support/memory-recorder.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";
import { startServer } from "./http-client.js";

const NOTHING = "Nothing recorded yet to reflect on.";
const said = (role: string, content: string, fields: object = {}): EntryInput =>
  ({ kind: "message", session_id: "s", role, content, ...fields }) as EntryInput;
const NAMES = [
  ...[
    "reviewed",
    "users",
    "responses",
    "errors",
    "passed_over",
    "low_confidence",
    "confidence",
    "error_groups",
    "topics",
    "tools",
    "commands",
    "disliked",
  ],
  "decisions",
  ...["trend", "insights", "markdown"],
];

test("the newest so many are reviewed, 30 by default, and as many before are the trend", async () => {
  const { recorder } = memoryRecorder();
  await recorder.append(Array.from({ length: 50 }, (_, n) => ({ kind: "error", error: `e${n}` }) as const));
  await recorder.append(Array.from({ length: 40 }, () => said("user", "x")));
  const report = await recorder.reflect();
  expect(report).toMatchObject({ reviewed: 30, users: 30, errors: 0, trend: { before: { reviewed: 30, errors: 20 } } });
  expect(await recorder.reflect({ limit: 1_000_000 })).toMatchObject({
    reviewed: 90,
    trend: { before: { reviewed: 0 } },
  });
  for (const limit of [0, -3, "0"]) expect(await recorder.reflect({ limit })).toMatchObject({ markdown: NOTHING });
  await expect(recorder.reflect({ limit: "many" })).rejects.toMatchObject({ code: "limit_invalid", field: "limit" });
});

test("what a program injected is not reviewed", async () => {
  const { recorder } = memoryRecorder();
  await recorder.append([
    ...[1, 2, 3].map(() => said("user", "bees", { injected: "reminder" })),
    said("user", "hives"),
  ]);
  expect(await recorder.reflect()).toMatchObject({ reviewed: 1, users: 1, topics: [] });
});

test("an interaction that was completed later counts as answered; raw entries do not count at all", async () => {
  const { recorder } = memoryRecorder();
  const { id } = await recorder.recordInteraction({ prompt: "p" });
  await recorder.append({ kind: "raw", source: "x", record: {} });
  expect(await recorder.reflect()).toMatchObject({ reviewed: 1, users: 1, responses: 0 });
  await recorder.completeInteraction(id, { response: "r" });
  expect(await recorder.reflect()).toMatchObject({ reviewed: 1, users: 1, responses: 1 });
});

test("entries of other kinds are counted as far back as the newest so many reach, with the same filters", async () => {
  const { recorder } = memoryRecorder();
  const raw = { kind: "raw", source: "x", record: {} } as const;
  await recorder.append([raw, said("user", "old"), raw, { ...raw, project: "a" }, said("user", "new"), raw]);
  expect(await recorder.reflect()).toMatchObject({ reviewed: 2, passed_over: 4 });
  expect(await recorder.reflect({ limit: 2 })).toMatchObject({ reviewed: 2, passed_over: 3 });
  expect(await recorder.reflect({ limit: 1 })).toMatchObject({ reviewed: 1, passed_over: 1 });
  expect(await recorder.reflect({ project: "-" })).toMatchObject({ reviewed: 2, passed_over: 3 });
  expect(await recorder.reflect({ kind: "message" })).toMatchObject({ reviewed: 2, passed_over: 0 });
  expect(await recorder.reflect({ role: "user" })).toMatchObject({ reviewed: 2, passed_over: 0 });
});

test("filters are those of lists, and apply to the earlier period too", async () => {
  const { recorder } = memoryRecorder();
  await recorder.append([
    { kind: "error", error: "old", project: "a", created_at: "2026-01-01" },
    { kind: "error", error: "e", project: "a", client: "c" },
    { kind: "error", error: "e", project: "b" },
    said("user", "x", { project: "a" }),
  ]);
  expect(await recorder.reflect({ project: "a" })).toMatchObject({ reviewed: 3, users: 1, errors: 2 });
  expect(await recorder.reflect({ project: "a", since: "2026-11-01" })).toMatchObject({ reviewed: 2, errors: 1 });
  expect(await recorder.reflect({ session_id: "-" })).toMatchObject({ reviewed: 3 });
  expect(await recorder.reflect({ client: "c" })).toMatchObject({ reviewed: 1 });
  expect(await recorder.reflect({ kind: "error", project: "b" })).toMatchObject({ reviewed: 1 });
  expect(await recorder.reflect({ role: "user" })).toMatchObject({ reviewed: 1, users: 1 });
  expect(await recorder.reflect({ kind: "raw" })).toMatchObject({ reviewed: 0, markdown: NOTHING });
  await expect(recorder.reflect({ kind: "gossip" })).rejects.toMatchObject({ code: "kind_unknown" });
});

test("GET /reflection answers with JSON, and with Markdown if the client prefers that", async () => {
  const server = await startServer();
  expect((await server.request("/reflection", { headers: { accept: "text/markdown" } })).text).toBe(NOTHING);
  await server.post("/entries", [said("user", "hello"), { kind: "error", error: "boom" }]);
  const { status, body, headers } = await server.get("/reflection");
  expect(status).toBe(200);
  expect(Object.keys(body)).toEqual(NAMES);
  expect(headers.get("vary")).toBe("Accept, Accept-Encoding");
  const kindOf = async (accept: string): Promise<string | null> =>
    (await server.request("/reflection?limit=5", { headers: { accept } })).headers.get("content-type");
  for (const accept of ["*/*", "application/json", "text/html, */*;q=0.1", "text/markdown;q=0.1, */*", "image/png"]) {
    expect(await kindOf(accept), accept).toBe("application/json; charset=utf-8");
  }
  for (const accept of ["text/markdown", "text/*", "application/json;q=0.5, text/markdown", "Text/Markdown; q=1"]) {
    expect(await kindOf(accept), accept).toBe("text/markdown; charset=utf-8");
  }
  const markdown = await server.request("/reflection", { headers: { accept: "text/markdown" } });
  expect(markdown.text).toBe(body.markdown);
  expect(markdown.text).toContain("Looked at 2 entries: 1 from users, 0 responses, 1 error.");
});

test.each([
  ["limit=many", "limit_invalid"],
  ["since=yesterday-ish", "time_invalid"],
  ["kind=gossip", "kind_unknown"],
  ["role=king", "role_unknown"],
  ["limits=3", "parameter_unknown"],
])("GET /reflection?%s is refused", async (query, code) => {
  const server = await startServer();
  const { status, body } = await server.request(`/reflection?${query}`, { headers: { accept: "text/markdown" } });
  expect({ status, code: body.error.code }).toEqual({ status: 400, code });
});

test("hansard reflect prints Markdown if it is piped, without control sequences", async () => {
  const data = folderOfTest();
  await fillStore(data, [{ kind: "error", error: "\u001b[31mred\u001b[0m\u0007 alert", session_id: "s" }]);
  const { status, stdout } = await runCli(["reflect", "--limit", "30"], { data });
  expect(status).toBe(0);
  expect(stdout).toMatch(/^## Self-reflection\n\nLooked at 1 entry: 0 from users, 0 responses, 1 error\.\n/);
  expect(stdout).toMatch(/\n- \S+Z red alert \(#1\)\n/);
  expect((await runCli(["reflect", "--session", "other", "--limit", "30"], { data })).stdout).toBe(`${NOTHING}\n`);
});

test("hansard reflect --json prints the HTTP document", async () => {
  const data = folderOfTest();
  await fillStore(data, [said("user", "a"), said("user", "b")]);
  const document = await readJson(["reflect", "--limit", "1"], { data });
  expect(Object.keys(document)).toEqual(NAMES);
  expect(document.reviewed).toBe(1);
  expect(await readError(["reflect", "--limit", "x"], { data })).toMatchObject({ status: 2, code: "limit_invalid" });
});

test("large entries are looked at one after the other, and pasted files in time that does not grow with them", async () => {
  const recorder = await openRecorder({ data: folderOfTest() });
  const pasted = "数据库迁移失败".repeat(300_000);
  for (let n = 0; n < 3; n += 1) await recorder.append([said("user", `${pasted}${n}`)]);
  const before = process.cpuUsage();
  const report = await recorder.reflect();
  // Of processor time, since other work on the machine counts on the clock.
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(30_000);
  expect(report.topics.length).toBeGreaterThan(0);
  await recorder.close();
});
