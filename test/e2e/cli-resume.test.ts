// `hansard lost` and `hansard resume`: what is gone, and how it comes back.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { fixturePath } from "../support/fixtures.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";

const folder = folderOfFile();
const data = join(folder, "record");
const home = join(folder, "home");
const work = join(folder, "wörk dir");
const own = { data, env: { HOME: home } };
const session_id = "9f0c7a52-1111-4222-8333-444455556666";
const transcript = join(home, ".claude", "projects", "-srv-shop", `${session_id}.jsonl`);

beforeAll(async () => {
  for (const path of [work, join(transcript, "..")]) mkdirSync(path, { recursive: true });
  cpSync(fixturePath("import", "claude-code", "shop", `${session_id}.jsonl`), transcript);
  expect((await runCli(["import", "--yes"], own)).status).toBe(0);
  const entry = { kind: "message", session_id: "cli:anna" } as const;
  await fillStore(data, [
    { ...entry, role: "user", content: "My key is sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJ, which one?" },
    { ...entry, id: "gone", role: "assistant", content: "This one." },
    { ...entry, role: "user", content: "Thanks." },
    { ...entry, role: "assistant", content: "Any time." },
    { ...entry, session_id: "cli:andy", role: "user", content: "Hello" },
  ]);
});

const resume = (...args: readonly string[]) => ["resume", ...args];

describe("lost", () => {
  test("names nothing while every source is there", async () => {
    const { status, stdout } = await runCli(["lost"], own);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "No session has lost its source.\n" });
    expect(await readJson(["lost", "--json"], own)).toEqual({ sessions: [] });
  });

  test("names what was deleted since, in 80 columns, and how to bring it back", async () => {
    rmSync(transcript);
    const { stdout } = await runCli(["lost"], own);
    expect(stdout).toMatch(/not seen +deleted +claude-code +9f0c7a52/);
    expect(stdout).toContain("1 session has lost its source. All entries are kept");
    const { sessions } = await readJson(["lost", "--json"], own);
    expect(sessions).toMatchObject([{ session_id, tool: "claude-code", path: transcript, how: "deleted", parent: "" }]);
    expect(sessions[0]).not.toHaveProperty("source_deleted_at");
  });

  test("a file that its tool moved is not lost", async () => {
    const moved = join(home, ".claude", "projects", "archive", `${session_id}.jsonl`);
    mkdirSync(join(moved, ".."), { recursive: true });
    cpSync(fixturePath("import", "claude-code", "shop", `${session_id}.jsonl`), moved);
    expect(await readJson(["lost", "--json"], own)).toEqual({ sessions: [] });
    rmSync(moved);
  });
});

describe("resume", () => {
  test("refuses where the session's folder is gone, and writes nothing without a yes", async () => {
    const gone = await readError(resume("9f0c7a52", "--to", "claude-code", "--yes", "--json"), own);
    expect(gone).toMatchObject({
      code: "folder_missing",
      field: "--cwd",
      message: expect.stringContaining("/srv/shop"),
    });
    const args = resume("9f0c7a52", "--to", "claude-code", "--cwd", work);
    const { status, stdout, stderr } = await runCli(args, own);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/writes +\d+ messages\n/);
    expect(stderr).toContain("--yes");
    expect(existsSync(join(home, ".claude", "projects", folderName(work)))).toBe(false);
  });

  test("writes the file where the agent looks, for its owner only, and never a second time", async () => {
    const args = resume("9f0c7a52", "--to", "claude-code", "--cwd", work, "--yes");
    const { status, stdout } = await runCli(args, own);
    const path = join(home, ".claude", "projects", folderName(work), `${session_id}.jsonl`);
    expect(status).toBe(0);
    expect(stdout).toContain(`cd '${work}' && claude --resume ${session_id}`);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const lines = readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.every((line) => line.sessionId === session_id)).toBe(true);
    expect(await readError([...args, "--json"], own)).toMatchObject({
      code: "file_exists",
      hint: expect.stringContaining(`claude --resume ${session_id}`),
    });
    // Also where it is in another folder of the agent.
    expect(
      await readError(resume("9f0c7a52", "--to", "claude-code", "--cwd", home, "--yes", "--json"), own),
    ).toMatchObject({
      code: "file_exists",
      message: expect.stringContaining(folderName(work)),
    });
  });

  test("an agent's own folder is where its variable says", async () => {
    const elsewhere = join(folder, "codex-home");
    const env = { HOME: home, CODEX_HOME: elsewhere };
    const args = resume("9f0c7a52", "--to", "codex", "--cwd", work, "--yes", "--json");
    const written = await readJson(args, { data, env });
    expect(written).toMatchObject({ session_id, tool: "codex", cwd: work, left_out: { erased: 0 } });
    expect(written.path.startsWith(join(elsewhere, "sessions"))).toBe(true);
    expect(written.continue_with).toBe(`cd '${work}' && codex resume ${written.id}`);
  });

  test("a session of no agent goes on in the current folder, with its secrets, and says what was erased", async () => {
    expect((await runCli(["forget", "--entry", "gone", "--reason", "test", "--yes"], own)).status).toBe(0);
    const written = await readJson(resume("cli:anna", "--to", "pi", "--yes", "--json"), { ...own, cwd: work });
    expect(written).toMatchObject({ messages: 3, left_out: { erased: 1 } });
    const text = readFileSync(written.path, "utf8");
    expect(text).toContain("sk-ant-api03-AAAABBBB");
    expect(text).not.toContain("This one.");
  });

  test("a beginning of an id is enough where it is the only one; a session without a conversation is refused", async () => {
    const errorOf = (id: string) => readError(resume(id, "--to", "pi", "--yes", "--json"), { ...own, cwd: work });
    expect(await errorOf("cli:an")).toMatchObject({
      code: "session_ambiguous",
      message: expect.stringContaining("cli:andy"),
    });
    expect(await errorOf("cli")).toMatchObject({ code: "session_not_found" });
    expect(await errorOf("nobody")).toMatchObject({ code: "session_not_found" });
    await fillStore(data, [{ kind: "session_info", session_id: "silent", title: "Nothing was said" }]);
    expect(await errorOf("silent")).toMatchObject({ code: "nothing_found" });
    expect(await readError(resume("silent", "--to", "emacs", "--json"), own)).toMatchObject({ field: "--to" });
  });

  test("a folder that cannot be written is one clear error, and leaves nothing behind", async () => {
    const blocked = join(folder, "blocked");
    writeFileSync(blocked, "a file");
    const env = { HOME: home, PI_CODING_AGENT_DIR: blocked };
    const error = await readError(resume("cli:andy", "--to", "pi", "--yes", "--json"), { data, env, cwd: work });
    expect(error).toMatchObject({ code: "file_not_written" });
  });

  test("every written session is in the audit log as an export", async () => {
    const recorder = await openRecorder({ data });
    const { entries } = await recorder.listEntries({ kind: "audit" });
    await recorder.close();
    expect(
      entries.filter((entry) => entry.kind === "audit" && "action" in entry && entry.action === "export").length,
    ).toBeGreaterThan(2);
  });
});

function folderName(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9-]/g, "-");
}
