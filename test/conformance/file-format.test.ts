// docs/FILE_FORMAT.md against the files: another program must be able to read and check a log by that document alone.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { Database } from "../../src/engines/sqlite/driver.js";
import { type EntryInput, openRecorder } from "../../src/index.js";
import { sampleEntries } from "../support/sample-entries.js";
import { folderOfTest } from "../support/temporary-folder.js";

interface Row {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly recorded_by: string;
  readonly claims_digest: Buffer;
  readonly commitment: Buffer;
  readonly hash: Buffer;
  readonly salt: Buffer;
  readonly encoding: number;
  readonly body: Buffer;
}

test("the worked example of the chain is correct", () => {
  const document = readFileSync(join(repositoryRoot, "docs", "FILE_FORMAT.md"), "utf8");
  const block = /<!-- chain-example -->\n```\n(.*?)```/s.exec(document)?.[1] ?? "";
  const example = Object.fromEntries([...block.matchAll(/^(\w+) +(.+)$/gm)].map(([, name, value]) => [name, value]));
  const commitment = sha256(Buffer.from(example.salt as string, "hex"), example.body as string);
  expect(commitment.toString("hex")).toBe(example.commitment);
  const digest = sha256(Buffer.of(32), sha256("id:e-1"));
  expect(digest.toString("hex")).toBe(example.claims_digest);
  const lines = `v2\n1\n${example.kind}\n2026-11-15T06:39:37.123Z\n${example.recorded_by}\n`;
  expect(sha256(Buffer.alloc(32), lines, digest, commitment).toString("hex")).toBe(example.hash);
  const older = `1\n${example.kind}\n2026-11-15T06:39:37.123Z\n`;
  expect(sha256(Buffer.alloc(32), older, commitment).toString("hex")).toBe(example.first_format);
});

test("a log is read and checked by the document alone, without Hansard's code", async () => {
  const db = await logOfSamples();
  expect(db.pragma("application_id")).toBe(0x48414e53);
  expect(db.pragma("user_version")).toBe(4);
  expect(db.pragma("journal_mode")).toBe("wal");
  const rows = db
    .prepare("SELECT * FROM entries JOIN bodies USING (position) ORDER BY position")
    .all() as readonly Row[];
  const claimKeys = db.prepare("SELECT claim FROM claims WHERE position = ?").pluck();
  let previous: Buffer = Buffer.alloc(32);
  for (const [index, row] of rows.entries()) {
    expect([row.position, row.salt.length, row.encoding]).toEqual([index + 1, 16, 0]);
    const commitment = sha256(row.salt, row.body);
    const lines = `v2\n${row.position}\n${row.kind}\n${row.recorded_at}\n${row.recorded_by}\n`;
    const keys = claimKeys.all(row.position) as readonly Buffer[];
    const digest = sha256(...keys.toSorted(Buffer.compare).flatMap((key) => [Buffer.of(key.length), key]));
    previous = sha256(previous, lines, digest, commitment);
    const found = [row.claims_digest, row.commitment, row.hash].map((bytes) => bytes.toString("hex"));
    expect(found).toEqual([digest, commitment, previous].map((bytes) => bytes.toString("hex")));
  }
  expect(rows.map(({ kind }) => kind)).toEqual(sampleEntries.map(({ kind }) => kind));
});

test("a body contains the caller's fields in the documented order, and nothing added by the log", async () => {
  const db = await logOfSamples();
  const bodies = db.prepare("SELECT body FROM bodies ORDER BY position").pluck().all() as readonly Buffer[];
  for (const [index, bytes] of bodies.entries()) {
    const body = JSON.parse(bytes.toString("utf8")) as object;
    expect(bytes.toString("utf8")).toBe(JSON.stringify(body));
    expect(body).toMatchObject({ id: sampleEntries[index]?.id });
    for (const added of ["position", "kind", "recorded_at", "recorded_by", "hash"])
      expect(body).not.toHaveProperty(added);
    const order = ["id", "created_at", "session_id", "project", "client"];
    const envelope = Object.keys(body).filter((name) => order.includes(name));
    expect(Object.keys(body).slice(0, envelope.length)).toEqual(order.filter((name) => envelope.includes(name)));
  }
});

