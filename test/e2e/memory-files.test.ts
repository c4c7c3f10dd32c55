// Memory files of other tools: what the record says of their statements, and which become candidates.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { folderOfFile } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";

const data = folderOfFile();
const files = folderOfFile();
const file = join(files, "CLAUDE.md");
const lines = [
  "# Notes",
  "",
  "- The staging database listens on port 5433 behind the gateway",
  "- Release notes of atlas are written on Thursdays by the bot",
  "- The nightly backup of atlas runs at 5 in the morning",
  "- Elephants are the patron animals of the accounting department",
  "- The history of our repository is never rewritten by nobody",
];

beforeAll(async () => {
  const said = { kind: "message", session_id: "s", project: "atlas" } as const;
  await fillStore(data, [
    { ...said, id: "u1", role: "user", content: "The staging database listens on port 5433 behind the gateway." },
    { ...said, id: "a1", role: "assistant", content: "Release notes of atlas are written on Thursdays by the bot." },
    { ...said, id: "u2", role: "user", content: "The nightly backup of atlas runs at 3 in the morning." },
    { ...said, id: "u3", role: "user", content: "The histories of our repositories are never rewritten, by nobody." },
    // So many that an index may not have the texts of all of them yet.
    ...Array.from({ length: 500 }, (_, nth) => ({ ...said, role: "user", content: `And then step ${nth} of many.` })),
  ]);
  writeFileSync(file, lines.join("\n"));
});

test("an audit says of each statement who said so, without writing anything", async () => {
  const before = (await readJson(["stats"], { data })).entries;
  const { files: audits } = await readJson(["memories", "audit", file], { data });
  const verdicts = audits[0].statements.map(({ line, verdict }: { line: number; verdict: string }) => [line, verdict]);
  expect(verdicts).toEqual([
    [3, "quoted"],
    [4, "quoted"],
    [5, "against"],
    [6, "not_found"],
    [7, "quoted"],
  ]);
  expect(audits[0].statements[0].evidence.entry_id).toBe("u1");
  expect((await readJson(["stats"], { data })).entries).toBe(before);
  const { stdout } = await runCli(["memories", "audit", file], { data });
  expect(stdout).toContain("3 quoted, 1 against, 1 not_found");
  expect((await readError(["memories", "audit", join(files, "none.md")], { data })).code).toBe("file_not_read");
});

test("a command ran, or another one ran in its place", async () => {
  const own = join(files, "AGENTS.md");
  const store = join(data, "ran");
  const call = {
    kind: "tool_call",
    session_id: "s",
    project: "atlas",
    tool: "Bash",
    created_at: "2026-11-01T06:00:00Z",
  } as const;
  await fillStore(store, [
    ...["1", "2", "3"].map((nth) => ({
      ...call,
      args: { command: "npm test" },
      result: `${nth} passed`,
      is_error: false,
    })),
    {
      ...call,
      args: { command: "npm test" },
      result: "Error: 1 failed",
      is_error: true,
      created_at: "2026-11-02T06:00:00Z",
    },
    { ...call, args: { command: "make docs" }, result: "ok", is_error: false },
  ]);
  writeFileSync(
    own,
    "- Run `npm test` before every commit\n- Run the tests with `yarn test`\n- Read `docs/one.md` first\n",
  );
  const { files: audits } = await readJson(["memories", "audit", own], { data: store });
  expect(audits[0].statements).toMatchObject([
    {
      verdict: "ran",
      reason: "`npm test` ran 4 times and failed once; the last time on 2026-11-02.",
      runs: { command: "npm test", worked: 3, failed: 1, last_at: "2026-11-02T06:00:00.000Z" },
    },
    { verdict: "against", reason: "`npm test` ran 4 times, and `yarn test` never." },
    { verdict: "not_found" },
  ]);
});

test("the file is no evidence for its own text, even if it was read, written or shown in the session", async () => {
  const about = { session_id: "copies", project: "atlas" } as const;
  const numbered = lines.map((line, at) => `${String(at + 1).padStart(6)}→${line}`).join("\n");
  const text = lines.join("\n");
  await fillStore(data, [
    { kind: "tool_call", ...about, tool: "Read", args: { file_path: "CLAUDE.md" }, result: numbered },
    { kind: "tool_call", ...about, tool: "Write", args: { file_path: "CLAUDE.md", content: text }, result: "ok" },
    { kind: "message", ...about, role: "user", content: `Contents of CLAUDE.md:\n\n${text}\n\nGo on.` },
  ]);
  const { files: audits } = await readJson(["memories", "audit", file], { data });
  const verdicts = audits[0].statements.map(({ verdict }: { verdict: string }) => verdict);
  expect(verdicts).toEqual(["quoted", "quoted", "against", "mentioned", "quoted"]);
  expect(audits[0].statements[3].reason).toContain("given to models");
});

test("importing one proposes what the record supports, once, and says why the rest is left out", async () => {
  const report = await readJson(["import", file], { data });
  expect(report).toMatchObject({ files: 1, sessions: 0, existing: 0 });
  expect(report.added).toBeGreaterThanOrEqual(1);
  expect(report.rejected).toContainEqual({ file, line: 6, reason: expect.stringMatching(/^evidence: /) });
  const { memories } = await readJson(["memories", "--source", "import"], { data });
  expect(memories).toContainEqual(
    expect.objectContaining({
      status: "candidate",
      project: "atlas",
      content: "The staging database listens on port 5433 behind the gateway",
    }),
  );
  const folder = join(files, "memory");
  mkdirSync(folder);
  writeFileSync(join(folder, "notes.md"), "- The staging database listens on port 5433 behind the gateway\n");
  expect(await readJson(["import", folder], { data })).toMatchObject({ files: 1, added: 0, existing: 1, rejected: [] });
});
