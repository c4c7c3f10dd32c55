// An index that is lost, damaged or replaced while the program runs: recording goes on, every read is answered, and the
// newest entries are never missing from it.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type EntryInput, openRecorder, type Recorder } from "../../src/index.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { indexLosses } from "./index-losses.js";
import { sessionOf } from "./made-entries.js";
import { Writer } from "./programs.js";

const ENTRIES = 300;
/** So that a few hundred entries are a long rebuild. */
const impatient = { behind_max: 20, wait_ms: 0, newest: 40 };
const patient = { behind_max: 0, wait_ms: 60_000, newest: 40 };

describe("while a recorder is open,", () => {
  for (const [what, lose] of Object.entries(indexLosses)) {
    test(`${what}: reads are answered at once, with the newest entry, and completely in the end`, async () => {
      const data = await storeOf(ENTRIES);
      const recorder = await openRecorder({ data, rebuild: impatient });
      const before = await everything(recorder);
      lose(join(data, "index.db"));
      await recorder.append({ kind: "error", id: "newest", error: "one more", session_id: "of the newest" });
      const { entries } = await recorder.listEntries({ limit: 5 });
      expect(entries[0]).toMatchObject({ id: "newest" });
      expect(await recorder.listSessions({ limit: 1 })).toMatchObject({ sessions: [{ session_id: "of the newest" }] });
      // What would be wrong without the older entries waits for them.
      expect(await recorder.session("all of them").summary()).toMatchObject({ entries: ENTRIES });
      expect(await recorder.session("all of them").history()).toHaveLength(ENTRIES);
      await untilWhole(recorder);
      const after = await everything(recorder);
      expect(after.ids).toEqual(["newest", ...before.ids]);
      expect(after.counts).toMatchObject({ entries: ENTRIES + 1, by_kind: { message: ENTRIES, error: 1 } });
      await recorder.close();
    });
  }
});

test("answers from the newest entries only are marked as partial, and the store is degraded", async () => {
  const data = await storeOf(4_000);
  const recorder = await openRecorder({ data, rebuild: impatient });
  await everything(recorder);
  indexLosses["index.db is deleted"]?.(join(data, "index.db"));
  // All at once, because the rebuild takes only a moment.
  const [list, health, count, sessions, timeline] = await Promise.all([
    recorder.listEntries({ limit: 500 }),
    recorder.health(),
    recorder.count(),
    recorder.listSessions(),
    recorder.session("all of them").entries({ limit: 500 }),
  ]);
  expect(list).toMatchObject({ partial: true, next_cursor: null });
  expect(list.entries.map(({ position }) => position)).toEqual(Array.from({ length: 40 }, (_, nth) => 4_000 - nth));
  expect(health).toMatchObject({ status: "degraded", position: 4_000 });
  expect(count).toMatchObject({ partial: true, entries: 40 });
  expect(sessions).toMatchObject({ partial: true, sessions: [{ entries: 40 }] });
  expect(timeline).toMatchObject({ partial: true, next_cursor: null });
  expect(await recorder.getEntry(1)).toMatchObject({ position: 1 });
  await untilWhole(recorder);
  expect(await recorder.health()).toMatchObject({ status: "ok", indexed_through: 4_000 });
  expect(await recorder.listEntries({ limit: 1 })).not.toHaveProperty("partial");
  await recorder.close();
});

test("a reader that waits long enough gets the whole answer", async () => {
  const data = await storeOf(ENTRIES);
  const recorder = await openRecorder({ data, rebuild: patient });
  const before = await everything(recorder);
  indexLosses["index.db is deleted"]?.(join(data, "index.db"));
  expect(await everything(recorder)).toEqual(before);
  await recorder.close();
});

test("reads wait for entries not indexed yet if nothing is being rebuilt", async () => {
  const data = await storeOf(ENTRIES);
  const recorder = await openRecorder({ data, rebuild: impatient });
  await recorder.count();
  const other = await openRecorder({ data });
  await other.append(messages("more", 500));
  await other.close();
  expect(await recorder.count()).toMatchObject({ entries: ENTRIES + 500 });
  expect(await recorder.count()).not.toHaveProperty("partial");
  await recorder.close();
});

test("four writers continue while the index is lost repeatedly, and a reader misses none of their newest entries", async () => {
  const data = await storeOf(6_000);
  const writers = ["a", "b", "c", "d"].map((name) => new Writer({ data, name, callers: 1, rounds: 1_000_000 }));
  await Promise.all(writers.map((writer) => writer.started));
  const recorder = await openRecorder({ data, rebuild: { ...impatient, newest: 2_000 } });
  const severe = Object.entries(indexLosses).flatMap(([what, lose]) =>
    /deleted$|garbage|older/.test(what) ? lose : [],
  );
  for (const [nth, lose] of [...severe, () => {}].entries()) {
    for (let round = 0; round < 3; round += 1) {
      for (const writer of writers) {
        // The writer's last acknowledgement is a moment old, so a partial answer may lack it.
        const id = writer.acknowledged.at(-1) as string;
        const { entries, partial } = await recorder.listEntries({ session_id: sessionOf(id) });
        if (!partial) expect(entries.map((entry) => entry.id)).toEqual([id]);
      }
      const id = `mine-${nth}-${round}`;
      await recorder.append({ kind: "error", id, error: id, session_id: sessionOf(id) });
      const { entries } = await recorder.listEntries({ session_id: sessionOf(id) });
      expect(entries.map((entry) => entry.id)).toEqual([id]);
    }
    try {
      lose(join(data, "index.db"));
    } catch {
      // Another process has just removed it.
    }
  }
  await untilWhole(recorder);
  await recorder.close();
  for (const writer of writers) expect(await writer.kill()).toMatchObject({ signal: "SIGKILL", stderr: "" });
  const acknowledged = writers.flatMap((writer) => writer.acknowledged);
  const ids = await foreignIds(data);
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
});

function messages(name: string, count: number): readonly EntryInput[] {
  return Array.from({ length: count }, (_, nth) => ({
    kind: "message" as const,
    id: `${name}-${nth}`,
    session_id: "all of them",
    role: "user" as const,
    content: `${name} ${nth}`,
  }));
}

async function storeOf(count: number): Promise<string> {
  const data = join(folderOfTest(), "store");
  const recorder = await openRecorder({ data });
  await recorder.append(messages("m", count));
  await recorder.count();
  await recorder.close();
  return data;
}

async function foreignIds(data: string): Promise<ReadonlySet<string>> {
  const recorder = await openRecorder({ data });
  const { ids } = await everything(recorder);
  expect(await recorder.verify()).toMatchObject({ ok: true, entries: ids.length });
  await recorder.rebuildIndex();
  expect((await everything(recorder)).ids).toEqual(ids);
  await recorder.close();
  return new Set(ids);
}

async function untilWhole(recorder: Recorder): Promise<void> {
  while ("partial" in (await recorder.listEntries({ limit: 1 })))
    await new Promise((resolve) => setTimeout(resolve, 5));
}

async function everything(recorder: Recorder): Promise<{ readonly ids: readonly string[]; readonly counts: unknown }> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await recorder.listEntries({ limit: 500, cursor });
    ids.push(...page.entries.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  return { ids, counts: await recorder.count() };
}
