// Bodies in parts, in what is a file's own: backups, digests that must not be left in it, and compacting.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { compactLog } from "../../src/engines/sqlite/compact.js";
import { Database } from "../../src/engines/sqlite/driver.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import type { LogEntry } from "../../src/log/port.js";
import { verify } from "../../src/log/verify.js";
import { backUpStore, restoreStore } from "../../src/recorder/back-up-store.js";
import { digested, loop, range, redaction } from "../support/history-loop.js";
import { folderOfTest } from "../support/temporary-folder.js";

const EVERY = 0;
const NONE = Number.POSITIVE_INFINITY;
const ALL = { after: 0, limit: 500 };

function opened(path: string, parted_bytes_min?: number): SqliteLog {
  const log = SqliteLog.open({ path, mode: "create", ...(parted_bytes_min === undefined ? {} : { parted_bytes_min }) });
  onTestFinished(() => log.close());
  return log;
}

async function append(log: SqliteLog, entries: readonly LogEntry[]): Promise<void> {
  for (const entry of entries) await log.append([[entry]]);
}

function counted(path: string): number {
  const db = new Database(path, { read_only: true });
  try {
    return db.prepare("SELECT count(*) FROM bodies WHERE encoding = 1").pluck().get() as number;
  } finally {
    db.close();
  }
}

test("a backup and its restored copy contain each part once, and no erased one", async () => {
  const folder = folderOfTest();
  const log = opened(join(folder, "log.db"));
  const { entries, texts } = loop(40);
  await append(log, [...entries, redaction("gone", range(21, 40))]);
  const backup = join(folderOfTest(), "backup.db");
  await backUpStore({ data: folder, path: backup, replaces: false });
  const data = join(folderOfTest(), "restored");
  await restoreStore({ from: backup, data, seal_key: join(folder, "seal.pem") });
  const restored = opened(join(data, "log.db"));
  expect(digested(await restored.read(ALL))).toEqual(digested(await log.read(ALL)));
  expect(await verify(restored)).toEqual(await verify(log));
  for (const path of [backup, join(data, "log.db")]) {
    const bytes = readFileSync(path).toString("latin1");
    const found = texts.map((text) => bytes.split(text.slice(0, 60)).length - 1);
    // What was said after the twentieth turn was held by those that went; the first turn is too short to be in parts.
    expect(found).toEqual(texts.map((_, at) => (at <= 2 ? 2 : at <= 40 ? 1 : 0)));
  }
});

test("no digest of an erased part is left that could confirm a guess", async () => {
  const path = join(folderOfTest(), "log.db");
  const log = opened(path, EVERY);
  await append(log, loop(60).entries);
  const db = new Database(path, { read_only: true });
  onTestFinished(() => void db.close());
  const digests = db.prepare("SELECT digest FROM parts WHERE digest IS NOT NULL").pluck().all() as readonly Buffer[];
  await append(log, [redaction("all", range(1, 60))]);
  expect(await log.purge()).toBeUndefined();
  const bytes = Buffer.concat([path, `${path}-wal`].map((file) => readFileSync(file)));
  expect(digests.filter((digest) => bytes.includes(digest))).toEqual([]);
});

test("compacting rewrites whole bodies, can be interrupted and resumed, and does not change what is read", async () => {
  const path = join(folderOfTest(), "log.db");
  const whole = opened(path, NONE);
  const { entries, texts } = loop(150);
  await append(whole, entries);
  const before = digested(await whole.read(ALL));
  const db = new Database(path);
  db.exec("DROP TRIGGER bodies_never_updated; UPDATE bodies SET body = zeroblob(7000) WHERE position = 9");
  db.close();
  const stop = (): never => {
    throw new Error("stopped");
  };
  expect(() => compactLog(path, stop)).toThrow("stopped");
  expect(counted(path)).toBeGreaterThan(5);
  expect(counted(path)).toBeLessThan(149);
  const { bytes_before, bytes_after } = compactLog(path);
  expect(counted(path)).toBe(149);
  const distinct = texts.reduce((sum, text) => sum + text.length, 0);
  expect(bytes_after / distinct).toBeLessThan(1.8);
  expect(bytes_after).toBeLessThan(bytes_before / 10);
  const after = digested(await whole.read(ALL));
  expect(after.toSpliced(8, 1)).toEqual(before.toSpliced(8, 1));
  expect(await verify(whole)).toMatchObject({ ok: false, position: 9 });
  expect(compactLog(path)).toMatchObject({ bodies: 0 });
  expect((await whole.guards()).missing).toEqual([]);
});

test("compacting that is killed at any moment loses nothing, and resumes", async () => {
  const path = join(folderOfTest(), "log.db");
  const whole = opened(path, NONE);
  const { entries } = loop(150);
  await append(whole, entries);
  const verified = await verify(whole);
  const before = digested(await whole.read(ALL));
  await whole.close();
  const bytes = statSync(path).size;
  const program = fileURLToPath(new URL("./compactor.js", import.meta.url));
  // Between two batches, within one, and while the file is being rewritten, which follows the last.
  for (const [batches, ms] of [
    [1, 0],
    [1, 3],
    [1, 15],
    [2, 8],
    [3, 1],
    [5, 10],
    [6, 0],
    [99, 0],
  ]) {
    const child = spawn(process.execPath, [program, path, String(batches), String(ms)], { stdio: "ignore" });
    expect(await once(child, "close")).toEqual([null, "SIGKILL"]);
    const log = SqliteLog.open({ path, mode: "write" });
    expect(await verify(log)).toEqual(verified);
    expect(digested(await log.read(ALL))).toEqual(before);
    expect((await log.guards()).missing).toEqual([]);
    await log.close();
  }
  compactLog(path);
  expect(counted(path)).toBe(150);
  expect(statSync(path).size).toBeLessThan(bytes / 10);
  expect(digested(await opened(path).read(ALL))).toEqual(before);
});
