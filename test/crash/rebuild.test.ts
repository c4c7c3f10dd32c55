// Rebuilding the index while it is in use: the old one answers until the new one takes its place, at once for every
// process, and a rebuild that is killed leaves the old one as it was.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { SqliteIndex } from "../../src/engines/sqlite/index.js";
import { indexTableNames } from "../../src/engines/sqlite/index-draft.js";
import { createIndexTables } from "../../src/engines/sqlite/index-schema.js";
import { SqliteLog } from "../../src/engines/sqlite/log.js";
import { openRecorder, type Recorder } from "../../src/index.js";
import { rebuildBeside } from "../../src/reading/rebuild.js";
import { fill } from "../support/fill-index.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { auditStore } from "./audit.js";
import { batchIds, entryOf, sessionOf } from "./made-entries.js";
import { Writer } from "./programs.js";

test("four writers and a reader go on during rebuilds: nothing acknowledged is missing, and no answer is partial", async () => {
  const data = join(folderOfTest(), "store");
  const writers = ["a", "b", "c", "d"].map((name) => new Writer({ data, name, callers: 1, rounds: 1_000_000 }));
  await Promise.all(writers.map((writer) => writer.started));
  const [reader, rebuilder] = await Promise.all([openRecorder({ data }), openRecorder({ data })]);
  let isRebuilding = true;
  const rebuilds = (async () => {
    for (let nth = 0; nth < 3; nth += 1) await rebuilder.rebuildIndex();
    isRebuilding = false;
  })();
  while (isRebuilding) {
    for (const writer of writers) {
      const id = writer.acknowledged.at(-1) as string;
      const page = await reader.listEntries({ session_id: sessionOf(id) });
      expect(page.entries.map((entry) => entry.id)).toEqual([id]);
      expect(page).not.toHaveProperty("partial");
    }
  }
  await rebuilds;
  for (const writer of writers) expect(await writer.kill()).toMatchObject({ signal: "SIGKILL", stderr: "" });
  await Promise.all([reader.close(), rebuilder.close()]);
  await auditStore(
    data,
    writers.flatMap((writer) => writer.acknowledged),
  );
});

