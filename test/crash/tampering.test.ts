// Edits of the log's files are detected: verify names the first position that is not as it was recorded.
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Database } from "../../src/engines/sqlite/driver.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import { verify } from "../../src/log/verify.js";
import { chainHash, commitmentOf } from "../../src/model/chain.js";
import { claimKey, claimsDigest, completionClaim, idClaim } from "../../src/model/claims.js";
import { sampleEntries } from "../support/sample-entries.js";
import { dropTriggers, editLog, sampleStore, withRecorder } from "./sample-store.js";

const store = sampleStore();
const LAST = sampleEntries.length;

interface Tampering {
  readonly name: string;
  readonly edit: (db: Database) => void;
  /** What verify has to name. */
  readonly position: number;
}

const changes: readonly Tampering[] = [
  {
    name: "a changed body",
    position: 5,
    edit: sql('UPDATE bodies SET body = CAST(\'{"id":"ran"}\' AS BLOB) WHERE position = 5'),
  },
  { name: "one changed byte of a body", position: 3, edit: (db) => setBody(db, 3, withFlippedBit(bodyAt(db, 3))) },
  { name: "a changed salt", position: 5, edit: sql("UPDATE bodies SET salt = zeroblob(16) WHERE position = 5") },
  { name: "a byte moved from the body to the salt", position: 5, edit: (db) => moveByteToSalt(db, 5) },
  { name: "a changed encoding", position: 5, edit: sql("UPDATE bodies SET encoding = 7 WHERE position = 5") },
  { name: "a changed kind", position: 7, edit: sql("UPDATE entries SET kind = 'decision' WHERE position = 7") },
  {
    name: "a kind in letters whose low bytes are the same",
    position: 7,
    edit: (db) => db.prepare("UPDATE entries SET kind = ? WHERE position = 7").run(shiftedLetters("error")),
  },
  {
    name: "a changed recorded_at",
    position: 4,
    edit: sql("UPDATE entries SET recorded_at = '2020-01-01T00:00:00.000Z' WHERE position = 4"),
  },
  { name: "a changed hash", position: 6, edit: sql("UPDATE entries SET hash = zeroblob(32) WHERE position = 6") },
  {
    name: "a changed commitment",
    position: 6,
    edit: sql("UPDATE entries SET commitment = zeroblob(32) WHERE position = 6"),
  },
  {
    name: "a commitment of another length",
    position: 6,
    edit: sql("UPDATE entries SET commitment = zeroblob(40) WHERE position = 6"),
  },
  { name: "a body replaced together with its commitment", position: 8, edit: (db) => replaceBody(db, 8) },
  {
    name: "a body replaced together with commitment and hash, which the next entry gives away",
    position: 9,
    edit: (db) => {
      replaceBody(db, 8);
      rehash(db, 8);
    },
  },
];

const removals: readonly Tampering[] = [
  { name: "the first entry removed", position: 1, edit: (db) => removeEntry(db, 1) },
  { name: "an entry removed", position: 5, edit: (db) => removeEntry(db, 5) },
  {
    name: "an entry removed and the later ones moved up",
    position: 5,
    edit: (db) => {
      removeEntry(db, 5);
      for (let position = 6; position <= LAST; position += 1) move(db, position, position - 1);
    },
  },
  { name: "a body removed", position: 5, edit: sql("DELETE FROM bodies WHERE position = 5") },
  {
    name: "a body removed as if a redaction had named it",
    position: 5,
    edit: sql("INSERT INTO erasures VALUES (5, 12); DELETE FROM bodies WHERE position = 5"),
  },
  {
    name: "a body removed before another entry was changed",
    position: 2,
    edit: sql("DELETE FROM bodies WHERE position = 2; UPDATE entries SET kind = 'raw' WHERE position = 9"),
  },
];

const swaps: readonly Tampering[] = [
  {
    name: "two bodies swapped",
    position: 5,
    edit: (db) => swap(db, 5, 8, ["bodies"]),
  },
  { name: "two entries swapped whole", position: 5, edit: (db) => swap(db, 5, 6, ["entries", "bodies", "claims"]) },
];

