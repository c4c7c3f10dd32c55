// Migrations: forward only, each step together with its marker, once, and never on other programs' files.
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { folderOfTest } from "../../../test/support/temporary-folder.js";
import { Database } from "./driver.js";
import { type Migration, migrate, versionOf } from "./migrations.js";

const first: Migration = (db) => db.exec("CREATE TABLE first (a)");
const second: Migration = (db) => db.exec("CREATE TABLE second (a); INSERT INTO second SELECT a FROM first");

test("a new file takes every step and is marked as ours", () => {
  const db = newDatabase();
  migrate(db, [first, second], "log.db");
  expect(tables(db)).toEqual(["first", "second"]);
  expect(versionOf(db)).toBe(2);
  expect(db.pragma("application_id")).toBe(0x48414e53);
});

test("an older file takes only the missing steps, and keeps its rows", () => {
  const db = newDatabase();
  migrate(db, [first], "log.db");
  db.exec("INSERT INTO first VALUES (1)");
  migrate(db, [first, second], "log.db");
  expect(versionOf(db)).toBe(2);
  expect(db.prepare("SELECT a FROM second").pluck().all()).toEqual([1]);
});

test("a file of the current version is not changed", () => {
  const db = newDatabase();
  migrate(db, [first], "log.db");
  migrate(
    db,
    [
      () => {
        throw new Error("taken again");
      },
    ],
    "log.db",
  );
  expect(versionOf(db)).toBe(1);
});

test("a failed step leaves the file as it was before all of them", () => {
  const db = newDatabase();
  migrate(db, [first], "log.db");
  const failing: Migration = (open) => {
    open.exec("CREATE TABLE half (a)");
    throw new Error("no further");
  };
  expect(() => migrate(db, [first, second, failing], "log.db")).toThrow("no further");
  expect(tables(db)).toEqual(["first"]);
  expect(versionOf(db)).toBe(1);
  expect(db.inTransaction).toBe(false);
});

test("a file of a newer version is refused, with the versions in the message", () => {
  const db = newDatabase();
  migrate(db, [first, second, (open) => open.exec("CREATE TABLE third (a)")], "log.db");
  expect(() => migrate(db, [first], "log.db")).toThrow(
    expect.objectContaining({ code: "store_newer", message: expect.stringMatching(/format 3.*knows 1/) }),
  );
});

test("a database of another program is refused", () => {
  const db = newDatabase();
  db.exec("CREATE TABLE theirs (a)");
  expect(() => migrate(db, [first], "log.db")).toThrow(
    expect.objectContaining({ code: "store_foreign", message: expect.stringContaining("another program") }),
  );
  expect(tables(db)).toEqual(["theirs"]);
});

test("two connections that find a new file run each step once between them", () => {
  const path = join(folderOfTest(), "log.db");
  const [left, right] = [newDatabase(path), newDatabase(path)];
  migrate(left, [first, second], path);
  migrate(right, [first, second], path);
  expect(versionOf(right)).toBe(2);
});

function newDatabase(path = ":memory:"): Database {
  const db = new Database(path);
  onTestFinished(() => {
    db.close();
  });
  return db;
}

function tables(db: Database): readonly string[] {
  return db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all() as string[];
}
