// docs/DATA_FORMAT.md against the files: another program must be able to read and check a log by that document alone.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { openRecorder } from "../../src/index.js";
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

test("the worked example of the chain is right", () => {
  const document = readFileSync(join(repositoryRoot, "docs", "DATA_FORMAT.md"), "utf8");
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

test("a log is read and checked by what the document says, without a line of Hansard", async () => {
  const db = await logOfSamples();
  expect(db.pragma("application_id", { simple: true })).toBe(0x48414e53);
  expect(db.pragma("user_version", { simple: true })).toBe(3);
  expect(db.pragma("journal_mode", { simple: true })).toBe("wal");
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

test("a body holds what the caller gave in the documented order, and nothing that the log added", async () => {
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

async function logOfSamples(): Promise<Database.Database> {
  const data = folderOfTest();
  const recorder = await openRecorder({ data });
  await recorder.append([...sampleEntries]);
  await recorder.close();
  const db = new Database(join(data, "log.db"), { readonly: true });
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