const additions: readonly Tampering[] = [
  {
    name: "an entry inserted",
    position: 5,
    edit: (db) => {
      makeRoomAt(db, 5);
      insertForged(db, 5, Buffer.alloc(32, 1));
    },
  },
  {
    name: "an entry inserted with a hash that fits, which the next entry gives away",
    position: 6,
    edit: (db) => {
      makeRoomAt(db, 5);
      insertForged(db, 5);
      db.prepare("INSERT INTO claims VALUES (?, 5)").run(claimKey(idClaim("forged")));
    },
  },
  {
    name: "an entry appended with a made-up hash",
    position: LAST + 1,
    edit: (db) => insertForged(db, LAST + 1, Buffer.alloc(32, 1)),
  },
  { name: "an entry appended without its claim", position: LAST + 1, edit: (db) => insertForged(db, LAST + 1) },
  {
    name: "an entry appended without a body",
    position: LAST + 1,
    edit: (db) => {
      insertForged(db, LAST + 1);
      db.exec(`DELETE FROM bodies WHERE position = ${LAST + 1}`);
    },
  },
  {
    name: "a body behind the last entry",
    position: LAST + 1,
    edit: sql(`INSERT INTO bodies SELECT ${LAST + 1}, salt, encoding, body FROM bodies WHERE position = 5`),
  },
  {
    name: "a claim that leads behind the last entry",
    position: LAST + 3,
    edit: (db) => db.prepare("INSERT INTO claims VALUES (?, ?)").run(claimKey(idClaim("later")), LAST + 3),
  },
  {
    name: "an entry before the first one",
    position: 0,
    edit: sql(
      "INSERT INTO entries SELECT 0, kind, recorded_at, commitment, hash, recorded_by, claims_digest FROM entries WHERE position = 5",
    ),
  },
];

const claims: readonly Tampering[] = [
  {
    name: "the claim of an id removed",
    position: 5,
    edit: (db) => db.prepare("DELETE FROM claims WHERE claim = ?").run(claimKey(idClaim("ran"))),
  },
  {
    name: "the claim of an id that leads to another entry",
    position: 5,
    edit: (db) => db.prepare("UPDATE claims SET position = 7 WHERE claim = ?").run(claimKey(idClaim("ran"))),
  },
  {
    name: "the claim of a completion removed",
    position: 6,
    edit: (db) => db.prepare("DELETE FROM claims WHERE claim = ?").run(claimKey(completionClaim("asked"))),
  },
  {
    name: "the claim of a completion that leads to another entry",
    position: 6,
    edit: (db) => db.prepare("UPDATE claims SET position = 7 WHERE claim = ?").run(claimKey(completionClaim("asked"))),
  },
];

test("an untouched store is verified to its end", async () => {
  const verification = await withRecorder(await store.copy(), (recorder) => recorder.verify());
  expect(verification).toMatchObject({ ok: true, entries: LAST, erased: 0, position: LAST });
});

describe.each([
  ["changed", changes],
  ["removed", removals],
  ["swapped", swaps],
  ["added", additions],
  ["claims altered", claims],
] as const)("%s:", (_, tamperings) => {
  for (const { name, edit, position } of tamperings) {
    test(`verify finds ${name}`, async () => {
      const data = await store.copy();
      editLog(data, (db) => {
        dropTriggers(db);
        edit(db);
      });
      const log = SqliteLog.open({ path: join(data, "log.db"), mode: "read" });
      onTestFinished(() => log.close());
      const warnings = ["trigger_missing"];
      expect(await verify(log)).toEqual({ ok: false, position, reason: expect.stringMatching(/\w/), warnings });
    });
  }
});

function sql(text: string): (db: Database) => void {
  return (db) => db.exec(text);
}

function bodyAt(db: Database, position: number): Buffer {
  return db.prepare("SELECT body FROM bodies WHERE position = ?").pluck().get(position) as Buffer;
}

