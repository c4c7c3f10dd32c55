// What was forgotten is in no byte of any file of the store: not in unused pages, not in a WAL, not in the index.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { Database } from "../../src/engines/sqlite/driver.js";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { readJson } from "../e2e/cli-run.js";
import { startServer } from "../e2e/http-client.js";
import { fuzzSeed } from "../support/fuzz.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { filesHolding } from "./file-bytes.js";

const reason = "it was asked for";

/** One of every kind, with a mark in every field that can hold one. */
function marked(mark: string, session_id: string): readonly EntryInput[] {
  const at = (field: string): string => `${mark}-${field}`;
  const labels = { session_id, project: at("project"), client: at("client") };
  return [
    { ...labels, kind: "session_info", id: at("id0"), title: at("title"), metadata: { [at("key")]: at("value") } },
    {
      ...labels,
      kind: "interaction",
      id: at("id1"),
      prompt: at("prompt"),
      model: at("model"),
      memories_used: [at("memory")],
      chunks_used: [at("chunk")],
      context_pack: { pack: at("pack") },
      extra: { more: at("extra") },
    },
    { kind: "response", id: at("id2"), interaction_id: at("id1"), response: at("response"), memories_used: [at("m2")] },
    { ...labels, kind: "message", id: at("id3"), role: "user", content: `${at("content")} ${"long ".repeat(4_000)}` },
    { ...labels, kind: "tool_call", id: at("id4"), tool: at("tool"), args: { a: at("args") }, result: at("result") },
    { ...labels, kind: "error", id: at("id5"), error: at("error"), context: at("context") },
    { ...labels, kind: "decision", id: at("id6"), decision: at("decision"), rationale: at("rationale") },
    { ...labels, kind: "consolidation", id: at("id7"), through: 1, summary: at("summary") },
    { ...labels, kind: "raw", id: at("id8"), source: at("source"), record: { [at("rawkey")]: at("raw") } },
  ];
}

/** Others around it, of all sizes, so pages are shared, split and filled. */
function others(count: number, name: string): readonly EntryInput[] {
  const random = seededRandom(fuzzSeed);
  return Array.from({ length: count }, (_, at) => ({
    kind: "message",
    session_id: `${name}-${at % 7}`,
    project: `${name}-project-${at % 5}`,
    role: "user",
    content: `${name} ${at} ${"word ".repeat(Math.floor(random() * (at % 11 === 0 ? 3_000 : 60)))}`,
  }));
}

async function opened(data: string): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return recorder;
}

test("while a server runs and another program forgets: no byte is left, and a copy of the words elsewhere survives", async () => {
  const server = await startServer();
  const { data, recorder } = server;
  await recorder.append(others(300, "before"));
  await recorder.append(marked("SECRETMARK", "SECRETMARK-session"));
  await recorder.append(others(300, "after"));
  await recorder.append({ kind: "error", id: "copy", error: "COPYMARK stands here too" });
  await recorder.append({ kind: "error", id: "gone", session_id: "SECRETMARK-session", error: "COPYMARK" });
  expect((await server.get("/search?q=secretmark")).body.results.length).toBeGreaterThan(0);
  await server.get("/sessions");
  expect(filesHolding(data, "SECRETMARK")).not.toEqual([]);
  const forgotten = await readJson(["forget", "--session", "SECRETMARK-session", "--reason", reason, "--yes"], {
    data,
  });
  expect(forgotten).toMatchObject({ entries: 10, left: [] });
  expect(filesHolding(data, "SECRETMARK")).toEqual([]);
  expect((await server.get("/search?q=copymark")).body.results).toMatchObject([{ id: "copy" }]);
  expect((await server.get("/verify")).body).toMatchObject({ ok: true, erased: 10 });
  await server.post("/entries", others(20, "later"));
  await server.get("/sessions");
  expect(filesHolding(data, "SECRETMARK")).toEqual([]);
  await server.close();
  expect(filesHolding(data, "SECRETMARK")).toEqual([]);
  expect(filesHolding(data, "COPYMARK")).toEqual(["log.db"]);
});

test("entry by entry, in any order, from a log whose pages are full of neighbours (seeded)", async () => {
  const data = join(folderOfTest(), "store");
  const recorder = await opened(data);
  const random = seededRandom(fuzzSeed);
  const entries = Array.from(
    { length: 400 },
    (_, at): EntryInput => ({
      kind: "error",
      id: `e${at}`,
      error: `MARK${String(at).padStart(4, "0")}END ${"x".repeat(Math.floor(random() * (at % 9 === 0 ? 9_000 : 200)))}`,
    }),
  );
  for (const entry of entries) await recorder.append(entry);
  const order = entries.map((_, at) => at).toSorted(() => random() - 0.5);
  for (let used = 0; used < 40; used += 8) {
    for (const at of order.slice(used, used + 8)) await recorder.forget({ entry: `e${at}`, reason });
    const bytes = readdirSync(data).map((name) => readFileSync(join(data, name), "latin1"));
    const found = new Set(bytes.flatMap((text) => [...text.matchAll(/MARK(\d{4})END/g)].map(([, at]) => Number(at))));
    expect(order.slice(0, used + 8).filter((at) => found.has(at))).toEqual([]);
    expect(found.size).toBe(400 - used - 8);
  }
  expect(await recorder.verify()).toMatchObject({ ok: true, erased: 40 });
});

