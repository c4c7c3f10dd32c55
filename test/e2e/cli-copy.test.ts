// The command line on PostgreSQL, and `hansard copy`: a record moves between a folder and PostgreSQL with its positions and hashes, and a broken copy goes on.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { storeAddress } from "../support/postgres.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { fillStore, interactions, readError, readJson, runCli } from "./cli-run.js";

test("a folder goes to PostgreSQL and back, and all three are the same log", async () => {
  const [first, database, second] = [join(folderOfTest(), "a"), await newDatabase(), join(folderOfTest(), "b")];
  await fillStore(first, interactions(1_200));
  expect(await readJson(["copy", "--from", first, "--to", database])).toMatchObject({ copied: 1_200, existing: 0 });
  expect(await readJson(["copy", "--from", database, "--to", second])).toMatchObject({ copied: 1_200, existing: 0 });
  expect(new Set(await Promise.all([first, database, second].map(wholeExport))).size).toBe(1);
  for (const data of [database, second]) expect(await readJson(["verify"], { data })).toMatchObject({ ok: true });
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

test("a target with entries of its own is refused, and nothing changes", async () => {
  const [folder, database] = [join(folderOfTest(), "a"), await newDatabase()];
  await fillStore(folder, interactions(3));
  await fillStore(database, interactions(2));
  const before = await readJson(["verify"], { data: database });
  expect(await readError(["copy", "--from", folder, "--to", database])).toMatchObject({
    ...{ status: 1, code: "copy_target_differs", field: "--to" },
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

function newDatabase(): Promise<string> {
  return storeAddress(`copy_${randomUUID()}`);
}
