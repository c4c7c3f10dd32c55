// Files that are damaged, foreign or of another version: one clear fault each, and a lost index is rebuilt.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { openRecorder, type Recorder } from "../../src/index.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { sampleEntries } from "../support/sample-entries.js";
import { sampleStore, withRecorder } from "./sample-store.js";

const store = sampleStore();
const LAST = sampleEntries.length;
const PAGE_BYTES = 4_096;

const corrupt = { name: "Fault", code: "store_corrupt", hint: expect.stringContaining("hansard doctor") };

describe("a log that cannot be opened is one clear fault:", () => {
  const damages: { readonly [name: string]: (log: string) => void } = {
    "its first bytes overwritten": (log) => overwrite(log, 0, 100),
    "its first page overwritten behind the header": (log) => overwrite(log, 100, PAGE_BYTES - 100),
    "cut to half its length": (log) => truncateSync(log, statSync(log).size / 2),
    "cut to its first page": (log) => truncateSync(log, PAGE_BYTES),
    "cut to less than a header": (log) => truncateSync(log, 50),
    "a text file": (log) => writeFileSync(log, "This is no database, however long it goes on. ".repeat(20)),
  };
  for (const [name, damage] of Object.entries(damages)) {
    test(name, async () => {
      const data = await store.copy();
      damage(join(data, "log.db"));
      const before = readFileSync(join(data, "log.db"));
      await expect(openRecorder({ data })).rejects.toMatchObject({
        ...corrupt,
        message: expect.stringContaining("log.db"),
      });
      expect(readFileSync(join(data, "log.db")).equals(before), "the file was not touched").toBe(true);
    });
  }

  test("a folder in its place", async () => {
    const data = await store.copy();
    rmSync(join(data, "log.db"));
    mkdirSync(join(data, "log.db"));
    await expect(openRecorder({ data })).rejects.toMatchObject({
      code: "store_not_writable",
      hint: expect.any(String),
    });
  });

  test("a file in place of its folder", async () => {
    const data = await store.copy();
    await expect(openRecorder({ data: join(data, "log.db") })).rejects.toMatchObject({
      code: "store_not_writable",
      hint: expect.stringContaining("--data"),
    });
  });

  test("a newer format, and the file is not touched", async () => {
    const data = await store.copy();
    editFile(join(data, "log.db"), (db) => db.pragma("user_version = 99"));
    const before = readFileSync(join(data, "log.db"));
    await expect(openRecorder({ data })).rejects.toMatchObject({
      code: "store_newer",
      message: expect.stringContaining("99"),
      hint: expect.stringContaining("newer version"),
    });
    expect(readFileSync(join(data, "log.db")).equals(before)).toBe(true);
  });

  for (const version of [0, 1]) {
    test(`a database of another program whose user_version is ${version}`, async () => {
      const data = await store.copy();
      rmSync(join(data, "log.db"));
      editFile(join(data, "log.db"), (db) => db.exec(`CREATE TABLE theirs (a); PRAGMA user_version = ${version}`));
      await expect(openRecorder({ data })).rejects.toMatchObject({
        code: "store_foreign",
        message: expect.stringContaining("another program"),
      });
    });
  }

  test("no store, and none may be created", async () => {
    const data = join(await store.copy(), "elsewhere");
    await expect(openRecorder({ data, create: false })).rejects.toMatchObject({ code: "store_missing" });
  });
});

test("damage in the middle of the log fails every read that meets it, and never gives an empty list", async () => {
  const data = await store.copy();
  const { size } = statSync(join(data, "log.db"));
  overwrite(join(data, "log.db"), PAGE_BYTES, size - PAGE_BYTES);
  const outcomes = await withRecorder(data, outcomesOf).catch((error: unknown) => ({ open: error }));
  for (const outcome of Object.values(outcomes)) expect(outcome).toMatchObject(corrupt);
});

test("an invalid write-ahead log is ignored", async () => {
  const data = await store.copy();
  writeFileSync(join(data, "log.db-wal"), "nonsense".repeat(5_000));
  expect(await withRecorder(data, outcomesOf)).toMatchObject({ count: { entries: LAST + 1 }, verify: { ok: true } });
});

test("an empty log.db, as left by a crash during creation, becomes a store", async () => {
  const data = await store.copy();
  for (const file of ["log.db", "index.db"]) rmSync(join(data, file));
  writeFileSync(join(data, "log.db"), "");
  expect(await withRecorder(data, outcomesOf)).toMatchObject({
    count: { entries: 1 },
    verify: { ok: true, entries: 1 },
  });
});

