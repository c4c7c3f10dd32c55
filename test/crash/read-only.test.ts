// A store that can only be read: on a read-only mount, or as a user who may not write. Everything is found, nothing changes.
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { type CliOptions, type CliResult, runCli } from "../e2e/cli-run.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { withRecorder } from "./sample-store.js";

const ENTRIES = 400;
const original = join(folderOfFile(), "store");
let made: Promise<void> | undefined;

function entries(from: number, through: number): readonly EntryInput[] {
  const numbers = Array.from({ length: through - from + 1 }, (_, nth) => from + nth);
  return numbers.map((nth) => ({
    kind: "message",
    id: `m-${nth}`,
    session_id: `s-${nth % 3}`,
    role: "user",
    content: `needle number ${nth};`,
  }));
}

/** A closed store with a whole index, in a folder of the test's own. */
async function newStore(): Promise<string> {
  made ??= withRecorder(original, async (recorder) => {
    await recorder.append(entries(1, ENTRIES));
    await recorder.search("needle");
  });
  await made;
  const data = join(folderOfTest(), "store");
  cpSync(original, data, { recursive: true });
  return data;
}

/** What a program that was killed leaves: entries that are in the WAL alone. The index has not seen them. */
async function killedStore(): Promise<string> {
  const data = await newStore();
  const recorder = await openRecorder({ data });
  await recorder.append(entries(ENTRIES + 1, ENTRIES + 10));
  const killed = join(folderOfTest(), "store");
  cpSync(data, killed, { recursive: true });
  await recorder.close();
  return killed;
}

/** The ways in which a store is only to be read, and how a command is then run. */
const ways: { readonly [name: string]: (data: string) => CliOptions } = {
  "by a user who may not write": (data) => {
    for (const name of readdirSync(data)) chmodSync(join(data, name), 0o444);
    chmodSync(data, 0o555);
    chmodSync(join(data, ".."), 0o755);
    onTestFinished(() => chmodSync(data, 0o755));
    return { data, unprivileged: true };
  },
  ...(mountsAreAllowed() ? { "on a read-only mount": (data) => ({ data, through: onReadOnlyMount(data) }) } : {}),
};

/** Only within the command's namespace, so it ends with the command. */
function onReadOnlyMount(data: string): readonly string[] {
  const script = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"';
  const flags = process.getuid?.() === 0 ? ["-m"] : ["-rm"];
  return ["unshare", ...flags, "sh", "-c", script, data];
}

function mountsAreAllowed(): boolean {
  const [program = "", ...args] = onReadOnlyMount(folderOfFile());
  return spawnSync(program, [...args, "true"]).status === 0;
}

/** Names, contents and times of all files. */
function stateOf(data: string): readonly unknown[] {
  return readdirSync(data).map((name) => {
    const path = join(data, name);
    return [name, statSync(path).mtimeMs, readFileSync(path).toString("base64")];
  });
}

async function answer(args: readonly string[], options: CliOptions) {
  const { status, stdout, stderr } = await runCli([...args, "--json"], options);
  expect({ status, stderr }, args.join(" ")).toEqual({ status: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** Everything that reads answers as it would elsewhere. */
async function expectWhole(options: CliOptions, count: number): Promise<void> {
  await expectAll(options, count);
  expect((await answer(["search", `"number ${count};"`], options)).results).toMatchObject([{ id: `m-${count}` }]);
  expect(await answer(["show", `m-${count}`], options)).toMatchObject({ content: `needle number ${count};` });
  expect((await answer(["sessions"], options)).sessions).toHaveLength(3);
  expect(await answer(["stats"], options)).toMatchObject({ entries: count });
  const exported = await runCli(["export"], options);
  expect(exported).toMatchObject({ status: 0, stderr: expect.stringMatching(/^The store is read-only.*audit/) });
  expect(exported.stdout.trimEnd().split("\n")).toHaveLength(count + 1);
}

/** Each of the files that are read, log, rows and texts, has all there is: what else reads takes it from these. */
async function expectAll(options: CliOptions, count: number): Promise<void> {
  expect((await answer(["list", "--limit", "500"], options)).entries).toHaveLength(count);
  const { results } = await answer(["search", '"needle number"', "--limit", "500"], options);
  expect(results).toHaveLength(count);
  expect(await answer(["verify"], options)).toMatchObject({ ok: true, entries: count });
}

describe.each(Object.entries(ways))("a store that can only be read, %s,", (_, restricted) => {
  test("answers everything and is unchanged afterwards", async () => {
    const data = await newStore();
    const before = stateOf(data);
    await expectWhole(restricted(data), ENTRIES);
    expect(stateOf(data)).toEqual(before);
  });

  test.each([
    ["is missing", (data: string) => rmSync(join(data, "index.db"))],
    ["is damaged", (data: string) => copyFileSync(join(data, "log.db"), join(data, "index.db"))],
  ])("has an index in memory where that %s", async (_name, lose) => {
    const data = await newStore();
    lose(data);
    const before = stateOf(data);
    const options = restricted(data);
    expect((await answer(["list", "--limit", "500"], options)).entries).toHaveLength(ENTRIES);
    expect((await answer(["search", '"number 7;"'], options)).results).toMatchObject([{ id: "m-7" }]);
    expect(stateOf(data)).toEqual(before);
  });

  test("reads what a killed program left in the WAL, and does not change it", async () => {
    const data = await killedStore();
    expect(readdirSync(data)).toEqual(expect.arrayContaining(["log.db-wal", "log.db-shm"]));
    const before = stateOf(data);
    await expectAll(restricted(data), ENTRIES + 10);
    expect(stateOf(data)).toEqual(before);
  });

  test("reads a WAL without its shared memory, as in a copy", async () => {
    const data = await killedStore();
    for (const name of ["log.db-shm", "index.db-shm"]) rmSync(join(data, name), { force: true });
    const before = stateOf(data);
    await expectAll(restricted(data), ENTRIES + 10);
    expect(stateOf(data)).toEqual(before);
  });

  test("can be read while its owner continues recording", async () => {
    const data = await newStore();
    const recorder = await openRecorder({ data });
    onTestFinished(() => recorder.close());
    await recorder.append(entries(ENTRIES + 1, ENTRIES + 1));
    await recorder.count();
    const options = restricted(data);
    await expectAll(options, ENTRIES + 1);
    if (options.unprivileged === true) chmodSync(data, 0o755);
    await recorder.append(entries(ENTRIES + 2, ENTRIES + 2));
    if (options.unprivileged === true) chmodSync(data, 0o555);
    await expectAll(options, ENTRIES + 2);
  });

  test("can be copied by backup and checked by doctor, and refuses to record", async () => {
    const data = await newStore();
    const options = restricted(data);
    const folder = folderOfTest();
    chmodSync(folder, 0o777);
    const copy = await runCli(["backup", join(folder, "copy.db")], options);
    expect(copy).toMatchObject({ status: 0, stdout: expect.stringContaining(`${ENTRIES} entries, verified`) });
    const { stdout } = await runCli(["doctor", "--json"], options);
    const findings = JSON.parse(stdout).findings as readonly { check: string; level: string; message: string }[];
    expect(findings).toContainEqual(expect.objectContaining({ check: "chain", level: "ok" }));
    const refused: CliResult = await runCli(["record", "--prompt", "x", "--json"], options);
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('"store_not_writable"') });
  });
});
