// The command line on PostgreSQL, and `hansard copy`: a record moves between a folder and PostgreSQL with its positions and hashes, and a broken copy goes on.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import pico from "picocolors";
import { expect, test, vi } from "vitest";
import { openRecorder } from "../../src/index.js";
import type { Invocation } from "../../src/surfaces/cli/command.js";
import { copyCommand } from "../../src/surfaces/cli/commands/copy.js";
import type { Pane } from "../../src/surfaces/cli/text/terminal.js";
import { storeAddress } from "../support/postgres.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, interactions, readError, readJson, resultOf, runCli, startCli } from "./cli-run.js";

test("a folder goes to PostgreSQL and back, and all three are the same log", async () => {
  const [first, database, second] = [join(folderOfTest(), "a"), await newDatabase(), join(folderOfTest(), "b")];
  await fillStore(first, interactions(1_200));
  expect(await readJson(["copy", "--from", first, "--to", database])).toMatchObject({ copied: 1_200, existing: 0 });
  expect(await readJson(["copy", "--from", database, "--to", second])).toMatchObject({ copied: 1_200, existing: 0 });
  expect(new Set(await Promise.all([first, database, second].map(wholeExport))).size).toBe(1);
  for (const data of [database, second]) expect(await readJson(["verify"], { data })).toMatchObject({ ok: true });
});

test("a copy says whether the target has keys, and what to do where it has none", async () => {
  const [first, second] = [join(folderOfTest(), "a"), join(folderOfTest(), "b")];
  await fillStore(first, interactions(1));
  await readJson(["keys", "create", "--scope", "admin"], { data: first });
  expect(await readJson(["copy", "--from", first, "--to", second])).toMatchObject({ has_keys: false });
  const { stdout } = await runCli(["copy", "--from", first, "--to", second]);
  expect(stdout.replaceAll("\n", " ")).toContain(`There are no keys in ${second} yet`);
});

test("what was recorded since the last copy is brought by the next one, and ids stay taken", async () => {
  const [folder, database] = [join(folderOfTest(), "a"), await newDatabase()];
  await fillStore(folder, [{ kind: "interaction", id: "q", prompt: "why" }]);
  await readJson(["copy", "--from", folder, "--to", database]);
  await fillStore(folder, [{ kind: "response", id: "r", interaction_id: "q", response: "because" }]);
  expect(await readJson(["copy", "--from", folder, "--to", database])).toMatchObject({ copied: 1, existing: 1 });
  const recorder = await openRecorder({ data: database });
  try {
    expect(await recorder.getInteraction("q")).toMatchObject({ response: "because" });
    const again = recorder.completeInteraction("q", { response: "otherwise" });
    await expect(again).rejects.toMatchObject({ code: "already_completed" });
  } finally {
    await recorder.close();
  }
});

test("erased entries are copied as erased, in both directions; what was forgotten since goes in the copy too", async () => {
  const [folder, database, back] = [join(folderOfTest(), "a"), await newDatabase(), join(folderOfTest(), "b")];
  await fillStore(
    folder,
    interactions(20).map((entry, at) => ({ ...entry, id: `e${at + 1}` })),
  );
  await forget(folder, "e3");
  await readJson(["copy", "--from", folder, "--to", database]);
  expect(await readJson(["verify"], { data: database })).toMatchObject({ ok: true, erased: 1 });
  await forget(folder, "e7");
  const again = await readJson(["copy", "--from", folder, "--to", database]);
  expect(again).toMatchObject({ copied: 2 });
  expect(again).not.toHaveProperty("left");
  await readJson(["copy", "--from", database, "--to", back]);
  for (const data of [database, back]) {
    expect(await readJson(["verify"], { data })).toMatchObject({ ok: true, erased: 2 });
    expect((await runCli(["show", "7", "--json"], { data })).stdout).toContain('"erased":true');
  }
  expect(new Set(await Promise.all([folder, database, back].map(wholeExport))).size).toBe(1);
  const input = JSON.stringify({ id: "e3", prompt: "once more" });
  expect(await readJson(["record"], { data: back, input })).toMatchObject({ status: "already_recorded" });
});