test("claims are stored as the document says", async () => {
  const db = await logOfSamples();
  const find = db.prepare("SELECT position FROM claims WHERE claim = ?").pluck();
  for (const [index, { id }] of sampleEntries.entries()) expect(find.get(sha256(`id:${id}`))).toBe(index + 1);
  expect(find.get(sha256("completes:asked"))).toBe(6);
});

test("bodies in parts and the digests of shared parts are read by the document alone", async () => {
  const messages = Array.from({ length: 90 }, (_, at) => ({
    role: "user",
    content: `${at} was said before. `.repeat(60),
  }));
  const db = await logOf(
    [6, 7, 9, ...Array.from({ length: 80 }, (_, at) => at + 10)].map((count) => {
      const context_pack = { messages: messages.slice(0, count), note: "é".repeat(3_000) };
      return { kind: "interaction", prompt: messages[count - 1]?.content as string, context_pack };
    }),
  );
  const rows = db.prepare("SELECT * FROM entries JOIN bodies USING (position)").all() as readonly Row[];
  for (const { encoding, salt, body, commitment } of rows) {
    expect([encoding, sha256(salt, ...inOrder(db, body)).toString("hex")]).toEqual([1, commitment.toString("hex")]);
  }
  const secret = Buffer.from(
    db.prepare("SELECT value FROM meta WHERE name = 'parts_secret'").pluck().get() as string,
    "hex",
  );
  const isKept = db.prepare("SELECT length FROM parts WHERE digest = ?").pluck();
  const text = JSON.stringify(messages[0]?.content);
  expect(isKept.get(sha256(secret, Buffer.of(0), text).subarray(0, 16))).toBe(text.length);
  let list: Buffer = Buffer.alloc(16);
  for (const [at, message] of messages.entries()) {
    list = sha256(secret, Buffer.of(1), list, `${at === 0 ? "" : ","}${JSON.stringify(message)}`).subarray(0, 16);
    expect(isKept.get(list) !== undefined).toBe([6, 7].includes(at + 1) || (at + 1 >= 9 && at + 1 < 90));
  }
});

/** All bytes that pieces stand for, in order. */
function inOrder(db: Database, bytes: Buffer): readonly Buffer[] {
  const found: Buffer[] = [];
  const given: Buffer[] = [];
  let [at, end] = [0, 0];
  const number = (): number => {
    let [value, place] = [0, 1];
    for (;;) {
      const byte = bytes[at++] as number;
      value += (byte % 128) * place;
      place *= 128;
      if (byte < 128) return value;
    }
  };
  number();
  while (at < bytes.length) {
    const value = number();
    const n = Math.floor(value / 4);
    if (value % 4 === 0) {
      given.push(bytes.subarray(at, at + n));
      found.push(bytes.subarray(at, at + n));
      at += n;
    } else if (value % 4 === 1) found.push(given[n] as Buffer);
    else {
      const start = end + (n % 2 === 0 ? n / 2 : -(n + 1) / 2);
      const part = partAt(db, start, number());
      end = start + part.length;
      found.push(...(value % 4 === 2 ? [part] : inOrder(db, part)));
    }
  }
  return found;
}

function partAt(db: Database, start: number, length: number): Buffer {
  const rows = db.prepare("SELECT bytes FROM parts WHERE start >= ? ORDER BY start").pluck().iterate(start);
  const pieces: Buffer[] = [];
  for (const row of rows as Iterable<Buffer>) {
    pieces.push(row);
    if (pieces.reduce((sum, piece) => sum + piece.length, 0) >= length) break;
  }
  return Buffer.concat(pieces, length);
}

function logOfSamples(): Promise<Database> {
  return logOf(sampleEntries);
}

async function logOf(entries: readonly EntryInput[]): Promise<Database> {
  const data = folderOfTest();
  const recorder = await openRecorder({ data });
  await recorder.append([...entries]);
  await recorder.close();
  const db = new Database(join(data, "log.db"), { read_only: true });
  onTestFinished(() => {
    db.close();
  });
  return db;
}

function sha256(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
