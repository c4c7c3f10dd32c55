// Verify on its own: what it answers, in which order it checks, and how it distinguishes erased from damaged.
import { describe, expect, test } from "vitest";
import { MemoryLog } from "../engines/memory/log.js";
import { GENESIS_HASH } from "../model/chain.js";
import type { LogEntry, StoredEntry } from "./port.js";
import { verify } from "./verify.js";

/** A log whose entries a test can change as they are read. */
class AlteredLog extends MemoryLog {
  alter: (stored: StoredEntry) => StoredEntry = (stored) => stored;

  override async read(range: Parameters<MemoryLog["read"]>[0]): Promise<readonly StoredEntry[]> {
    return (await super.read(range)).map((stored) => this.alter(stored));
  }
}

test("an empty log is verified, and its hash is the one before the first entry", async () => {
  const hash = Buffer.from(GENESIS_HASH).toString("hex");
  expect(await verify(new MemoryLog())).toEqual({ ok: true, entries: 0, erased: 0, position: 0, hash });
});

test("a whole log is verified to its end, across batches", async () => {
  const log = new MemoryLog();
  await log.append([Array.from({ length: 1_234 }, (_, nth) => newEntry(`e-${nth}`))]);
  const { hash } = await log.head();
  const seen: number[] = [];
  expect(await verify(log, { onProgress: (through) => seen.push(through) })).toEqual({
    ok: true,
    entries: 1_234,
    erased: 0,
    position: 1_234,
    hash: Buffer.from(hash).toString("hex"),
  });
  expect(seen).toEqual([500, 1_000, 1_234]);
});

test("what is erased during the walk is erased, not lost", async () => {
  const log = new MemoryLog();
  await log.append([Array.from({ length: 700 }, (_, nth) => newEntry(`e-${nth}`))]);
  let isErased = false;
  const onProgress = (): void => {
    if (!isErased) void log.append([[redaction("r", [600])]]);
    isErased = true;
  };
  expect(await verify(log, { onProgress })).toMatchObject({ ok: true, entries: 701, erased: 1 });
});

test("entries that arrive during the walk are left to the next one", async () => {
  const log = new MemoryLog();
  await log.append([Array.from({ length: 700 }, (_, nth) => newEntry(`e-${nth}`))]);
  const walking = verify(log);
  await log.append([[newEntry("late")]]);
  expect(await walking).toMatchObject({
    ok: true,
    position: expect.toSatisfy((at: number) => at === 700 || at === 701),
  });
});

describe("missing bodies", () => {
  test("are erased if a later redaction names them", async () => {
    const log = await logOf([newEntry("e-1"), newEntry("e-2"), redaction("x", [1, 2]), newEntry("e-3")]);
    log.alter = withoutBodies(1, 2);
    expect(await verify(log)).toMatchObject({ ok: true, entries: 4, erased: 2 });
  });

  test("are a flaw if no redaction names them, and the first one is reported", async () => {
    const log = await logOf([newEntry("e-1"), newEntry("e-2"), newEntry("e-3"), redaction("x", [1])]);
    log.alter = withoutBodies(1, 2, 3);
    expect(await verify(log)).toEqual({ ok: false, position: 2, reason: expect.stringContaining("no redaction") });
  });

  test("are reported before a flaw that comes later", async () => {
    const log = await logOf([newEntry("e-1"), newEntry("e-2"), newEntry("e-3")]);
    const gone = withoutBodies(1);
    log.alter = (stored) => (stored.position === 3 ? { ...stored, kind: "raw" } : gone(stored));
    expect(await verify(log)).toMatchObject({ ok: false, position: 1 });
  });

  test.each([
    ["changed", (stored: StoredEntry) => ({ ...stored, body: Buffer.from("{}") })],
    ["of another kind", (stored: StoredEntry) => ({ ...stored, kind: "raw" })],
    ["with another hash", (stored: StoredEntry) => ({ ...stored, hash: Buffer.alloc(32) })],
    ["elsewhere", (stored: StoredEntry) => ({ ...stored, position: 9 })],
  ] as const)(
    "are distinguished from an entry that is %s, although their redaction comes after it",
    async (_, change) => {
      const entries = ["e-1", "e-2", "e-3", "e-4"].map((id) => newEntry(id));
      const log = await logOf([...entries, redaction("x", [1, 2])]);
      const gone = withoutBodies(1, 2);
      log.alter = (stored) => (stored.position === 3 ? change(stored) : gone(stored));
      expect(await verify(log)).toMatchObject({ ok: false, position: 3 });
    },
  );

  test("are also a flaw if only the salt is missing", async () => {
    const log = await logOf([newEntry("e-1")]);
    log.alter = ({ salt: _, ...rest }) => rest;
    expect(await verify(log)).toMatchObject({ ok: false, position: 1 });
  });
});

test("a damaged redaction erases nothing", async () => {
  const log = await logOf([newEntry("e-1"), redaction("x", [1])]);
  const gone = withoutBodies(1);
  const forged = Buffer.from('{"id":"x","positions":[1]} ');
  log.alter = (stored) => (stored.position === 2 ? { ...stored, body: forged } : gone(stored));
  expect(await verify(log)).toMatchObject({ ok: false, position: 1 });
});

function newEntry(id: string, fields: object = { error: "e" }, kind = "error"): LogEntry {
  const salt = Buffer.alloc(16, id);
  const body = Buffer.from(JSON.stringify({ id, ...fields }));
  const recorded_at = "2026-11-15T06:39:37.123Z";
  return { kind, recorded_at, recorded_by: "", salt, body, claims: [`id:${id}`] };
}

function redaction(id: string, positions: readonly number[]): LogEntry {
  return newEntry(id, { positions }, "redaction");
}

async function logOf(entries: readonly LogEntry[]): Promise<AlteredLog> {
  const log = new AlteredLog();
  await log.append([entries]);
  return log;
}

function withoutBodies(...positions: readonly number[]): (stored: StoredEntry) => StoredEntry {
  return (stored) => {
    if (!positions.includes(stored.position)) return stored;
    const { body: _, salt: __, ...rest } = stored;
    return rest;
  };
}
