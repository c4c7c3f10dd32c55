// Bodies in parts: read back byte for byte, each text once in the file, and gone from it with the last that holds it.
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { newEntry } from "../../src/conformance/log-entries.js";
import { copyLog } from "../../src/custody/copy.js";
import { verify } from "../../src/custody/verify.js";
import { compactLog } from "../../src/engines/sqlite/compact.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import { openRecorder } from "../../src/index.js";
import type { LogEntry } from "../../src/ports/entry-log.js";
import { digest, digested, loop, redaction, turn, words } from "../support/history-loop.js";
import { folderOfTest } from "../support/temporary-folder.js";

const EVERY = 0;
const NONE = Number.POSITIVE_INFINITY;

function opened(path: string, parted_bytes_min?: number): SqliteLog {
  const log = SqliteLog.open({ path, mode: "create", ...(parted_bytes_min === undefined ? {} : { parted_bytes_min }) });
  onTestFinished(() => log.close());
  return log;
}

async function append(log: SqliteLog, entries: readonly LogEntry[]): Promise<void> {
  for (const entry of entries) await log.append([[entry]]);
}

function edit(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

function occurrences(path: string, text: string): number {
  return [path, `${path}-wal`].reduce((found, file) => {
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return found;
    return found + readFileSync(file).toString("latin1").split(text).length - 1;
  }, 0);
}

test("a loop that sends its whole history takes little more than its text, and reads, copies and verifies as without parts", async () => {
  const folder = folderOfTest();
  const { entries, texts } = loop(120);
  const [shared, apart] = [opened(join(folder, "shared.db")), opened(join(folder, "apart.db"), NONE)];
  await append(shared, entries);
  await append(apart, entries);
  const all = { after: 0, limit: 500 };
  expect(digested(await shared.read(all))).toEqual(digested(await apart.read(all)));
  const positions = [120, 3, 77];
  expect(digested(await shared.get(positions))).toEqual(digested(await apart.get(positions)));
  expect(await shared.getCheckedBodies(positions)).toStrictEqual(await apart.getBodies(positions));
  const [{ log_id: _, ...head }, { log_id, ...other }] = [await shared.head(), await apart.head()];
  expect(head).toEqual(other);
  const verified = await verify(shared);
  expect(verified).toEqual(await verify(apart));
  expect(verified).toMatchObject({ ok: true, entries: 120 });
  const copy = opened(join(folder, "copy.db"));
  await copyLog({ from: apart, to: copy });
  expect(await verify(copy)).toEqual(verified);
  expect((await copy.head()).log_id).toBe(log_id);
  const distinct = texts.reduce((sum, text) => sum + text.length, 0);
  for (const name of ["shared.db", "copy.db"]) {
    edit(join(folder, name), "PRAGMA wal_checkpoint(TRUNCATE)");
    expect(statSync(join(folder, name)).size / distinct).toBeLessThan(1.75);
  }
});

test("an export is the same to the byte with parts and without, with what was forgotten in between", async () => {
  const folder = folderOfTest();
  for (const name of ["whole", "shared"]) mkdirSync(join(folder, name));
  const whole = opened(join(folder, "whole", "log.db"), NONE);
  const shared = opened(join(folder, "shared", "log.db"));
  await append(whole, [...loop(12).entries, redaction("gone", [7, 12])]);
  await copyLog({ from: whole, to: shared });
  const inParts = new Database(join(folder, "shared", "log.db"), { readonly: true });
  onTestFinished(() => void inParts.close());
  expect(inParts.prepare("SELECT count(*) FROM bodies WHERE encoding = 1").pluck().get()).toBe(10);
  const [one, other] = await Promise.all(
    ["whole", "shared"].map(async (name) => {
      const recorder = await openRecorder({ data: join(folder, name) });
      let text = "";
      for await (const line of recorder.exportEntries()) text += line;
      await recorder.close();
      return text;
    }),
  );
  expect(one?.split("\n")).toHaveLength(15);
  expect(digest(Buffer.from(other as string))).toBe(digest(Buffer.from(one as string)));
});

test("any bytes are read back as they were given, whatever they look like", async () => {
  const log = opened(join(folderOfTest(), "log.db"), EVERY);
  const texts = fc.oneof(fc.string(), fc.constantFrom(...[words(80), `"${words(70)}\\`, '\\"'.repeat(150)]));
  const json = fc.jsonValue({ stringUnit: "binary" }).map((value) => JSON.stringify({ list: [value, value], value }));
  const lists = fc
    .array(fc.array(texts, { maxLength: 40 }), { maxLength: 4 })
    .map((all) => JSON.stringify({ all, again: all }));
  const bodies = fc.oneof(json, lists, texts).map((text) => Buffer.from(text));
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(bodies, fc.uint8Array({ maxLength: 3_000 })), { maxLength: 5 }), async (all) => {
      const unit = all.map((body) => newEntry(`entry-${made++}`, { body: Buffer.from(body) }));
      const { position } = await log.head();
      if (unit.length > 0) await log.append([unit]);
      const stored = await log.read({ after: position, limit: 10 });
      expect(stored.map(({ body }) => digest(body as Uint8Array))).toEqual(unit.map(({ body }) => digest(body)));
    }),
    { seed: 20, numRuns: 150 },
  );
  expect(await log.stray()).toBeUndefined();
});

