// Databases of other programs: everything their owner has written is read, and nothing of theirs is changed.
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { folderOfTest } from "../../test/support/temporary-folder.js";
import { isDatabase, openTables, type Tables } from "./foreign-databases.js";

function makeDatabase(mode: "wal" | "delete"): { readonly path: string; readonly owner: Database.Database } {
  const path = join(folderOfTest(), "theirs.db");
  const owner = new Database(path);
  owner.pragma(`journal_mode = ${mode}`);
  owner.exec("CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes(text) VALUES ('one')");
  return { path, owner };
}

async function opened(path: string): Promise<Tables> {
  const tables = await openTables(path, readFileSync(path).subarray(0, 100));
  if ("reason" in tables) throw new Error(tables.reason);
  return tables;
}

function texts(tables: Tables): readonly unknown[] {
  return [...tables.rows("SELECT text FROM notes WHERE id > ? ORDER BY id", 0)].map((row) => row.text);
}

test.each(["wal", "delete"] as const)("a database in mode %s is read with its columns and rows", async (mode) => {
  const { path, owner } = makeDatabase(mode);
  owner.close();
  expect(isDatabase(readFileSync(path))).toBe(true);
  const tables = await opened(path);
  expect(tables.tables).toEqual({ notes: ["id", "text"] });
  expect(texts(tables)).toEqual(["one"]);
  tables.close();
});

test("an unknown kind of virtual table does not prevent reading the rest", async () => {
  const { path, owner } = makeDatabase("delete");
  owner.unsafeMode();
  owner.pragma("writable_schema = ON");
  owner.exec("INSERT INTO sqlite_schema VALUES ('table', 'vec', 'vec', 0, 'CREATE VIRTUAL TABLE vec USING vec0(v)')");
  owner.close();
  const tables = await opened(path);
  expect(tables.tables).toEqual({ notes: ["id", "text"] });
  expect(texts(tables)).toEqual(["one"]);
  tables.close();
});

test("the owner's WAL is read while the owner goes on writing, and the snapshot stays the same", async () => {
  const { path, owner } = makeDatabase("wal");
  owner.exec("INSERT INTO notes(text) VALUES ('two')");
  const tables = await opened(path);
  expect(texts(tables)).toEqual(["one", "two"]);
  owner.exec("INSERT INTO notes(text) VALUES ('three')");
  expect(texts(tables)).toEqual(["one", "two"]);
  tables.close();
  owner.close();
});

test("a database that no program has open is left unchanged, with no new file next to it, also in a read-only folder", async () => {
  const { path, owner } = makeDatabase("wal");
  owner.close();
  const folder = join(path, "..");
  const before = [readFileSync(path), statSync(path).mtimeMs, readdirSync(folder)];
  chmodSync(path, 0o400);
  chmodSync(folder, 0o500);
  const tables = await opened(path);
  expect(texts(tables)).toEqual(["one"]);
  tables.close();
  chmodSync(folder, 0o700);
  expect([readFileSync(path), statSync(path).mtimeMs, readdirSync(folder)]).toEqual(before);
});

test("a WAL that a crashed owner left is read too", async () => {
  const { path, owner } = makeDatabase("wal");
  owner.exec("INSERT INTO notes(text) VALUES ('two')");
  const left = join(folderOfTest(), "theirs.db");
  writeFileSync(left, readFileSync(path));
  writeFileSync(`${left}-wal`, readFileSync(`${path}-wal`));
  owner.close();
  const tables = await opened(left);
  expect(texts(tables)).toEqual(["one", "two"]);
  tables.close();
  expect(existsSync(`${left}-shm`)).toBe(false);
});

test("a database that its owner has locked is an error with a hint", async () => {
  const { path, owner } = makeDatabase("delete");
  owner.exec("BEGIN EXCLUSIVE");
  expect(await openTables(path, readFileSync(path).subarray(0, 100))).toEqual({
    reason: expect.stringMatching(/locked by the program.*again later/),
  });
  owner.exec("ROLLBACK");
  owner.close();
}, 20_000);

test("a damaged database is an error", async () => {
  const path = join(folderOfTest(), "damaged.db");
  writeFileSync(path, Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(5_000, 7)]));
  expect(await openTables(path, readFileSync(path))).toEqual({
    reason: expect.stringMatching(/damaged|cannot be read/),
  });
});
