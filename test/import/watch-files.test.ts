// What becomes of files that grow, move, shrink and go while they are watched, and of their bookmarks.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { Bookmarks } from "../../src/import/watch/bookmarks.js";
import {
  type Entry,
  openRecorder,
  type Recorder,
  type RejectedLine,
  type Watch,
  type WatchOptions,
} from "../../src/index.js";
import { contentTexts } from "../../src/model/content.js";
import { fixturePath, recordsOf } from "../support/fixtures.js";
import { importBench } from "../support/import-target.js";
import { ManualClock } from "../support/manual-clock.js";
import { recorderAt } from "../support/memory-recorder.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { tokensOf } from "../support/transcripts.js";

const data = join(folderOfFile(), "record");
const clock = new ManualClock();
let recorder: Recorder;
/** On the same store, with a clock that tests move. */
let clocked: Recorder;

beforeAll(async () => {
  recorder = await openRecorder({ data });
  clocked = await openClocked(data);
});
afterAll(async () => {
  await clocked.close();
  await recorder.close();
});

function openClocked(folder: string): Promise<Recorder> {
  const watching = { bookmarks: join(folder, "watch.db"), watchClock: clock };
  return recorderAt(folder, { nowMs: Date.now, randomBytes }, watching);
}

/** Waits until a watch has caught up, while the clock goes on. */
async function caughtUp(watch: Watch): Promise<void> {
  let isDone = false;
  const done = watch.caughtUp().then(() => {
    isDone = true;
  });
  while (!isDone) await clock.advance(100);
  await done;
}

/** Moves the clock until what is expected has come, at most so far. */
async function within(ms: number, expectation: () => unknown): Promise<void> {
  const endMs = clock.nowMs() + ms;
  for (;;) {
    await clock.advance(100);
    // Real time too: databases are read by another process.
    await pause(10);
    try {
      await expectation();
      return;
    } catch (error) {
      if (clock.nowMs() >= endMs) throw error;
    }
  }
}

/** A line of Claude Code's with words of its own; an id of its own too, so it counts once. */
function line(uuid: string, session: string, text = `words of ${uuid}`): string {
  const message = { role: "user", content: text };
  return `${JSON.stringify({ type: "user", uuid, sessionId: session, timestamp: "2026-05-04T08:00:00.000Z", message })}\n`;
}

/** All entries of a session, in order. */
async function entriesOf(session_id: string): Promise<readonly Entry[]> {
  let text = "";
  for await (const piece of recorder.exportEntries({ session_id })) text += piece;
  const entries = (recordsOf(text) as readonly Entry[]).filter((record) => "kind" in record);
  return entries.map((entry) => ({ ...entry, extra: entry.extra ?? {} }));
}

async function said(session: string): Promise<readonly string[]> {
  return (await entriesOf(session)).flatMap((entry) => (entry.kind === "message" ? [String(entry.content)] : []));
}

/** Watches until the test ends. */
async function watching(
  paths: string | readonly string[],
  options: WatchOptions = {},
  watcher: Recorder = clocked,
): Promise<Watch> {
  const watch = await watcher.watchFiles(paths, options);
  onTestFinished(() => watch.close());
  await caughtUp(watch);
  return watch;
}

/** Reads what there is, as a program does that is ended at once and started again later. */
async function readOnce(path: string): Promise<Watch["counts"]> {
  const watch = await recorder.watchFiles(path, { poll: true });
  await watch.caughtUp();
  await watch.close();
  return watch.counts;
}