test("what imitates a body in parts is text like any other, and messages that differ by a byte are two", async () => {
  const path = join(folderOfTest(), "log.db");
  const log = opened(path);
  const { entries } = loop(4);
  await append(log, entries);
  const db = new Database(path, { readonly: true });
  const taken = db.prepare("SELECT body FROM bodies ORDER BY position DESC").pluck().get() as Buffer;
  db.close();
  const content = words(600);
  const messages = [taken.toString("latin1"), content, `${content.slice(0, -1)}!`, content];
  const entry = turn("imitation", { messages: messages.map((text) => ({ role: "user", content: text })) });
  await append(log, [entry]);
  expect(digest((await log.get([5]))[0]?.body as Uint8Array)).toBe(digest(entry.body));
  expect(occurrences(path, content.slice(100, 200))).toBe(2);
  expect(await verify(log)).toMatchObject({ ok: true });
});

test("10 MB in 10,000 messages are taken and read again, a second time for a few KB", async () => {
  const path = join(folderOfTest(), "log.db");
  const log = opened(path);
  const messages = Array.from({ length: 10_000 }, (_, at) => ({ role: "user", content: `${at} ${"x".repeat(1_000)}` }));
  const [first, second] = [
    turn("first", { messages }),
    turn("second", { messages: [...messages, ...messages.slice(0, 1)] }),
  ];
  await append(log, [first]);
  edit(path, "PRAGMA wal_checkpoint(TRUNCATE)");
  const before = statSync(path).size;
  await append(log, [second]);
  edit(path, "PRAGMA wal_checkpoint(TRUNCATE)");
  expect(statSync(path).size - before).toBeLessThan(32 * 1024);
  const stored = await log.get([1, 2]);
  expect(stored.map((one) => digest(one?.body as Uint8Array))).toEqual([first, second].map(({ body }) => digest(body)));
});

test("a part goes from every byte with the last entry that holds it, beside a second writer and in a backup", async () => {
  const folder = folderOfTest();
  const path = join(folder, "log.db");
  const [log, beside] = [opened(path), opened(path)];
  const { entries, texts } = loop(40);
  await append(log, entries);
  const [early, late, last] = [texts[1] as string, texts[60] as string, texts.at(-1) as string];
  await append(log, [redaction("one", [40])]);
  expect(await log.purge()).toBeUndefined();
  // The last answer was held by its own turn alone, the others by turns before it, too.
  expect([last, late, early].map((text) => occurrences(path, text.slice(0, 60)))).toEqual([0, 1, 1]);
  const holders = Array.from({ length: 10 }, (_, at) => 30 + at);
  await beside.append([
    [redaction("more", holders)],
    [turn("keeps", { messages: [words(900), late].map((content) => ({ role: "user", content })) })],
  ]);
  await log.purge();
  expect([late, early].map((text) => occurrences(path, `"${text.slice(0, 60)}`))).toEqual([1, 1]);
  await beside.append([
    [
      redaction(
        "rest",
        Array.from({ length: 38 }, (_, at) => at + 1),
      ),
    ],
  ]);
  edit(path, `VACUUM INTO '${join(folder, "backup.db")}'`);
  await log.purge();
  for (const text of texts) {
    const isKept = text === late;
    expect([path, join(folder, "backup.db")].map((file) => occurrences(file, text.slice(0, 40)) > 0)).toEqual([
      isKept,
      isKept,
    ]);
  }
  expect(await verify(log)).toMatchObject({ ok: true, erased: 40 });
});

test("no digest of what went is left, with which somebody could try a guess", async () => {
  const path = join(folderOfTest(), "log.db");
  const log = opened(path, EVERY);
  await append(log, loop(60).entries);
  const db = new Database(path, { readonly: true });
  onTestFinished(() => void db.close());
  const digests = db.prepare("SELECT digest FROM parts WHERE digest IS NOT NULL").pluck().all() as readonly Buffer[];
  await append(log, [
    redaction(
      "all",
      Array.from({ length: 60 }, (_, at) => at + 1),
    ),
  ]);
  expect(await log.purge()).toBeUndefined();
  const bytes = Buffer.concat([path, `${path}-wal`].map((file) => readFileSync(file)));
  expect(digests.filter((digest) => bytes.includes(digest))).toEqual([]);
});

