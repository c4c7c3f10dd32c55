// `hansard doctor`: every way a store can be unwell is named, with what to do, and what can be rebuilt is.
import { chmodSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import { openRecorder } from "../../src/index.js";
import { newEntry } from "../conformance/suites/log-entries.js";
import { withRecorder } from "../crash/sample-store.js";
import { databaseOfTest } from "../support/postgres.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { type CliOptions, fillStore, interactions, readError, readJson, runCli } from "./cli-run.js";
import { startServer } from "./http-client.js";

interface Finding {
  readonly level: string;
  readonly check: string;
  readonly message: string;
  readonly hint?: string;
}

interface Checkup {
  readonly status: number | null;
  readonly ok: boolean;
  readonly findings: readonly Finding[];
  /** The findings that are not ok. */
  readonly troubles: readonly Finding[];
}

async function checkUp(data: string, options: CliOptions = {}): Promise<Checkup> {
  const { status, stdout } = await runCli(["doctor", "--json"], { data, ...options });
  const { ok, findings } = JSON.parse(stdout) as Pick<Checkup, "ok" | "findings">;
  return { status, ok, findings, troubles: findings.filter(({ level }) => level !== "ok") };
}

async function newStore(count = 3): Promise<string> {
  const data = folderOfTest();
  await fillStore(data, interactions(count));
  return data;
}

/** Has the index follow the log to its end. */
async function fillIndex(data: string): Promise<void> {
  await withRecorder(data, (recorder) => recorder.count());
}

/** Bytes in the middle of the file become noise; its head, and with it the format, stays. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, Math.floor(bytes.length / 3));
  writeFileSync(file, bytes);
}

test("a sound store is well in every respect", async () => {
  const data = await newStore();
  await fillIndex(data);
  const { status, ok, findings } = await checkUp(data);
  expect({ status, ok }).toEqual({ status: 0, ok: true });
  expect(findings.map(({ level, check }) => `${level} ${check}`)).toEqual(
    ["node", "folder", "disk", "log", "lock", "index", "chain"].map((check) => `ok ${check}`),
  );
  const { stdout } = await runCli(["doctor"], { data });
  expect(stdout).toContain("✓ chain    the hash chain is intact: 3 entries\n");
  expect(stdout).toMatch(/\nNo problems\.\n$/);
});

test("looking changes nothing: the log has the same bytes afterwards", async () => {
  const data = await newStore();
  const before = readFileSync(join(data, "log.db"));
  await checkUp(data);
  expect(readFileSync(join(data, "log.db")).equals(before)).toBe(true);
});

describe("the log", () => {
  const failing = async (data: string, says: string): Promise<void> => {
    const { status, ok, troubles } = await checkUp(data);
    expect({ status, ok }).toEqual({ status: 1, ok: false });
    expect(troubles).toMatchObject([{ level: "fail", message: expect.stringContaining(says) }]);
    expect(troubles[0]?.hint).toMatch(/\S/);
  };

  test("no folder", () => failing(join(folderOfTest(), "absent"), "there is no folder"));

  test("a folder without a store", () => failing(folderOfTest(), "there is no store"));

  test("the file given in place of its folder: the hint names the folder", async () => {
    const data = await newStore();
    const { troubles } = await checkUp(join(data, "log.db"));
    expect(troubles).toMatchObject([
      { message: expect.stringContaining("is a file"), hint: `Name its folder: --data ${data}` },
    ]);
  });

  test("a text file", async () => {
    const data = folderOfTest();
    writeFileSync(join(data, "log.db"), "Dear diary\n");
    await failing(data, "is not a database");
  });

  test("another program's database", async () => {
    const data = folderOfTest();
    const db = new Database(join(data, "log.db"));
    db.exec("CREATE TABLE cookies (name TEXT)");
    db.close();
    chmodSync(join(data, "log.db"), 0o600);
    await failing(data, "database of another program");
  });

  test("a newer version", async () => {
    const data = await newStore();
    const db = new Database(join(data, "log.db"));
    db.pragma("user_version = 99");
    db.close();
    await failing(data, "written by a newer version of Hansard (format 99;");
  });

  test("a damaged file", async () => {
    const data = await newStore(200);
    damage(join(data, "log.db"));
    await failing(data, "is damaged");
  });

  test("an empty file is new, unless the index expects entries", async () => {
    const data = await newStore();
    await fillIndex(data);
    truncateSync(join(data, "log.db"));
    await failing(data, "is empty, although its index expects 3 entries");
    rmSync(join(data, "index.db"));
    expect(await checkUp(data)).toMatchObject({ status: 0, troubles: [{ level: "warn", check: "log" }] });
  });

  test("a removed entry", async () => {
    const data = await newStore();
    const db = new Database(join(data, "log.db"));
    db.exec("DROP TRIGGER entries_never_deleted; DELETE FROM entries WHERE position = 2");
    db.close();
    await failing(data, "position 2: the entry is missing");
  });

  test("a lock that another program holds", async () => {
    const data = await newStore();
    const db = new Database(join(data, "log.db"));
    onTestFinished(() => void db.close());
    db.exec("BEGIN IMMEDIATE");
    expect(await checkUp(data)).toMatchObject({ status: 0, troubles: [{ level: "warn", check: "lock" }] });
  });
});

describe("permissions", () => {
  test("folder and files that others can reach are a warning with the command that fixes it", async () => {
    const data = await newStore();
    chmodSync(data, 0o755);
    chmodSync(join(data, "log.db"), 0o644);
    const { status, troubles } = await checkUp(data);
    expect(status).toBe(0);
    expect(troubles).toMatchObject([
      { level: "warn", check: "folder", hint: `chmod 700 ${data}` },
      { level: "warn", check: "log", hint: `chmod 600 ${join(data, "log.db")}*` },
    ]);
  });

  test("a folder that this user may not write: recording says so, and so does the doctor", async () => {
    const data = join(folderOfTest(), "record");
    mkdirSync(data);
    chmodSync(data, 0o555);
    onTestFinished(() => chmodSync(data, 0o755));
    const error = await readError(["record", "--prompt", "x"], { data, unprivileged: true });
    expect(error).toMatchObject({ status: 1, code: "store_not_writable" });
    const { status, troubles } = await checkUp(data, { unprivileged: true });
    expect(status).toBe(1);
    expect(troubles[0]).toMatchObject({
      level: "fail",
      check: "folder",
      message: expect.stringContaining("may not write"),
    });
  });

  test("a store whose files this user may only read", async () => {
    const data = await newStore();
    const files = ["log.db", "index.db"].map((name) => join(data, name));
    await fillIndex(data);
    for (const file of files) chmodSync(file, 0o444);
    chmodSync(data, 0o555);
    onTestFinished(() => chmodSync(data, 0o755));
    const error = await readError(["record", "--prompt", "x"], { data, unprivileged: true });
    expect(error).toMatchObject({ status: 1, code: "store_not_writable" });
    const { status, troubles } = await checkUp(data, { unprivileged: true });
    expect(status).toBe(1);
    expect(troubles.map(({ check }) => check)).toContain("folder");
  });
});

describe("the index is derived, so nothing about it is fatal:", () => {
  test("one that is missing or behind catches up by itself", async () => {
    const data = await newStore();
    rmSync(join(data, "index.db"), { force: true });
    expect((await checkUp(data)).findings).toContainEqual(
      expect.objectContaining({ level: "ok", check: "index", message: expect.stringContaining("no index yet") }),
    );
    await fillIndex(data);
    await readJson(["record", "--prompt", "one more"], { data });
    expect((await checkUp(data)).troubles).toEqual([]);
  });

  test.each([
    ["damaged", damage],
    ["a text file", (file: string) => writeFileSync(file, "Dear diary\n", { mode: 0o600 })],
  ])("%s: the doctor says so and rebuilds it", async (_, spoil) => {
    const data = await newStore(300);
    await fillIndex(data);
    spoil(join(data, "index.db"));
    const { status, troubles } = await checkUp(data);
    expect(status).toBe(1);
    expect(troubles).toMatchObject([
      { level: "fail", check: "index", hint: expect.stringContaining("--rebuild-index") },
    ]);
    expect(await readJson(["doctor", "--rebuild-index"], { data })).toMatchObject({
      ok: true,
      findings: [
        { level: "ok", check: "rebuild", message: "the index was rebuilt: 300 entries" },
        {},
        {},
        {},
        {},
        {},
        {},
        {},
      ],
    });
    expect(await readJson(["stats"], { data })).toMatchObject({ entries: 300 });
  });

  test("one of another log is rebuilt, and goes on saying that it was made from another one", async () => {
    const [data, other] = [await newStore(2), await newStore(5)];
    await fillIndex(other);
    writeFileSync(join(data, "index.db"), readFileSync(join(other, "index.db")), { mode: 0o600 });
    for (const suffix of ["-wal", "-shm"]) rmSync(join(data, `index.db${suffix}`), { force: true });
    expect((await checkUp(data)).troubles).toMatchObject([{ level: "fail", check: "evidence" }]);
    expect(await readJson(["stats"], { data })).toMatchObject({ entries: 2 });
    expect((await checkUp(data)).troubles).toMatchObject([{ level: "fail", check: "evidence" }]);
    expect(await readJson(["doctor", "--accept-log"], { data })).toMatchObject({ ok: true });
  });

  test("it is rebuilt while a server goes on recording and searching", async () => {
    const data = await newStore(3_000);
    const server = await startServer({ data });
    await server.get("/search?q=question");
    const db = new Database(join(data, "index.db"));
    db.exec("DELETE FROM rows WHERE position = 7");
    db.close();
    const rebuilding = readJson(["doctor", "--rebuild-index"], { data });
    let isRebuilding = true;
    void rebuilding.finally(() => {
      isRebuilding = false;
    });
    let recorded = 0;
    while (isRebuilding) {
      recorded += 1;
      await server.post("/entries", { kind: "decision", decision: `meanwhile ${recorded};` });
      const { body } = await server.get(`/search?q=%22meanwhile+${recorded};%22`);
      expect(body).toMatchObject({ results: [{ snippet: `meanwhile ${recorded};` }] });
      expect(body).not.toHaveProperty("partial");
    }
    const { ok, findings } = await rebuilding;
    expect({ ok, first: findings[0] }).toMatchObject({ ok: true, first: { level: "ok", check: "rebuild" } });
    expect((await server.recorder.count()).entries).toBe(3_000 + recorded);
    expect((await server.recorder.search('"question 7"', { limit: 500 })).results.map((hit) => hit.position)).toContain(
      7,
    );
  });

  test("shared parts are stored once while a server runs, and a missing store is not created", async () => {
    const data = folderOfTest();
    const path = join(data, "log.db");
    const whole = SqliteLog.open({ path, mode: "create", parted_bytes_min: Number.POSITIVE_INFINITY });
    const history = "what was said before ".repeat(2_000);
    for (const id of ["one", "two", "three"]) {
      await whole.append([[newEntry(id, { body: Buffer.from(JSON.stringify({ id, error: history })) })]]);
    }
    await whole.close();
    const server = await startServer({ data });
    const { ok, findings } = await readJson(["doctor", "--compact"], { data });
    const message = expect.stringContaining("3 entries compacted");
    expect({ ok, first: findings[0] }).toMatchObject({ ok: true, first: { level: "ok", check: "compact", message } });
    await server.post("/entries", { kind: "error", error: history });
    expect((await server.get("/entries/two")).body).toMatchObject({ error: history });
    expect((await server.get("/verify")).body).toMatchObject({ ok: true, entries: 4 });
    expect(readFileSync(path).length).toBeLessThan(3 * history.length);
    const absent = { data: join(data, "absent") };
    expect(await readError(["doctor", "--compact"], absent)).toMatchObject({ status: 1, code: "store_missing" });
  });

  test("compacting a database does nothing, and says what does", async () => {
    const data = await databaseOfTest();
    const recorder = await openRecorder({ data });
    await recorder.append({ kind: "error", error: "what was said before ".repeat(2_000) });
    await recorder.close();
    const { ok, findings } = await readJson(["doctor", "--compact"], { data });
    const message = expect.stringContaining("`hansard copy` into an empty database");
    expect({ ok, first: findings[0] }).toMatchObject({ ok: true, first: { level: "ok", check: "compact", message } });
  });

  test("rebuilding a missing store is a failure, and creates none", async () => {
    const data = join(folderOfTest(), "absent");
    expect(await readError(["doctor", "--rebuild-index"], { data })).toMatchObject({
      status: 1,
      code: "store_missing",
    });
  });
});

test("in plain words: what is wrong, an arrow to what to do, and a summary", async () => {
  const { status, stdout } = await runCli(["doctor"], { data: join(folderOfTest(), "absent") });
  expect(status).toBe(1);
  expect(stdout).toMatch(/✗ folder {3}there is no folder .*\n {11}→ Check --data or HANSARD_DATA\./);
  expect(stdout).toMatch(/\n1 problem\.\n$/);
});