function setBody(db: Database, position: number, body: Uint8Array): void {
  db.prepare("UPDATE bodies SET body = ? WHERE position = ?").run(body, position);
}

function withFlippedBit(body: Buffer): Buffer {
  const copy = Buffer.from(body);
  copy.writeUInt8(copy.readUInt8(copy.length - 3) ^ 1, copy.length - 3);
  return copy;
}

/** Salt and body are hashed one after the other, so where one ends has to be fixed by something else. */
function moveByteToSalt(db: Database, position: number): void {
  const body = bodyAt(db, position);
  const salt = db.prepare("SELECT salt FROM bodies WHERE position = ?").pluck().get(position) as Buffer;
  db.prepare("UPDATE bodies SET salt = ?, body = ? WHERE position = ?").run(
    Buffer.concat([salt, body.subarray(0, 1)]),
    body.subarray(1),
    position,
  );
}

/** `ŭ` (016d) for `m` (6d) and so on. */
function shiftedLetters(kind: string): string {
  return [...kind].map((letter) => String.fromCharCode(letter.charCodeAt(0) + 0x100)).join("");
}

function replaceBody(db: Database, position: number): void {
  const salt = Buffer.alloc(16, 7);
  const body = Buffer.from(JSON.stringify({ id: "decided", decision: "nothing was decided" }));
  db.prepare("UPDATE bodies SET salt = ?, body = ? WHERE position = ?").run(salt, body, position);
  db.prepare("UPDATE entries SET commitment = ? WHERE position = ?").run(commitmentOf(salt, body), position);
}

interface EntryColumns {
  readonly kind: string;
  readonly recorded_at: string;
  readonly recorded_by: string;
  readonly claims_digest: Buffer;
  readonly commitment: Buffer;
}

function hashAt(db: Database, position: number): Buffer {
  return db.prepare("SELECT hash FROM entries WHERE position = ?").pluck().get(position) as Buffer;
}

function rehash(db: Database, position: number): void {
  const columns = db.prepare("SELECT * FROM entries WHERE position = ?").get(position);
  const hash = chainHash({ ...(columns as EntryColumns), position, previous: hashAt(db, position - 1) });
  db.prepare("UPDATE entries SET hash = ? WHERE position = ?").run(hash, position);
}

function removeEntry(db: Database, position: number): void {
  for (const table of ["entries", "bodies", "claims"]) db.exec(`DELETE FROM ${table} WHERE position = ${position}`);
}

function move(db: Database, from: number, to: number, tables = ["entries", "bodies", "claims"]): void {
  for (const table of tables) db.exec(`UPDATE ${table} SET position = ${to} WHERE position = ${from}`);
}

function swap(db: Database, left: number, right: number, tables: string[]): void {
  move(db, left, 0, tables);
  move(db, right, left, tables);
  move(db, 0, right, tables);
}

function makeRoomAt(db: Database, position: number): void {
  for (let moved = LAST; moved >= position; moved -= 1) move(db, moved, moved + 1);
}

function insertForged(db: Database, position: number, hash?: Buffer): void {
  const salt = Buffer.alloc(16, 7);
  const body = Buffer.from(JSON.stringify({ id: "forged", error: "this was never recorded" }));
  const covered = { recorded_by: "", claims_digest: claimsDigest([idClaim("forged")]) };
  const placed = { kind: "error", recorded_at: "2026-11-15T06:39:37.123Z", commitment: commitmentOf(salt, body) };
  const columns = { ...placed, ...covered };
  const fitting = chainHash({ ...columns, position, previous: hashAt(db, position - 1) });
  db.prepare("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)").run(
    position,
    columns.kind,
    columns.recorded_at,
    columns.commitment,
    hash ?? fitting,
    columns.recorded_by,
    columns.claims_digest,
  );
  db.prepare("INSERT INTO bodies VALUES (?, ?, 0, ?)").run(position, salt, body);
}