describe("a file of each format that is read in steps, by a new program for each step", () => {
  const files = filesOf(fixturePath("import"));

  test.each(files.map((file) => [file.slice(fixturePath("import").length + 1), file]))("%s", async (_, file) => {
    const folder = folderOfTest();
    // Neighbouring files may name its session.
    cpSync(fixturePath("import"), folder, { recursive: true });
    const copy = join(folder, file.slice(fixturePath("import").length));
    const whole = readFileSync(file);
    writeFileSync(copy, "");
    let bytes = 0;
    // Cuts fall into the middle of lines, and of characters.
    for (let at = 0; at < whole.length; at += 997) {
      appendFileSync(copy, whole.subarray(at, at + 997));
      ({ bytes } = addTo(bytes, await readOnce(copy)));
    }
    const { added } = await recorder.importFiles(copy, { timezone: "UTC" });
    expect(added).toBe(0);
    expect(bytes).toBe(whole.length);
    const bench = importBench();
    await bench.import(copy);
    const imported = await bench.entries();
    const ids = new Set(imported.map(({ session_id }) => session_id));
    // A file may have several sessions at once.
    const entries = [...ids].flatMap((id) => imported.filter(({ session_id }) => session_id === id));
    const watched = (await Promise.all([...ids].map(entriesOf))).flat();
    expect(words(watched, "tool_call")).toEqual(words(entries, "tool_call"));
    expect(words(watched, "error")).toEqual(words(entries, "error"));
    expect(tokensOf(watched)).toEqual(tokensOf(entries));
    // What was left or taken back later was said when it was read.
    if (/gemini|[\\/]pi[\\/]/.test(file)) return;
    expect(words(watched, "message")).toEqual(words(entries, "message"));
  });

  function filesOf(path: string): readonly string[] {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path)
      .flatMap((name) => filesOf(join(path, name)))
      .filter((name) => name.endsWith(".jsonl"));
  }

  function addTo(bytes: number, counts: Watch["counts"]): { readonly bytes: number } {
    return { bytes: bytes + counts.bytes };
  }

  function words(entries: readonly Entry[], kind: string): string {
    const texts = entries.flatMap((entry) => {
      if (entry.kind !== kind) return [];
      if (entry.kind === "message") return contentTexts(entry.content);
      return [entry.kind === "tool_call" ? JSON.stringify(entry.result) : entry.kind === "error" ? entry.error : ""];
    });
    return texts.join("").replace(/\s/g, "");
  }
});

test("a line is recorded within two seconds of being complete, in files and folders that are new too", async () => {
  const folder = folderOfTest();
  await watching(folder, {}, recorder);
  mkdirSync(join(folder, "a/b/c"), { recursive: true });
  const file = join(folder, "a/b/c/new.jsonl");
  writeFileSync(file, line("new-1", "new"));
  await vi.waitFor(async () => expect(await said("new")).toEqual(["words of new-1"]), { timeout: 2_000 });
  const half = line("new-2", "new", "grüße");
  const cut = Buffer.from(half).indexOf("ü") + 1;
  appendFileSync(file, Buffer.from(half).subarray(0, cut));
  appendFileSync(file, Buffer.from(half).subarray(cut));
  await vi.waitFor(async () => expect(await said("new")).toEqual(["words of new-1", "grüße"]), { timeout: 2_000 });
  const { results } = await recorder.search("grüße", { session_id: "new" });
  expect(results.length).toBe(1);
});

test("rotation, truncation and replacement lose nothing and record nothing twice", async () => {
  const folder = folderOfTest();
  const file = join(folder, "r.jsonl");
  const read = (): Promise<Watch["counts"]> => readOnce(folder);
  writeFileSync(file, line("r1", "rotated") + line("r2", "rotated"));
  await read();
  // What was written just before it was rotated away is found under its new name, and only that is read.
  appendFileSync(file, line("r3", "rotated"));
  renameSync(file, `${file}.1`);
  writeFileSync(file, line("r4", "rotated"));
  expect(await read()).toMatchObject({ added: 2, bytes: (line("r3", "rotated") + line("r4", "rotated")).length });
  // Shorter than it was, then longer than it was, with another beginning.
  writeFileSync(file, line("r5", "rotated", "short"));
  await read();
  writeFileSync(file, line("r6", "rotated") + line("r7", "rotated") + line("r8", "rotated"));
  expect(await read()).toMatchObject({ added: 3 });
  // Cut back to a part of what it was, and written on from there.
  truncateSync(file, line("r6", "rotated").length + 10);
  await read();
  appendFileSync(file, `\n${line("r9", "rotated")}`);
  expect(await read()).toMatchObject({ added: 1, rejected: 1 });
  // Replaced by a longer copy of itself, as rsync does: only what is new is read.
  const text = readFileSync(file, "utf8");
  writeFileSync(`${file}.tmp`, text + line("r10", "rotated"));
  renameSync(`${file}.tmp`, file);
  expect(await read()).toMatchObject({ added: 1, bytes: line("r10", "rotated").length });
  const all = ["r1", "r2", "r3", "r4", "r6", "r7", "r8", "r9", "r10"].map((id) => `words of ${id}`);
  expect((await said("rotated")).toSorted()).toEqual([...all, "short"].toSorted());
  rmSync(folder, { recursive: true });
  expect(await read()).toMatchObject({ files: 0, rejected: 0 });
});

