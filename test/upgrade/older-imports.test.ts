// Sessions that an older version imported, derived again: every view shows what this version makes of them, and the log keeps
// the rest. `store.ndjson` is an export of a store that the older version imported `sources` into.
import { appendFileSync, cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { inspectStore } from "../../src/recorder/inspect-store.js";
import { fixturePath } from "../support/fixtures.js";
import { folderOfTest } from "../support/temporary-folder.js";

const sources = fixturePath("older-imports", "sources");
const sessions = ["019e0000-1111-7222-8333-444455556666", "5b5b0000-0000-4000-8000-00000000000a"];

async function opened(data = join(folderOfTest(), "data")): Promise<Recorder> {
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  return recorder;
}

/** A store as the older version left it. */
async function olderStore(data?: string): Promise<Recorder> {
  const recorder = await opened(data);
  await recorder.importFiles(fixturePath("older-imports", "store.ndjson"), { restore: true });
  return recorder;
}

async function problemsOf(data: string): Promise<readonly unknown[]> {
  const { findings } = await inspectStore({ data });
  return findings.filter(({ level }) => level !== "ok");
}

/** What the views say of the sessions, whatever positions and ids their entries have. */
async function viewsOf(recorder: Recorder): Promise<unknown> {
  const views = [];
  for (const session_id of sessions) {
    const session = recorder.session(session_id);
    const { entries: _, consolidated_through: _through, metadata: __, ...summary } = (await session.summary()) ?? {};
    const { entries } = await session.entries({ limit: 100 });
    const kinds = entries.map((entry) => [entry.kind, "role" in entry ? entry.role : "", entry.created_at]);
    views.push({ summary, kinds, history: await session.history(), usage: (await recorder.usage({})).total });
  }
  const { results } = await recorder.search("lanterns");
  return { views, found: results.length };
}

test("importing again without being asked to adds nothing to an older session, and only what is new to a grown one", async () => {
  const recorder = await olderStore();
  const before = await viewsOf(recorder);
  expect(await recorder.importFiles(sources)).toMatchObject({ added: 0, rejected: [] });
  expect(await viewsOf(recorder)).toEqual(before);
  const grown = folderOfTest();
  cpSync(sources, grown, { recursive: true });
  const [file = ""] = readdirSync(join(grown, "codex"));
  const message = { type: "message", role: "user", content: [{ type: "input_text", text: "And now?" }] };
  const line = { timestamp: "2026-05-04T09:00:00.000Z", type: "response_item", payload: message };
  appendFileSync(join(grown, "codex", file), `${JSON.stringify(line)}\n`);
  expect(await recorder.importFiles(grown)).toMatchObject({ added: 1 });
});

test("derived again, every view is what a first import makes; the log keeps the old entries; twice changes nothing", async () => {
  const data = join(folderOfTest(), "data");
  const recorder = await olderStore(data);
  const old = await recorder.session(sessions[0] ?? "").entries({ limit: 100 });
  const report = await recorder.importFiles(sources, { again: true });
  expect(report).toMatchObject({ files: 2, sessions: 2, rejected: [] });
  const fresh = await opened();
  await fresh.importFiles(sources);
  const expected = await viewsOf(fresh);
  expect(await viewsOf(recorder)).toEqual(expected);
  const head = (await recorder.verify()).position;
  expect(await recorder.importFiles(sources, { again: true })).toMatchObject({ added: 0 });
  expect(await recorder.importFiles(sources)).toMatchObject({ added: 0 });
  expect(await recorder.verify()).toMatchObject({ ok: true, position: head });
  for (const entry of old.entries)
    expect(await recorder.getEntry(entry.id)).toMatchObject({ position: entry.position });
  expect(await problemsOf(data)).toEqual([]);
  await recorder.rebuildIndex();
  expect(await viewsOf(recorder)).toEqual(expected);
  expect(await problemsOf(data)).toEqual([]);
});