test("a killed rebuild leaves the index unchanged, and the next one removes its leftovers", async () => {
  const data = await storeOf(4_000);
  const before = await answersOf(data);
  for (const delayMs of [5, 20, 40, 80, 120, 200]) {
    const child = spawn(process.execPath, [programFile(), data], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    const ended = new Promise((resolve) => child.on("close", resolve));
    child.kill("SIGKILL");
    await ended;
    expect(await answersOf(data)).toEqual(before);
  }
  const recorder = await openRecorder({ data });
  await recorder.rebuildIndex();
  await recorder.close();
  expect(await answersOf(data)).toEqual(before);
  expect(tablesOf(data)).toEqual(tablesOf(await storeOf(1)));
});

test("progress is reported while the index is rebuilt", async () => {
  const data = await storeOf(4_000);
  const recorder = await openRecorder({ data });
  const told: number[] = [];
  await Promise.all([
    recorder.rebuildIndex({ onProgress: (position) => told.push(position) }),
    recorder.rebuildIndex({ onProgress: (position) => told.push(position) }),
  ]);
  expect(told.every((position) => position > 0 && position <= 4_000)).toBe(true);
  await recorder.close();
});

test("an index that another process puts in place is used by statements that were prepared before", async () => {
  const path = join(folderOfTest(), "index.db");
  const [left, right] = [SqliteIndex.open({ path }), SqliteIndex.open({ path })];
  await fill(left, { rows: [rowAt(1)], through: 1 });
  expect(await right.count()).toMatchObject({ entries: 1 });
  const draft = await left.draft();
  await fill(draft.index, { rows: [rowAt(1), rowAt(2)], through: 2 });
  expect(await right.count()).toMatchObject({ entries: 1 });
  expect(await draft.adopt()).toBe("adopted");
  expect(await right.count()).toMatchObject({ entries: 2 });
  await fill(right, { rows: [rowAt(3)], through: 3 });
  expect(await left.list({ filter: {}, limit: 5 })).toHaveLength(3);
  expect(await draft.isThere()).toBe(false);
  for (const index of [left, right]) await index.close();
});

test("documents stay with their draft, and a batch computed from the previous index is skipped", async () => {
  const index = SqliteIndex.open({ path: join(folderOfTest(), "index.db") });
  const newDocument = (key: string) => ({ collection: "made", key, sort: 1, position: 1, labels: ["l"], body: {} });
  await fill(index, { rows: [rowAt(1)], through: 1, put: [newDocument("of old")] });
  const after = await index.revision();
  const draft = await index.draft();
  await fill(draft.index, { rows: [rowAt(1)], through: 1, put: [newDocument("of the draft")] });
  expect(await draft.adopt()).toBe("adopted");
  await index.apply({ after, rows: [rowAt(2)], through: 2, put: [newDocument("late")] });
  expect(await index.checkpoint()).toBe(1);
  const found = await index.listDocuments({ collection: "made", order: "desc", labels: ["l"], limit: 9 });
  expect(found.map(({ key }) => key)).toEqual(["of the draft"]);
  expect(await index.countDocuments("sessions")).toBe(1);
  await index.close();
});

test("a draft that is behind the index in use does not replace it", async () => {
  const index = SqliteIndex.open({ path: join(folderOfTest(), "index.db") });
  await fill(index, { rows: [rowAt(1), rowAt(2)], through: 2 });
  const draft = await index.draft();
  await fill(draft.index, { rows: [rowAt(1)], through: 1 });
  expect(await draft.adopt()).toBe("behind");
  expect(await index.count()).toMatchObject({ entries: 2 });
  await draft.remove();
  expect(await draft.isThere()).toBe(false);
  expect(await index.count()).toMatchObject({ entries: 2 });
  await index.close();
});

test("a draft that was removed is distinguished from one that another process put in place", async () => {
  const path = join(folderOfTest(), "index.db");
  const [left, right] = [SqliteIndex.open({ path }), SqliteIndex.open({ path })];
  for (let round = 0; round < 3; round += 1) {
    const removed = await left.draft();
    await left.purge();
    expect([await removed.isThere(), await removed.adopt()]).toEqual([false, "gone"]);
    // Both fill one draft, since the second has removed the first and taken its name.
    const [mine, theirs] = [await left.draft(), await right.draft()];
    expect(await theirs.adopt()).toBe("adopted");
    expect([await mine.isThere(), await mine.adopt()]).toEqual([false, "adopted"]);
    expect(await (await right.draft()).adopt()).toBe("adopted");
    expect(await mine.adopt()).toBe("adopted");
  }
  for (const index of [left, right]) await index.close();
});

test("a rebuild whose draft is removed by forgetting restarts, and completes", async () => {
  const data = await storeOf(3_000);
  const path = join(data, "index.db");
  const log = SqliteLog.open({ path: join(data, "log.db"), mode: "read" });
  const index = SqliteIndex.open({ path });
  const db = new Database(path);
  db.exec("DELETE FROM rows WHERE position = 7");
  db.close();
  expect(await index.list({ filter: {}, limit: 5_000 })).toHaveLength(2_999);
  const told: number[] = [];
  const onProgress = (position: number): void => {
    if (told.push(position) % 3 === 0 && told.length < 8) void index.purge();
  };
  await rebuildBeside({ log, index, onProgress });
  expect(told.filter((position, nth) => position < (told[nth - 1] ?? 0))).toHaveLength(2);
  expect(await index.list({ filter: {}, limit: 5_000 })).toHaveLength(3_000);
  expect(tablesOf(data)).toEqual(tablesOf(await storeOf(1)));
  await index.close();
  await log.close();
});

test("a rebuild that cannot complete reports it, and keeps the index in use", async () => {
  const data = await storeOf(1_000);
  const log = SqliteLog.open({ path: join(data, "log.db"), mode: "read" });
  const index = SqliteIndex.open({ path: join(data, "index.db") });
  const rebuilt = rebuildBeside({ log, index, onProgress: () => void index.purge() });
  await expect(rebuilt).rejects.toMatchObject({ code: "store_busy" });
  expect(await index.count()).toMatchObject({ entries: 1_000 });
  await index.close();
  await log.close();
});

test("no column of the index has the name of a table, so tables are identified by name", () => {
  const { tables, all } = indexTableNames();
  const db = new Database(":memory:");
  onTestFinished(() => void db.close());
  createIndexTables(db);
  const columns = tables.flatMap((table) =>
    db.prepare<{ readonly name: string }>(`PRAGMA table_xinfo(${table})`).all(),
  );
  expect(columns.length).toBeGreaterThan(tables.length);
  expect(columns.filter(({ name }) => all.has(name))).toEqual([]);
});

function rowAt(position: number) {
  const labels = { session_id: "s", project: "", client: "" };
  return { position, kind: "error", created_ms: position, ...labels, references: [] };
}

async function storeOf(count: number): Promise<string> {
  const data = join(folderOfTest(), "store");
  const recorder = await openRecorder({ data });
  for (let done = 0; done < count; done += 500) {
    await recorder.append(batchIds(`m${done}`, Math.min(500, count - done)).map(entryOf));
  }
  await recorder.count();
  await recorder.close();
  return data;
}

async function answersOf(data: string): Promise<unknown> {
  const recorder = await openRecorder({ data });
  const pages = await Promise.all([
    recorder.count(),
    recorder.listEntries({ limit: 500 }),
    recorder.listInteractions({ limit: 500 }),
    recorder.listSessions({ limit: 500 }),
    searchIn(recorder),
  ]);
  await recorder.close();
  return pages;
}

async function searchIn(recorder: Recorder): Promise<readonly string[]> {
  const { results } = await recorder.search("m500.500.7", { limit: 50 });
  return results.map(({ id }) => id);
}

function tablesOf(data: string): readonly unknown[] {
  const db = new Database(join(data, "index.db"), { read_only: true });
  try {
    return db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").pluck().all();
  } finally {
    db.close();
  }
}

function programFile(): string {
  return fileURLToPath(new URL("./rebuilder.js", import.meta.url));
}