test("who is ended in the middle of a long file goes on near there", async () => {
  const file = join(folderOfTest(), "long.jsonl");
  const lines = Array.from({ length: 60 }, (_, at) => line(`long-${at}`, "long", `${at} `.repeat(300_000)));
  writeFileSync(file, lines.join(""));
  const before = (await recorder.health()).position;
  const watch = await recorder.watchFiles(file, { poll: true });
  await vi.waitFor(async () => expect((await recorder.health()).position - before).toBeGreaterThan(25), {
    timeout: 60_000,
  });
  await watch.close();
  const { bytes } = await readOnce(file);
  expect(bytes).toBeLessThan(lines.join("").length - 16 * 1024 * 1024);
  expect((await said("long")).map((text) => Number.parseInt(text, 10))).toEqual(lines.map((_, at) => at));
});

test("an unfinished last line is taken once it is whole, and once only", async () => {
  const file = join(folderOfTest(), "open.jsonl");
  const [first, second] = [line("o1", "open"), line("o2", "open")];
  writeFileSync(file, first + second.slice(0, 40));
  expect(await readOnce(file)).toMatchObject({ added: 2, rejected: 0 });
  appendFileSync(file, second.slice(40, -1));
  expect(await readOnce(file)).toMatchObject({ added: 1 });
  appendFileSync(file, `\n${line("o3", "open")}`);
  expect(await readOnce(file)).toMatchObject({ added: 1, rejected: 0 });
  expect(await said("open")).toEqual(["words of o1", "words of o2", "words of o3"]);
});

test("lost or damaged bookmarks cost a second reading and nothing else; a log that was exchanged is filled again", async () => {
  const folder = folderOfTest();
  const own = join(folder, "record");
  const file = join(folder, "l.jsonl");
  writeFileSync(file, line("l1", "lost") + line("l2", "lost"));
  const readWith = async (): Promise<Watch["counts"]> => {
    const opened = await openRecorder({ data: own });
    const watch = await opened.watchFiles(file, { poll: true });
    await watch.caughtUp();
    await opened.close();
    return watch.counts;
  };
  expect(await readWith()).toMatchObject({ added: 3 });
  expect(await readWith()).toMatchObject({ looks: 0 });
  writeFileSync(join(own, "watch.db"), "no database at all, but a text that is long enough to be looked at");
  expect(await readWith()).toMatchObject({ looks: 1, added: 0 });
  expect(statSync(join(own, "watch.db")).mode & 0o777).toBe(0o600);
  // Somebody put an older copy of the log back: here, one from before anything was recorded.
  const watch = readFileSync(join(own, "watch.db"));
  rmSync(own, { recursive: true });
  mkdirSync(own, { mode: 0o700 });
  writeFileSync(join(own, "watch.db"), watch);
  expect(await readWith()).toMatchObject({ looks: 1, added: 3 });
});

test("forgotten text is removed from bookmarks too, and does not come back", async () => {
  const folder = folderOfTest();
  const own = join(folder, "record");
  const file = join(folder, "f.jsonl");
  const call = { type: "tool_use", id: "t1", name: "shell", input: { command: "print hunter2hunter2" } };
  const message = { role: "assistant", id: "m1", content: [call] };
  writeFileSync(file, `${JSON.stringify({ type: "assistant", uuid: "f1", sessionId: "gone", message })}\n`);
  const opened = await openClocked(own);
  onTestFinished(() => opened.close());
  const watch = await opened.watchFiles(file, { poll: true });
  await caughtUp(watch);
  const bytes = (): string =>
    readdirSync(own)
      .filter((name) => name.startsWith("watch."))
      .map((name) => readFileSync(join(own, name), "latin1"))
      .join("");
  expect(bytes()).toContain("hunter2hunter2");
  await opened.forget({ session_id: "gone", reason: "test" });
  expect(bytes()).not.toContain("hunter2hunter2");
  await within(3_000, () => expect(watch.counts.looks).toBe(2));
  expect(watch.counts.added).toBe(2);
});

