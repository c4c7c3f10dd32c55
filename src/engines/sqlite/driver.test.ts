// What the rest of the program relies on, whichever driver this Node has.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../../scripts/repository-root.mjs";
import { runCommand } from "../../../scripts/run-command.mjs";
import { folderOfTest } from "../../../test/support/temporary-folder.js";
import { Database, type DatabaseOptions, SqliteError } from "./driver.js";

function opened(path = ":memory:", options: DatabaseOptions = {}): Database {
  const db = new Database(path, options);
  onTestFinished(() => db.close());
  return db;
}

test("rows are objects, arrays, or their first column, and blobs are buffers", () => {
  const db = opened();
  const sql = "SELECT x'00ff' AS bytes, 2 AS number UNION ALL SELECT NULL, 3";
  const first = Buffer.from([0, 255]);
  expect(db.prepare(sql).all()).toEqual([
    { bytes: first, number: 2 },
    { bytes: null, number: 3 },
  ]);
  expect(db.prepare(sql).raw().get()).toEqual([first, 2]);
  expect([...db.prepare(sql).pluck().iterate()]).toEqual([first, null]);
  expect(db.prepare("SELECT ? AS a").get(Buffer.from("text"))).toEqual({ a: Buffer.from("text") });
  expect(db.prepare("SELECT typeof(?) AS a").get(Buffer.alloc(0))).toEqual({ a: "blob" });
  expect(db.prepare("SELECT 1 WHERE false").get()).toBeUndefined();
  expect(db.pragma("user_version")).toBe(0);
});

test("an iteration that is left early lets go of the file", () => {
  const path = join(folderOfTest(), "a.db");
  const [db, other] = [opened(path), opened(path, { timeout_ms: 0 })];
  db.exec("CREATE TABLE numbers AS VALUES (1), (2), (3)");
  for (const number of db.prepare("SELECT * FROM numbers").pluck().iterate()) if (number === 2) break;
  expect(() => other.exec("BEGIN EXCLUSIVE; COMMIT")).not.toThrow();
});

test("integers that a number cannot hold fail, or are rounded where that was asked for", () => {
  const db = opened();
  const sql = "SELECT 9007199254740993 AS n, 1.5 AS r, 7 AS i";
  expect(() => db.prepare(sql).get()).toThrow(RangeError);
  expect(db.prepare(sql).roundIntegers().get()).toEqual({ n: 9007199254740992, r: 1.5, i: 7 });
  expect(db.prepare(sql).raw().roundIntegers().all()).toEqual([[9007199254740992, 1.5, 7]]);
});

test("errors carry the name of SQLite's result code, in every way of running a statement", () => {
  const path = join(folderOfTest(), "a.db");
  const db = opened(path);
  db.exec("CREATE TABLE once (a PRIMARY KEY); INSERT INTO once VALUES (1)");
  const insert = "INSERT INTO once VALUES (1) RETURNING a";
  for (const way of ["run", "get", "all"] as const)
    expect(codeOf(() => db.prepare(insert)[way]())).toMatch(/^SQLITE_CONSTRAINT/);
  expect(codeOf(() => [...db.prepare(insert).iterate()])).toMatch(/^SQLITE_CONSTRAINT/);
  expect(codeOf(() => db.exec("SELEC"))).toBe("SQLITE_ERROR");
  expect(codeOf(() => opened(path, { read_only: true }).exec("DELETE FROM once"))).toBe("SQLITE_READONLY");
  const other = opened(path, { timeout_ms: 0 });
  other.exec("BEGIN EXCLUSIVE");
  const impatient = opened(path, { timeout_ms: 0 });
  for (const way of ["get", "all"] as const) {
    expect(codeOf(() => impatient.prepare("SELECT * FROM once")[way]())).toBe("SQLITE_BUSY");
  }
  other.close();
  const damaged = join(folderOfTest(), "damaged.db");
  writeFileSync(damaged, "no database at all, and long enough to have a header".repeat(20));
  expect(codeOf(() => opened(damaged).pragma("user_version"))).toBe("SQLITE_NOTADB");
  expect(codeOf(() => opened(join(folderOfTest(), "none", "a.db")))).toBe("SQLITE_CANTOPEN");
});

test("a file that must exist is not created, and is written if it does, whatever its name", () => {
  const path = join(folderOfTest(), "100% a?b#c ü.db");
  expect(codeOf(() => opened(path, { must_exist: true }).exec("CREATE TABLE t (a)"))).toBe("SQLITE_CANTOPEN");
  expect(existsSync(path)).toBe(false);
  opened(path).exec("CREATE TABLE t (a)");
  opened(path, { must_exist: true }).exec("INSERT INTO t VALUES (1)");
  expect(opened(path, { read_only: true }).prepare("SELECT a FROM t").pluck().all()).toEqual([1]);
});

test("a transaction is undone when its work throws, and a connection that closes in one leaves nothing locked", () => {
  const path = join(folderOfTest(), "a.db");
  const db = opened(path);
  db.exec("CREATE TABLE t (a)");
  expect(() =>
    db.transaction(() => {
      db.exec("INSERT INTO t VALUES (1)");
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(db.prepare("SELECT count(*) FROM t").pluck().get()).toBe(0);
  db.prepare("BEGIN EXCLUSIVE").run();
  db.close();
  db.close();
  expect(() => opened(path, { timeout_ms: 0 }).exec("INSERT INTO t VALUES (2)")).not.toThrow();
});

test("the schema can only be written by a connection that asked for it", () => {
  const forge =
    "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS SELECT 1')";
  expect(() => opened(":memory:", { is_unsafe: true }).exec(forge)).not.toThrow();
});

test("loading it warns about nothing, and hides no other warning", async () => {
  const script = `await import(${JSON.stringify(new URL("./driver.js", import.meta.url).href)}); process.emitWarning("mine");`;
  const { stderr } = await runCommand(process.execPath, ["--input-type=module", "-e", script], { cwd: repositoryRoot });
  expect(stderr).toContain("mine");
  expect(stderr).not.toMatch(/experimental/i);
});

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof SqliteError) return error.code;
    throw error;
  }
  throw new Error("it did not fail");
}