test("a copy that is killed goes on where it stopped", async () => {
  const [folder, database] = [join(folderOfTest(), "a"), await newDatabase()];
  const long = "much to copy ".repeat(300);
  await fillStore(
    folder,
    interactions(12_000).map((entry) => ({ ...entry, response: long })),
  );
  const killed = startCli(["copy", "--from", folder, "--to", database]);
  const target = await openRecorder({ data: database });
  try {
    // Asked of the log alone: an index that follows meanwhile would make the answer come after the copy's end.
    await vi.waitUntil(async () => (await target.getEntry(1)) !== undefined, { timeout: 30_000, interval: 10 });
    killed.kill("SIGKILL");
    expect((await resultOf(killed)).status).toBeNull();
  } finally {
    await target.close();
  }
  const { copied, existing } = await readJson(["copy", "--from", folder, "--to", database]);
  expect(existing).toBeGreaterThan(0);
  expect(copied).toBeGreaterThan(0);
  expect(copied + existing).toBe(12_000);
  expect(await wholeExport(database)).toBe(await wholeExport(folder));
});

test("on a terminal a bar shows how far it has come", async () => {
  const [folder, database] = [join(folderOfTest(), "a"), await newDatabase()];
  await fillStore(folder, interactions(2_500));
  const [out, err] = [terminal(), terminal()];
  const options = { from: folder, to: database };
  const settings = {} as Invocation["settings"];
  const screen = { out: out.pane, err: err.pane };
  expect(await copyCommand.run({ operands: [], options, settings, screen, json: false })).toBe(0);
  expect(stripVTControlCharacters(err.written.join("\n"))).toMatch(/40 %, 1,000 of 2,500[\s\S]*100 %, 2,500 of 2,500/);
  const [copied, hash, ...note] = out.written.join("").trimEnd().split("\n");
  expect(copied).toBe("Copied 2,500 entries");
  expect(hash).toMatch(/^head hash [0-9a-f]{64}$/);
  expect(note.join(" ")).toContain(
    `${folder} is unchanged. Not copied: API keys, seals and their signing key, and the progress of watched files.`,
  );
  expect(note.join(" ")).toMatch(/There are no keys in .* yet: .*keys create --scope admin/s);
});

test("a target with entries of its own is refused, and nothing changes", async () => {
  const [folder, database] = [join(folderOfTest(), "a"), await newDatabase()];
  await fillStore(folder, interactions(3));
  await fillStore(database, interactions(2));
  const before = await readJson(["verify"], { data: database });
  expect(await readError(["copy", "--from", folder, "--to", database])).toMatchObject({
    status: 1,
    code: "copy_target_differs",
    field: "--to",
  });
  expect(await readJson(["verify"], { data: database })).toEqual(before);
});

test("both places have to be named, and to differ", async () => {
  expect(await readError(["copy", "--from", "a"])).toMatchObject({ status: 2, field: "--to" });
  expect(await readError(["copy", "--from", "a", "--to", "./a"])).toMatchObject({ status: 2, field: "--to" });
  const missing = join(folderOfTest(), "nowhere");
  expect(await readError(["copy", "--from", missing, "--to", "x"])).toMatchObject({ status: 1, code: "store_missing" });
});

test("every command takes the address of a database, and none shows its password", async () => {
  const data = await newDatabase();
  const recorded = await runCli(["record", "--prompt", "needle in a database", "--session", "s"], { data });
  expect(recorded).toMatchObject({ status: 0 });
  expect(await readJson(["list"], { data })).toMatchObject({ entries: [{ prompt: "needle in a database" }] });
  expect(await readJson(["search", "needle"], { data })).toMatchObject({ results: [{ position: 1 }] });
  expect(await readJson(["sessions"], { data })).toMatchObject({ sessions: [{ session_id: "s" }] });
  expect(await readJson(["stats"], { data })).toMatchObject({ entries: 1, bytes: 0, files: [] });
  expect(await readJson(["doctor", "--rebuild-index"], { data })).toMatchObject({ ok: true });
  for (const command of ["stats", "doctor", "verify"]) {
    const { status, stdout, stderr } = await runCli([command], { data });
    expect(status, stderr).toBe(0);
    expect(stdout + stderr).not.toContain("secret");
  }
  const wrong = data.replace("secret", "mistaken");
  const { stderr, ...refused } = await runCli(["list"], { data: wrong });
  expect(refused).toEqual({ status: 1, stdout: "" });
  expect(stderr).not.toContain("mistaken");
});

async function wholeExport(data: string): Promise<string> {
  const { status, stdout, stderr } = await runCli(["export"], { data });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  return stdout;
}

async function forget(data: string, id: string): Promise<void> {
  await readJson(["forget", "--entry", id, "--reason", "it was asked for", "--yes"], { data });
}

function terminal(): { readonly pane: Pane; readonly written: string[] } {
  const written: string[] = [];
  const colours = pico.createColors(true);
  return { written, pane: { isTerminal: true, columns: 80, colours, write: (text) => void written.push(text) } };
}

function newDatabase(): Promise<string> {
  return storeAddress(`copy_${randomUUID()}`);
}