test("documents and databases are read again when they changed, with what their owner has not yet put into them", async () => {
  const folder = folderOfTest();
  const file = join(folder, "logs.db");
  const database = new Database(file);
  onTestFinished(() => void database.close());
  database.pragma("journal_mode = WAL");
  database.exec(`CREATE TABLE conversations (id TEXT, name TEXT, model TEXT);
    CREATE TABLE responses (id TEXT, model TEXT, prompt TEXT, system TEXT, response TEXT, conversation_id TEXT,
      duration_ms INTEGER, datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER)`);
  const insert = database.prepare(
    "INSERT INTO responses VALUES (?, 'm', ?, NULL, 'yes', 'talk-1', 5, '2026-05-04T08:00:00', 1, 1)",
  );
  insert.run("q1", "first question");
  const document = join(folder, "talk.json");
  writeFileSync(document, JSON.stringify([{ role: "user", content: "a document" }]));
  const watch = await watching(folder);
  expect(await said("talk-1")).toEqual(["first question", "yes"]);
  insert.run("q2", "second question");
  const messages = [
    { role: "user", content: "a document" },
    { role: "assistant", content: "that grew" },
  ];
  writeFileSync(`${document}.tmp`, JSON.stringify(messages));
  renameSync(`${document}.tmp`, document);
  await within(30_000, async () => {
    expect(await said("talk-1")).toEqual(["first question", "yes", "second question", "yes"]);
    expect(await said("talk")).toEqual(["a document", "that grew"]);
  });
  const { looks } = watch.counts;
  await clock.advance(1_300);
  expect(watch.counts.looks - looks).toBeLessThan(2);
});

test("an answer that its owner stores before it is said, and changes while it is, is taken once it is finished", async () => {
  const file = join(folderOfTest(), "opencode.db");
  const database = new Database(file);
  onTestFinished(() => void database.close());
  database.pragma("journal_mode = WAL");
  database.exec(`CREATE TABLE session (id TEXT, title TEXT, directory TEXT, time_created INTEGER);
    CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
    CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);
    INSERT INTO session VALUES ('ses_w', 'Watched', '/srv/shop', 1);
    INSERT INTO message VALUES ('m1', 'ses_w', 1, '{"role":"user","time":{"created":1}}');
    INSERT INTO part VALUES ('p1', 'm1', '{"type":"text","text":"Why?"}');
    INSERT INTO message VALUES ('m2', 'ses_w', 2, '{"role":"assistant","time":{"created":2}}');
    INSERT INTO part VALUES ('p2', 'm2', '{"type":"text","text":"Bec"}')`);
  await readOnce(file);
  expect(await said("ses_w")).toEqual(["Why?"]);
  database.exec(`UPDATE part SET data = '{"type":"text","text":"Because."}' WHERE id = 'p2';
    UPDATE message SET data = '{"role":"assistant","time":{"created":2,"completed":3}}' WHERE id = 'm2'`);
  await readOnce(file);
  expect(await said("ses_w")).toEqual(["Why?", "Because."]);
});

