// Transactions of one connection: a moment that is held sees nothing of what others write, and gives way to writing.
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { folderOfTest } from "../../../test/support/temporary-folder.js";
import { Transactions } from "./statements.js";

function twoConnections(): readonly [Database.Database, Database.Database] {
  const path = join(folderOfTest(), "test.db");
  const both = [new Database(path), new Database(path)] as const;
  onTestFinished(() => {
    for (const db of both) db.close();
  });
  both[0].pragma("journal_mode = WAL");
  both[0].exec("CREATE TABLE numbers (number INTEGER)");
  return both;
}

const countOf = (db: Database.Database): unknown => db.prepare("SELECT count(*) FROM numbers").pluck().get();
const insertInto = (db: Database.Database): void => {
  db.exec("INSERT INTO numbers VALUES (1)");
};

test("what is read while a moment is held is of that moment, and afterwards of the present", () => {
  const [own, other] = twoConnections();
  const transactions = new Transactions(own);
  const release = transactions.hold();
  expect(countOf(own)).toBe(0);
  insertInto(other);
  expect(transactions.read(() => countOf(own))).toBe(0);
  expect(release()).toBe(true);
  expect(countOf(own)).toBe(1);
  expect(release()).toBe(false);
});

test("writing ends a held snapshot, and its holder learns it on release", () => {
  const [own, other] = twoConnections();
  const transactions = new Transactions(own);
  const release = transactions.hold();
  countOf(own);
  insertInto(other);
  transactions.write(() => insertInto(own));
  expect(countOf(own)).toBe(2);
  expect(release()).toBe(false);
});

test("another moment ends the one before, and is not ended by it", () => {
  const [own, other] = twoConnections();
  const transactions = new Transactions(own);
  const letFirstGo = transactions.hold();
  countOf(own);
  insertInto(other);
  const letSecondGo = transactions.hold();
  expect(countOf(own)).toBe(1);
  expect(letFirstGo()).toBe(false);
  insertInto(other);
  expect(countOf(own)).toBe(1);
  expect(letSecondGo()).toBe(true);
});

test("work that fails is undone, and the connection can be used again", () => {
  const [own] = twoConnections();
  const transactions = new Transactions(own);
  const failing = (): void =>
    transactions.write(() => {
      insertInto(own);
      throw new Error("enough");
    });
  expect(failing).toThrow("enough");
  expect(() =>
    transactions.read(() => {
      throw new Error("no more");
    }),
  ).toThrow("no more");
  expect(own.inTransaction).toBe(false);
  expect(countOf(own)).toBe(0);
});
