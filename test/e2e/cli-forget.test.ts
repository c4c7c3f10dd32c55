// `hansard forget`, `retention` and `scrub` as commands: a dry run first, and only --yes does it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { EntryInput } from "../../src/index.js";
import { sampleEntries } from "../support/sample-entries.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, readError, readJson, runCli } from "./cli-run.js";

async function storeWith(entries: readonly EntryInput[]): Promise<string> {
  const data = join(folderOfTest(), "record");
  await fillStore(data, entries);
  return data;
}

describe("forget", () => {
  test("what went is shown as ranges, however much it was", async () => {
    const message = { kind: "message", session_id: "gone", role: "user", content: "x" } as const;
    const kept = { ...message, session_id: "kept" };
    const data = await storeWith([message, message, message, kept, message]);
    await runCli(["forget", "--session", "gone", "--reason", "asked to", "--yes"], { data });
    expect((await runCli(["show", "6"], { data })).stdout).toMatch(/^ {2}Positions +1 to 3, 5$/m);
  });

  test("without --yes says what would go, and does nothing", async () => {
    const data = await storeWith(sampleEntries);
    const args = ["forget", "--entry", "asked", "--reason", "asked to"];
    expect(await readJson(args, { data })).toMatchObject({ dry_run: true, positions: [2, 6], redaction: null });
    const { stdout } = await runCli(args, { data });
    expect(stdout).toBe(
      "Would forget: 2 entries (1 interaction, 1 response)\nNothing was changed. Add --yes to forget.\n",
    );
    expect(await readJson(["verify"], { data })).toMatchObject({ entries: 12, erased: 0 });
  });

  test("with --yes does it, and the log says who", async () => {
    const data = await storeWith(sampleEntries);
    const { status, stdout } = await runCli(["forget", "--session", "s:1", "--reason", "asked to", "--yes"], { data });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^Forgotten: 9 entries \(.*\); #13 records that\n$/)]);
    expect(await readJson(["verify"], { data })).toMatchObject({ ok: true, entries: 14, erased: 9 });
    expect(await readJson(["show", "14"], { data })).toMatchObject({ kind: "audit", action: "forget" });
    expect((await runCli(["list", "--kind", "redaction"], { data })).stdout).toContain("9 entries forgotten: asked to");
    expect(await readJson(["show", "3"], { data })).toMatchObject({ erased: true });
  });

  test.each([
    [["--reason", "r"], 2, "--entry"],
    [["--entry", "a", "--session", "b", "--reason", "r"], 2, "--entry"],
    [["--entry", "asked"], 2, "--reason"],
    [["--entry", "nobody", "--reason", "r"], 1, "entry"],
    [["--project", "nobody", "--reason", "r", "--yes"], 1, "project"],
  ])("%j fails with a hint at what to change", async (args, status, field) => {
    const data = await storeWith(sampleEntries);
    expect(await readError(["forget", ...args], { data })).toMatchObject({ status, field });
  });
});

describe("retention", () => {
  const aged: readonly EntryInput[] = [
    { kind: "tool_call", id: "old", created_at: "2020-01-01T00:00:00Z", tool: "t", result: "x" },
    { kind: "interaction", id: "asked", created_at: "2020-01-01T00:00:00Z", prompt: "p" },
    { kind: "response", id: "answered", interaction_id: "asked", response: "r" },
    { kind: "tool_call", id: "new", tool: "t", result: "y" },
  ];

  test("by kind and age; what belongs to an entry goes with it", async () => {
    const data = await storeWith(aged);
    const args = ["retention", "--kind", "tool_call", "--older-than", "90d"];
    expect(await readJson(args, { data })).toMatchObject({
      dry_run: true,
      rules: [{ positions: [1], redaction: null }],
    });
    expect(await readJson([...args, "--yes"], { data })).toMatchObject({ rules: [{ positions: [1], redaction: 5 }] });
    const all = await readJson(["retention", "--older-than", "2021-01-01", "--yes"], { data });
    expect(all).toMatchObject({ rules: [{ positions: [2, 3], by_kind: { interaction: 1, response: 1 } }] });
    expect(await readJson(["show", "5"], { data })).toMatchObject({
      kind: "redaction",
      scope: "retention",
      reason: "retention: tool_call older than 90d",
    });
    expect(await readJson(["verify"], { data })).toMatchObject({ ok: true, erased: 3 });
    expect(await readJson([...args, "--yes"], { data })).toMatchObject({ rules: [{ entries: 0, redaction: null }] });
  });

  test("rules of the configuration are shown, and applied with --yes", async () => {
    const data = await storeWith(aged);
    const cwd = folderOfTest();
    writeFileSync(join(cwd, "mine.json"), '{"retention":[{"kind":"tool_call","older_than":"1w"}]}');
    expect((await runCli(["retention", "--config", "mine.json"], { data, cwd })).stdout).toContain(
      "tool_call older than 1w\nWould forget: 1",
    );
    expect(await readJson(["retention", "--yes", "--config", "mine.json"], { data, cwd })).toMatchObject({
      rules: [{ entries: 1 }],
    });
    writeFileSync(join(cwd, "mine.json"), '{"retention":[{"kind":"gossip","older_than":"1w"}]}');
    expect(await readError(["retention", "--config", "mine.json"], { data, cwd })).toMatchObject({
      status: 2,
      code: "kind_unknown",
    });
    expect(await readError(["retention", "--older-than", "soon"], { data })).toMatchObject({ code: "time_invalid" });
    expect(await readError(["retention", "--kind", "raw"], { data })).toMatchObject({
      status: 2,
      field: "--older-than",
    });
  });
});

test("scrub lists entries that contain secrets without showing one, and forgets them with --yes", async () => {
  const token = `ghp_${"a1B2".repeat(9)}`;
  const data = await storeWith([
    { kind: "message", id: "leak", session_id: "s", role: "user", content: `my token is ${token}` },
    { kind: "tool_call", id: "clean", tool: "t", result: "nothing here" },
    { kind: "interaction", id: "asked", prompt: "p" },
    { kind: "response", id: "answered", interaction_id: "asked", response: `use ${token}` },
  ]);
  const dry = await runCli(["scrub"], { data });
  expect(dry.stdout).toMatch(/^#1 {2}message {2}leak {2}github_token\n#4 {2}response {2}answered .*\nWould forget: 2/);
  expect(dry.stdout).not.toContain(token);
  const done = await readJson(["scrub", "--yes"], { data });
  expect(done).toMatchObject({
    positions: [1, 4],
    findings: [{ id: "leak", secrets: ["github_token"] }, { position: 4 }],
  });
  expect((await runCli(["scrub"], { data })).stdout).toBe("No secrets found.\n");
  expect(await readJson(["verify"], { data })).toMatchObject({ ok: true, erased: 2 });
});