describe("an index is rebuilt from the log at the next open, if it", () => {
  const losses: { readonly [name: string]: (index: string) => void } = {
    "was deleted": (index) => rmSync(index),
    "was emptied": (index) => truncateSync(index, 0),
    "is of an older version": (index) => editFile(index, (db) => db.exec("DELETE FROM rows; PRAGMA user_version = 0")),
    "is of a newer version": (index) =>
      editFile(index, (db) => db.exec("DROP TABLE rows; PRAGMA user_version = 99000")),
    "has its first bytes overwritten": (index) => overwrite(index, 0, 100),
    "was cut to half its length": (index) => truncateSync(index, statSync(index).size / 2),
    "is a text file": (index) => writeFileSync(index, "This is no database. ".repeat(1_000)),
  };
  for (const [name, lose] of Object.entries(losses)) {
    test(name, async () => {
      const data = await store.copy();
      const before = await withRecorder(data, (recorder) => recorder.listEntries({ limit: 500 }));
      lose(join(data, "index.db"));
      expect(await withRecorder(data, (recorder) => recorder.listEntries({ limit: 500 }))).toEqual(before);
    });
  }
});

describe("a lost log with an existing index does not become a new store:", () => {
  test("it was emptied: an error says so, and nothing is created", async () => {
    const data = await store.copy();
    truncateSync(join(data, "log.db"), 0);
    for (const create of [true, false]) {
      await expect(openRecorder({ data, create })).rejects.toMatchObject({ name: "Fault", code: "store_corrupt" });
    }
    expect(statSync(join(data, "log.db")).size).toBe(0);
  });

  test("it was deleted: same", async () => {
    const data = await store.copy();
    rmSync(join(data, "log.db"));
    for (const create of [true, false]) {
      await expect(openRecorder({ data, create })).rejects.toMatchObject({ name: "Fault", code: "store_damaged" });
    }
    expect(existsSync(join(data, "log.db"))).toBe(false);
  });
});

test("an index that is ahead of a restored older log is not used", async () => {
  const data = await store.copy();
  const earlier = readFileSync(join(data, "log.db"));
  await withRecorder(data, async (recorder) => {
    for (const id of ["lost-1", "lost-2"]) await recorder.append({ kind: "decision", id, decision: "lost" });
    expect(await recorder.count()).toMatchObject({ entries: LAST + 2 });
  });
  writeFileSync(join(data, "log.db"), earlier);
  const { append, count, list, verify } = await withRecorder(data, outcomesOf);
  expect(verify).toMatchObject({ ok: false, reason: "cut_off", known: { position: LAST + 2 } });
  expect(append).toMatchObject({ entries: [{ position: LAST + 1 }] });
  expect(count).toMatchObject({ entries: LAST + 1, by_kind: { decision: 1, error: 2 } });
  expect(list).toMatchObject({ entries: expect.arrayContaining([expect.objectContaining({ id: "one-more" })]) });
});

test("an index.db of another program is not overwritten", async () => {
  const data = await store.copy();
  rmSync(join(data, "index.db"));
  editFile(join(data, "index.db"), (db) => db.exec("CREATE TABLE theirs (a); INSERT INTO theirs VALUES ('precious')"));
  const { append, list } = await withRecorder(data, outcomesOf);
  expect(append).toMatchObject({ status: "recorded" });
  expect(list).toMatchObject({ name: "Fault", message: expect.stringContaining("index.db") });
  editFile(join(data, "index.db"), (db) => {
    expect(db.prepare("SELECT a FROM theirs").pluck().all()).toEqual(["precious"]);
  });
});

test("damage that an index shows only later harms neither recording nor reading, and is repaired automatically", async () => {
  const data = await store.copy();
  const path = join(data, "index.db");
  overwrite(path, PAGE_BYTES, statSync(path).size - PAGE_BYTES);
  const { append, get, list, count, verify } = await withRecorder(data, outcomesOf);
  expect({ append, get, count, verify }).toMatchObject({
    append: { status: "recorded" },
    get: { id: "info" },
    count: { entries: LAST + 1 },
    verify: { ok: true },
  });
  expect(list).toHaveProperty("entries.length", LAST + 1);
  expect(await withRecorder(data, (recorder) => recorder.count())).toMatchObject({ entries: LAST + 1 });
});

/** What came of each call: its answer, or what it threw. */
async function outcomesOf(recorder: Recorder): Promise<{ readonly [call: string]: unknown }> {
  const outcome = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
  return {
    append: await outcome(recorder.append({ kind: "error", id: "one-more", error: "one more" })),
    get: await outcome(recorder.getEntry(1)),
    list: await outcome(recorder.listEntries()),
    count: await outcome(recorder.count()),
    verify: await outcome(recorder.verify()),
  };
}

function editFile(path: string, edit: (db: Database) => void): void {
  const db = new Database(path);
  try {
    edit(db);
  } finally {
    db.close();
  }
}

/** With bytes that make no sense, but the same in every run. */
function overwrite(path: string, from: number, length: number): void {
  const random = seededRandom(from + length);
  const file = openSync(path, "r+");
  writeSync(
    file,
    Uint8Array.from({ length }, () => Math.floor(random() * 256)),
    0,
    length,
    from,
  );
  closeSync(file);
}
