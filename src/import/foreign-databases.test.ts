// Databases of other programs: what their owner has written is read, nothing of theirs is touched, and none holds up the program.
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { expect, test } from "vitest";
import { folderOfTest } from "../../test/support/temporary-folder.js";
import { Database } from "../engines/sqlite/driver.js";
import { isDatabase, type OpenTablesOptions, openTables, type Tables, UnreadableTables } from "./foreign-databases.js";

function makeDatabase(mode: "wal" | "delete"): { readonly path: string; readonly owner: Database } {
  const path = join(folderOfTest(), "theirs.db");
  const owner = new Database(path);
  owner.pragma(`journal_mode = ${mode}`);
  owner.exec("CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes(text) VALUES ('one')");
  return { path, owner };
}

/** A database that the script makes, with the schema open to writing. */
function databaseOf(script: string): string {
  const path = join(folderOfTest(), "theirs.db");
  const owner = new Database(path, { is_unsafe: true });
  owner.exec(script);
  owner.close();
  return path;
}

function open(path: string, options: Partial<OpenTablesOptions> = {}): ReturnType<typeof openTables> {
  return openTables(path, { opening: readFileSync(path).subarray(0, 100), ...options });
}

async function opened(path: string, options: Partial<OpenTablesOptions> = {}): Promise<Tables> {
  const tables = await open(path, options);
  if ("reason" in tables) throw new Error(tables.reason);
  return tables;
}

async function texts(tables: Tables, table = "notes"): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const { row } of tables.rows({ table, columns: ["text"], order: ["id"] })) found.push(row.text);
  return found;
}

test.each(["wal", "delete"] as const)("a database in mode %s is read with its columns and rows", async (mode) => {
  const { path, owner } = makeDatabase(mode);
  owner.close();
  expect(isDatabase(readFileSync(path))).toBe(true);
  const tables = await opened(path);
  expect(tables.tables).toEqual({ notes: ["id", "text"] });
  expect(await texts(tables)).toEqual(["one"]);
  await tables.close();
});

test("rows come sorted, filtered and in any number; what a table lacks is null", async () => {
  const path = databaseOf(`CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT, "odd ""name" BLOB);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO notes SELECT 3001 - i, 'note ' || (i % 7), x'00ff' FROM n`);
  const tables = await opened(path);
  const read = async (query: Parameters<Tables["rows"]>[0]) => {
    const rows: object[] = [];
    for await (const { row } of tables.rows(query)) rows.push(row);
    return rows;
  };
  const all = await read({ table: "notes", columns: ["id", 'odd "name', "more"], order: ["text"] });
  expect(all).toHaveLength(3_000);
  expect(all[0]).toEqual({ id: 5, 'odd "name': Buffer.from([0, 255]), more: null });
  expect(await read({ table: "notes", columns: ["id"], where: { text: "note 3", id: 3000 - 2 } })).toEqual([
    { id: 2998 },
  ]);
  expect(await read({ table: "notes", columns: ["text"], order: ["text"], distinct: true })).toHaveLength(7);
  expect(await read({ table: "notes", columns: ["id"], where: { more: 1 } })).toEqual([]);
  expect(await read({ table: "none", columns: ["id"] })).toEqual([]);
  await tables.close();
});

test("text with NUL comes whole, and integers that no number can hold come rounded, in every encoding", async () => {
  for (const encoding of ["UTF-8", "UTF-16le", "UTF-16be"]) {
    const path = databaseOf(`PRAGMA encoding = '${encoding}'; CREATE TABLE notes(id INTEGER PRIMARY KEY, text);
      INSERT INTO notes VALUES (1, 'grüße' || char(0) || 'danach'), (2, 9007199254740993), (3, x'610062')`);
    const tables = await opened(path);
    expect(await texts(tables)).toEqual(["grüße\0danach", 9007199254740992, Buffer.from("a\0b")]);
    await tables.close();
  }
});

test("a virtual table of an unknown kind keeps nothing else from being read", async () => {
  const path =
    databaseOf(`CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT); INSERT INTO notes(text) VALUES ('one');
    PRAGMA writable_schema = ON;
    INSERT INTO sqlite_schema VALUES ('table', 'vec', 'vec', 0, 'CREATE VIRTUAL TABLE vec USING vec0(v)')`);
  const tables = await opened(path);
  expect(tables.tables).toEqual({ notes: ["id", "text"] });
  expect(await texts(tables)).toEqual(["one"]);
  await tables.close();
});

const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'x' AS text FROM n";

test.each([
  ["a view", `CREATE VIEW notes AS ${ENDLESS}`],
  ["a virtual table", `CREATE VIRTUAL TABLE notes USING fts5(id, text); INSERT INTO notes VALUES (1, 'x')`],
])("%s is no table", async (_, script) => {
  const tables = await opened(databaseOf(script));
  expect(Object.keys(tables.tables)).not.toContain("notes");
  expect(await texts(tables)).toEqual([]);
  await tables.close();
});

test("a view that the schema calls a table is refused with the whole file", async () => {
  const path = databaseOf(`CREATE TABLE other(id INTEGER, text TEXT); CREATE VIEW v AS ${ENDLESS};
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET name = 'notes', tbl_name = 'notes' WHERE name = 'other';
    UPDATE sqlite_schema SET sql = 'CREATE VIEW notes AS ${ENDLESS.replaceAll("'", "''")}' WHERE name = 'v'`);
  expect(await open(path)).toEqual({ reason: expect.stringMatching(/malformed database schema/) });
});

