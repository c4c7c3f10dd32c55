// Sessions on the command line: folded with their subagents, in 80 columns, named by the beginning of their id, in local times.
import { expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";

const A = "0a1b2c3d-0000-4000-8000-000000000001";
const B = "0a1b9999-0000-4000-8000-000000000002";
const KINDS = "message,session_info,error";
const data = folderOfFile();

const entries: readonly EntryInput[] = [
  {
    kind: "message",
    session_id: A,
    project: "atlas",
    client: "claude-code",
    created_at: "2026-03-02T23:30:00Z",
    role: "user",
    content: "Fix the login",
  },
  { kind: "session_info", session_id: `${A}/agent-1`, created_at: "2026-03-02T23:31:00Z", parent: A, title: "Explore" },
  { kind: "error", session_id: B, created_at: "2025-03-02T10:00:00Z", error: "e" },
];

test.sequential("the list folds subagents, --all shows them, and other years have their year", async () => {
  await fillStore(data, entries);
  const folded = await readJson(["sessions"], { data });
  expect(folded.sessions.map(({ session_id }: { session_id: string }) => session_id)).toEqual([A, B]);
  const all = await readJson(["sessions", "--all"], { data });
  expect(all.sessions).toHaveLength(3);
  const { stdout } = await runCli(["sessions", "--timezone", "Asia/Tokyo"], { data });
  expect(stdout).toMatch(/^03-03 08:30 +0a1b2c3d +atlas +claude-code/m);
  expect(stdout).toMatch(/^2025-03-02 +0a1b9999/m);
});

test.sequential("the beginning of an id names a session in every command; its subagents do not stand in the way", async () => {
  expect(await readJson(["sessions", "0a1b2"], { data })).toMatchObject({ session_id: A });
  expect(await readJson(["history", "0a1b2c3d"], { data })).toMatchObject({ messages: [{ content: "Fix the login" }] });
  expect(await readJson(["list", "--session", "0a1b2"], { data })).toMatchObject({ entries: [{ session_id: A }] });
  const { stdout } = await runCli(["export", "--session", "0a1b9", "--format", "markdown"], { data });
  expect(stdout).toContain(B);
  const ambiguous = await readError(["sessions", "0a1b"], { data });
  expect(ambiguous).toMatchObject({ status: 1, code: "session_ambiguous" });
  expect(ambiguous.message).toContain("Fix the login");
  expect(await readError(["sessions", "0a1"], { data })).toMatchObject({ status: 1, code: "session_not_found" });
});

test.sequential("times without a zone are those of the time zone", async () => {
  const since = async (time: string) =>
    (await readJson(["list", "--kind", KINDS, "--since", time, "--timezone", "Asia/Tokyo"], { data })).entries.length;
  expect(await since("2026-03-03")).toBe(2);
  expect(await since("2026-03-03 08:31")).toBe(1);
  expect(await since("2026-03-02T23:31:00Z")).toBe(1);
  const until = await readJson(["list", "--kind", KINDS, "--until", "2026-03-02", "--timezone", "Asia/Tokyo"], {
    data,
  });
  expect(until.entries).toHaveLength(1);
  expect(await readError(["list", "--timezone", "Nowhere/Else"], { data })).toMatchObject({ code: "field_invalid" });
});
