// The database itself refuses to change log rows, whatever statement asks for it.

import { describe, expect, test } from "vitest";
import type { Database } from "../../src/engines/sqlite/driver.js";
import { editLog, sampleStore } from "./sample-store.js";

const store = sampleStore();
const key = "(SELECT claim FROM claims WHERE position = 5 LIMIT 1)";

const refusals: { readonly [table: string]: readonly string[] } = {
  entries: [
    "UPDATE entries SET kind = 'raw' WHERE position = 5",
    "UPDATE entries SET position = 99 WHERE position = 5",
    "UPDATE OR REPLACE entries SET position = 6 WHERE position = 5",
    "UPDATE OR IGNORE entries SET kind = 'raw'",
    "DELETE FROM entries WHERE position = 5",
    "DELETE FROM entries",
    "INSERT OR REPLACE INTO entries SELECT position, 'raw', recorded_at, commitment, hash, recorded_by, claims_digest FROM entries WHERE position = 5",
    "REPLACE INTO entries VALUES (5, 'raw', '', x'', x'', '', x'')",
    "INSERT INTO entries VALUES (5, 'raw', '', x'', x'', '', x'') ON CONFLICT (position) DO UPDATE SET kind = 'raw'",
  ],
  bodies: [
    "UPDATE bodies SET body = x'7b7d' WHERE position = 5",
    "UPDATE bodies SET salt = zeroblob(16)",
    "UPDATE OR REPLACE bodies SET position = 6 WHERE position = 5",
    "DELETE FROM bodies WHERE position = 5",
    "DELETE FROM bodies",
    "INSERT OR REPLACE INTO bodies VALUES (5, zeroblob(16), 0, x'7b7d')",
    "REPLACE INTO bodies VALUES (5, zeroblob(16), 0, x'7b7d')",
    "INSERT INTO bodies VALUES (5, x'', 0, x'') ON CONFLICT (position) DO UPDATE SET body = x''",
  ],
  claims: [
    "UPDATE claims SET position = 6 WHERE position = 5",
    "UPDATE OR REPLACE claims SET position = 6",
    "DELETE FROM claims WHERE position = 5",
    "DELETE FROM claims",
    `INSERT OR REPLACE INTO claims VALUES (${key}, 6)`,
    `REPLACE INTO claims VALUES (${key}, 6)`,
    `INSERT INTO claims VALUES (${key}, 6) ON CONFLICT (claim) DO UPDATE SET position = 6`,
  ],
};

describe.each(Object.entries(refusals))("%s refuse", (_, statements) => {
  test.each(statements)("%s", async (statement) => {
    const data = await store.copy();
    editLog(data, (db) => {
      const before = contents(db);
      expect(() => db.exec(statement)).toThrow(/append-only|only when a redaction names it/);
      expect(contents(db)).toEqual(before);
    });
  });
});

test("a recorded erasure can be neither changed nor deleted", async () => {
  editLog(await store.copy(), (db) => {
    db.exec("INSERT INTO erasures VALUES (5, 12)");
    for (const statement of [
      "UPDATE erasures SET redaction = 11",
      "DELETE FROM erasures",
      "INSERT OR REPLACE INTO erasures VALUES (5, 11)",
    ]) {
      expect(() => db.exec(statement)).toThrow("append-only");
    }
  });
});

test("a body can be deleted only after its erasure was recorded", async () => {
  editLog(await store.copy(), (db) => {
    expect(() => db.exec("DELETE FROM bodies WHERE position = 5")).toThrow("only when a redaction names it");
    db.exec("INSERT INTO erasures VALUES (5, 12); DELETE FROM bodies WHERE position = 5");
    expect(db.prepare("SELECT count(*) FROM bodies WHERE position = 5").pluck().get()).toBe(0);
  });
});

function contents(db: Database): unknown {
  return ["entries", "bodies", "claims"].map((table) => db.prepare(`SELECT * FROM ${table}`).all());
}