test("a log of the first format, whose pages kept copies, is cleaned too", async () => {
  const data = folderOfTest();
  const path = join(data, "log.db");
  const db = new Database(path);
  db.exec(readFileSync(join(repositoryRoot, "test", "fixtures", "log-v1.sql"), "utf8"));
  db.close();
  const recorder = await opened(data);
  await recorder.append(others(200, "more"));
  expect(filesHolding(data, "while reading")).not.toEqual([]);
  await recorder.forget({ entry: "failed", reason });
  expect(filesHolding(data, "while reading")).toEqual([]);
  expect(await recorder.verify()).toMatchObject({ ok: true, erased: 1 });
});

test("an erased entry's session info is gone from the session and from every byte, and that of others stays", async () => {
  const data = folderOfTest();
  const recorder = await opened(data);
  const said = (id: string, title: string, metadata: EntryInput["extra"]): EntryInput => ({
    kind: "session_info",
    id,
    session_id: "s",
    title,
    metadata: metadata ?? {},
  });
  await recorder.append(said("first", "a title that stays", { tool: "one", kept: true }));
  await recorder.append(said("second", "TITLEMARK", { tool: "TITLEMARK", TITLEMARK: 1 }));
  await recorder.append(others(200, "around"));
  await recorder.append({ kind: "error", session_id: "s", project: "TITLEMARK", id: "third", error: "x" });
  expect((await recorder.listSessions()).sessions[0]).toMatchObject({ title: "TITLEMARK", projects: ["TITLEMARK"] });
  expect(filesHolding(data, "TITLEMARK")).not.toEqual([]);
  for (const entry of ["second", "third"]) await recorder.forget({ entry, reason });
  expect(filesHolding(data, "TITLEMARK")).toEqual([]);
  expect(await recorder.session("s").summary()).toMatchObject({
    title: "a title that stays",
    metadata: { tool: "one", kept: true },
    projects: [],
    entries: 1,
  });
});

test("many at once make the files smaller", async () => {
  const data = folderOfTest();
  const recorder = await opened(data);
  await recorder.append(others(2_000, "kept"));
  await recorder.append(
    Array.from({ length: 2_000 }, () => ({
      kind: "error" as const,
      project: "BULKMARK",
      error: `BULKMARK ${"y".repeat(2_000)}`,
    })),
  );
  await recorder.search("kept");
  // What was just recorded may still lie in the WAL.
  const logBytes = (): number =>
    readdirSync(data)
      .filter((name) => name.startsWith("log.db"))
      .reduce((sum, name) => sum + statSync(join(data, name)).size, 0);
  const bytesBefore = logBytes();
  const forgotten = await recorder.forget({ project: "BULKMARK", reason });
  expect(forgotten).toMatchObject({ entries: 2_000, left: [] });
  expect(filesHolding(data, "BULKMARK")).toEqual([]);
  expect(logBytes()).toBeLessThan(bytesBefore * 0.8);
  expect(await recorder.verify()).toMatchObject({ ok: true, erased: 2_000 });
  expect(await recorder.count()).toMatchObject({ entries: 2_002 });
});

test("while a reader holds the WAL open, forgetting reports what is left, and the next one removes it", async () => {
  const data = folderOfTest();
  const recorder = await opened(data);
  await recorder.append([...others(20, "before"), { kind: "error", id: "e", error: "HELDMARK" }]);
  const reader = new Database(join(data, "log.db"), { read_only: true });
  onTestFinished(() => void reader.close());
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM entries").get();
  const forgotten = await recorder.forget({ entry: "e", reason });
  expect(forgotten.left).toEqual([expect.stringContaining("log.db-wal")]);
  expect(await recorder.getEntry("e")).toMatchObject({ erased: true });
  reader.exec("COMMIT");
  await recorder.close();
  const again = await opened(data);
  await again.append(others(1, "next"));
  await again.close();
  expect(filesHolding(data, "HELDMARK")).toEqual([]);
});

test("an index that an older program keeps in the folder is removed", async () => {
  const data = folderOfTest();
  const recorder = await opened(data);
  await recorder.append({ kind: "error", id: "e", error: "x", project: "OLDMARK" });
  writeFileSync(join(data, "index.format-1.db"), "OLDMARK");
  await recorder.forget({ entry: "e", reason });
  expect(filesHolding(data, "OLDMARK")).toEqual([]);
});
