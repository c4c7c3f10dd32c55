// Transactions of one connection: a held snapshot does not see later writes, and ends when its connection writes.
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { folderOfTest } from "../../../test/support/temporary-folder.js";
import { Database } from "./driver.js";
import { Transactions } from "./statements.js";

function twoConnections(): readonly [Database, Database] {
  const path = join(folderOfTest(), "test.db");
  const both = [new Database(path), new Database(path)] as const;
  onTestFinished(() => {
    for (const db of both) db.close();
  });
  both[0].pragma("journal_mode = WAL");
  both[0].exec("CREATE TABLE numbers (number INTEGER)");
  return both;
}

const countOf = (db: Database): unknown => db.prepare("SELECT count(*) FROM numbers").pluck().get();
const insertInto = (db: Database): void => {
  db.exec("INSERT INTO numbers VALUES (1)");
};

test("reads during a held snapshot see that snapshot, and later ones the present", () => {
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

test("another snapshot ends the one before, and does not end with it", () => {
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

test("failed work is rolled back, and the connection can still be used", () => {
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