test("generated columns are not computed, also where one is called like the number of the row", async () => {
  const path = databaseOf(`CREATE TABLE notes(
      id INTEGER, text TEXT AS (zeroblob(300000000)), rowid INTEGER AS (length(zeroblob(300000000))) VIRTUAL);
    INSERT INTO notes(id) VALUES (1), (2)`);
  const tables = await opened(path);
  expect(tables.tables).toEqual({ notes: ["id"] });
  expect(await texts(tables)).toEqual([null, null]);
  await tables.close();
});

test("values that no entry could hold are left out, and counted", async () => {
  const path = databaseOf(`CREATE TABLE notes(id INTEGER PRIMARY KEY, text BLOB);
    INSERT INTO notes VALUES (1, zeroblob(70000000)), (2, 'short')`);
  const tables = await opened(path);
  const rows: unknown[] = [];
  for await (const row of tables.rows({ table: "notes", columns: ["id", "text"] })) rows.push(row);
  expect(rows).toEqual([
    { row: { id: 1, text: null }, left_out: "notes.text (70000000 bytes)" },
    { row: { id: 2, text: "short" } },
  ]);
  await tables.close();
});

/** Views that each read the one before twice: what they mean is worked out before anything is read. */
const nested = Array.from({ length: 60 }, (_, at) => {
  return `CREATE VIEW v${at + 1} AS SELECT a.x FROM v${at} a, v${at} b`;
});
const SLOW = `CREATE TABLE v0(x); ${nested.join(";")}`;

test("one that takes too long, or is no longer wanted, is ended at once, and the event loop does not wait for it", async () => {
  const path = databaseOf(SLOW);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  expect(await open(path, { answer_ms: 300 })).toEqual({ reason: expect.stringMatching(/no answer within/) });
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 300);
  await expect(open(path, { signal: stop.signal })).rejects.toThrow(/aborted/);
  await expect(open(path, { signal: stop.signal })).rejects.toThrow(/aborted/);
  delay.disable();
  // It would be held for as long as the database takes; a busy machine holds it for a moment.
  expect(delay.max / 1e6).toBeLessThan(2_000);
});

test("one that takes too much memory is ended by the system", async () => {
  const columns = [..."abcdefgh"];
  const path = databaseOf(`CREATE TABLE notes(${columns});
    INSERT INTO notes VALUES (${columns.map(() => "zeroblob(6e7)")})`);
  const tables = await opened(path, { memory_kib: 800 * 1024 });
  const rows = tables.rows({ table: "notes", columns });
  await expect(rows[Symbol.asyncIterator]().next()).rejects.toThrow(UnreadableTables);
  await tables.close();
});

test("what is in its owner's log is read while the owner goes on writing, and the view stays one", async () => {
  const { path, owner } = makeDatabase("wal");
  owner.exec("INSERT INTO notes(text) VALUES ('two')");
  const tables = await opened(path);
  expect(await texts(tables)).toEqual(["one", "two"]);
  owner.exec("INSERT INTO notes(text) VALUES ('three')");
  expect(await texts(tables)).toEqual(["one", "two"]);
  await tables.close();
  owner.close();
});

test("a database that nobody has open is left as it was, with no file beside it, also where nothing may be written", async () => {
  const { path, owner } = makeDatabase("wal");
  owner.close();
  const folder = join(path, "..");
  const before = [readFileSync(path), statSync(path).mtimeMs, readdirSync(folder)];
  const copies = () => readdirSync(tmpdir()).filter((name) => /^hansard-\w{6}$/.test(name));
  const left = copies();
  chmodSync(path, 0o400);
  chmodSync(folder, 0o500);
  const tables = await opened(path);
  expect(await texts(tables)).toEqual(["one"]);
  await tables.close();
  chmodSync(folder, 0o700);
  expect([readFileSync(path), statSync(path).mtimeMs, readdirSync(folder)]).toEqual(before);
  expect(copies().filter((name) => !left.includes(name))).toEqual([]);
});

test("a database whose copy would fill the disk is not copied", async () => {
  const path = join(folderOfTest(), "theirs.db");
  const opening = Buffer.alloc(100);
  opening.set(Buffer.from("SQLite format 3\0"));
  opening[19] = 2;
  writeFileSync(path, opening);
  truncateSync(path, 2 ** 42);
  expect(await openTables(path, { opening })).toEqual({ reason: expect.stringMatching(/does not fit/) });
});

test("a log that a crashed owner left behind is read too", async () => {
  const { path, owner } = makeDatabase("wal");
  owner.exec("INSERT INTO notes(text) VALUES ('two')");
  const left = join(folderOfTest(), "theirs.db");
  writeFileSync(left, readFileSync(path));
  writeFileSync(`${left}-wal`, readFileSync(`${path}-wal`));
  owner.close();
  const tables = await opened(left);
  expect(await texts(tables)).toEqual(["one", "two"]);
  await tables.close();
  expect(existsSync(`${left}-shm`)).toBe(false);
});

test("a database that its owner holds locked is reported, with what to do, and the event loop does not wait for it", async () => {
  const { path, owner } = makeDatabase("delete");
  // A process that closes a file loses its own locks on it.
  const opening = readFileSync(path).subarray(0, 100);
  owner.exec("BEGIN EXCLUSIVE");
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  expect(await openTables(path, { opening })).toEqual({
    reason: expect.stringMatching(/locked by the program.*again later/),
  });
  delay.disable();
  // It would be held for as long as the database takes; a busy machine holds it for a moment.
  expect(delay.max / 1e6).toBeLessThan(2_000);
  owner.exec("ROLLBACK");
  owner.close();
}, 20_000);

test("a damaged database is reported", async () => {
  const path = join(folderOfTest(), "damaged.db");
  writeFileSync(path, Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(5_000, 7)]));
  expect(await open(path)).toEqual({ reason: expect.stringMatching(/damaged|cannot be read/) });
});