test("files of unknown format are reported once, when they have settled; links are followed to files only", async () => {
  const folder = folderOfTest();
  const elsewhere = folderOfTest();
  writeFileSync(join(folder, "notes.md"), "# just notes\n");
  const old = new Date(Date.now() - 120_000);
  utimesSync(join(folder, "notes.md"), old, old);
  writeFileSync(join(folder, "young.txt"), "not yet known\n");
  writeFileSync(join(elsewhere, "target.jsonl"), line("k1", "linked"));
  symlinkSync(join(elsewhere, "target.jsonl"), join(folder, "link.jsonl"));
  symlinkSync(folder, join(folder, "loop"));
  symlinkSync(join(folder, "nowhere"), join(folder, "broken.jsonl"));
  const rejected: RejectedLine[] = [];
  await watching(folder, { onRejected: (item) => rejected.push(item) });
  expect(rejected).toEqual([
    { file: join(folder, "notes.md"), line: 0, reason: expect.stringContaining("unknown format") },
  ]);
  appendFileSync(join(elsewhere, "target.jsonl"), line("k2", "linked"));
  await within(2_000, async () => expect(await said("linked")).toEqual(["words of k1", "words of k2"]));
  expect(rejected.length).toBe(1);
});

test("a file whose time is in the future settles by the watcher's own clock", async () => {
  const path = join(folderOfTest(), "notes.md");
  writeFileSync(path, "# just notes\n");
  const later = new Date("2099-01-01T00:00:00.000Z");
  utimesSync(path, later, later);
  const rejected: RejectedLine[] = [];
  await watching(path, { poll: true, onRejected: (item) => rejected.push(item) });
  expect(rejected).toEqual([]);
  await clock.advance(58_000);
  expect(rejected).toEqual([]);
  await within(6_000, () => expect(rejected).toMatchObject([{ file: path, line: 0 }]));
});

test("a folder that is not there yet, or goes and comes back, is watched all the same", async () => {
  const parent = join(folderOfTest(), "parent");
  const folder = join(parent, "later");
  writeFileSync(parent, "a file where a folder will be");
  await watching(folder);
  rmSync(parent);
  for (const round of ["b1", "b2"]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${round}.jsonl`), line(round, "back"));
    await within(2_500, async () => expect(await said("back")).toContain(`words of ${round}`));
    rmSync(folder, { recursive: true });
    await clock.advance(1_200);
  }
});

test("two programs keep bookmarks of one store at the same time", async () => {
  const path = join(folderOfTest(), "watch.db");
  const log = { head: async () => ({ log_id: "log", position: 0 }), hashAt: async () => undefined };
  const bookmarks = await Bookmarks.open(path, log);
  const driver = new URL("../../src/engines/sqlite/driver.js", import.meta.url).href;
  const other = new Worker(
    `import(${JSON.stringify(driver)}).then(({ Database }) => {
      const write = new Database(${JSON.stringify(path)}).prepare("UPDATE logs SET position = 0");
      setInterval(() => { for (let times = 0; times < 50; times += 1) write.run(); });
      const { parentPort } = require("node:worker_threads");
      parentPort.once("message", () => process.exit());
      parentPort.postMessage("writing");
    })`,
    { eval: true },
  );
  await once(other, "message");
  const bookmark = {
    key: "1:1",
    path: "s.jsonl",
    stamp: "1",
    importer: "claude-code/0",
    is_settled: true,
    sessions: [],
  };
  for (let times = 0; times < 300; times += 1) await bookmarks.save(bookmark, bookmarks.generation);
  other.postMessage("stop");
  await once(other, "exit");
  expect(bookmarks.find("1:1", "s.jsonl")).toMatchObject({ stamp: "1" });
  bookmarks.close();
});

test("bookmarks that cannot be stored are reported as a store that cannot be written", async () => {
  const unusable = join(folderOfTest(), "record");
  mkdirSync(join(unusable, "watch.db"), { recursive: true });
  const other = await openRecorder({ data: unusable });
  onTestFinished(() => other.close());
  await expect(other.watchFiles(folderOfTest())).rejects.toMatchObject({
    code: "store_not_writable",
    message: expect.stringContaining("watch.db"),
    hint: expect.any(String),
  });
});

test("what cannot be watched is refused, and options that do not exist too", async () => {
  await expect(recorder.watchFiles("-")).rejects.toMatchObject({ code: "field_invalid", field: "paths" });
  await expect(recorder.watchFiles("x", { format: "word" })).rejects.toMatchObject({ field: "format" });
  await expect(recorder.watchFiles("x", { pol: true } as WatchOptions)).rejects.toMatchObject({
    code: "parameter_unknown",
    hint: expect.stringContaining("poll"),
  });
});