test("a damaged part is told with every entry that holds it, and so is one that is gone", async () => {
  const path = join(folderOfTest(), "log.db");
  const log = opened(path);
  const { entries, texts } = loop(6);
  await append(log, entries);
  await append(log, [newEntry("other", { body: Buffer.from(JSON.stringify({ id: "other", error: words(900) })) })]);
  const text = texts.at(-5) as string;
  const unguarded = "DROP TRIGGER parts_never_updated;";
  const at = `instr(bytes, CAST('${text.slice(0, 40)}' AS BLOB)) > 0`;
  edit(
    path,
    `${unguarded} UPDATE parts SET bytes = CAST(substr(bytes, 1, 20) || '#' || substr(bytes, 22) AS BLOB) WHERE ${at}`,
  );
  const damaged = await verify(log);
  expect(damaged).toMatchObject({ ok: false, position: 4, holders: [4, 5, 6] });
  await expect(log.getCheckedBodies([6])).resolves.toMatchObject([{ flaw: expect.stringContaining("not the one") }]);
  edit(path, `DROP TRIGGER parts_only_erased; DELETE FROM parts WHERE ${at}`);
  expect(await verify(log)).toMatchObject({ ok: false, position: 4, holders: [4, 5, 6] });
});

test("a part that no entry holds is told, and so is one that lies under another's digest", async () => {
  const path = join(folderOfTest(), "log.db");
  const log = opened(path);
  await append(log, loop(6).entries);
  edit(path, "INSERT INTO parts VALUES (1000000, randomblob(16), 5, CAST('hello' AS BLOB))");
  expect(await verify(log)).toMatchObject({
    ok: false,
    position: 0,
    reason: expect.stringContaining("no entry holds"),
  });
  edit(path, "DROP TRIGGER parts_only_erased; DELETE FROM parts WHERE start = 1000000");
  expect(await verify(log)).toMatchObject({ ok: true, warnings: ["trigger_missing"] });
  edit(path, "DROP TRIGGER parts_never_updated; UPDATE parts SET digest = randomblob(16) WHERE start = 0");
  expect(await verify(log)).toMatchObject({ ok: false, position: 1, reason: expect.stringContaining("filed") });
});

test("an append that fails leaves no part behind, and two writers store a part once", async () => {
  const path = join(folderOfTest(), "log.db");
  const [log, beside] = [opened(path), opened(path)];
  const { entries } = loop(6);
  await append(log, entries.slice(0, 3));
  edit(path, "CREATE TRIGGER full BEFORE INSERT ON bodies BEGIN SELECT RAISE(FAIL, 'full'); END");
  await expect(log.append([[entries[3] as LogEntry]])).rejects.toThrow();
  edit(path, "DROP TRIGGER full");
  expect(await verify(log)).toMatchObject({ ok: true, entries: 3 });
  for (const entry of entries.slice(3)) {
    await log.append([[entry]]);
    await beside.append([[{ ...entry, claims: entry.claims.map((claim) => `${claim}-again`) }]]);
  }
  const db = new Database(path, { readonly: true });
  const counts = "SELECT count(*), count(DISTINCT digest), count(DISTINCT bytes) FROM parts WHERE digest IS NOT NULL";
  const [all, digests, texts] = db.prepare(counts).raw().get() as readonly number[];
  db.close();
  expect([digests, texts]).toEqual([all, all]);
});

test("compacting rewrites what was stored whole, can be stopped and goes on, and changes nothing that is read", async () => {
  const path = join(folderOfTest(), "log.db");
  const whole = opened(path, NONE);
  const { entries, texts } = loop(150);
  await append(whole, entries);
  const before = digested(await whole.read({ after: 0, limit: 500 }));
  edit(path, "DROP TRIGGER bodies_never_updated; UPDATE bodies SET body = zeroblob(7000) WHERE position = 9");
  const stop = (): never => {
    throw new Error("stopped");
  };
  expect(() => compactLog(path, stop)).toThrow("stopped");
  const counted = (): unknown => {
    const db = new Database(path, { readonly: true });
    onTestFinished(() => void db.close());
    return db.prepare("SELECT count(*) FROM bodies WHERE encoding = 1").pluck().get();
  };
  expect(counted()).toBeGreaterThan(5);
  expect(counted()).toBeLessThan(149);
  const { bytes_before, bytes_after } = compactLog(path);
  expect(counted()).toBe(149);
  const distinct = texts.reduce((sum, text) => sum + text.length, 0);
  expect(bytes_after / distinct).toBeLessThan(1.8);
  expect(bytes_after).toBeLessThan(bytes_before / 10);
  const after = digested(await whole.read({ after: 0, limit: 500 }));
  expect(after.toSpliced(8, 1)).toEqual(before.toSpliced(8, 1));
  expect(await verify(whole)).toMatchObject({ ok: false, position: 9 });
  expect(compactLog(path)).toMatchObject({ bodies: 0 });
  expect((await whole.guards()).missing).toEqual([]);
});
