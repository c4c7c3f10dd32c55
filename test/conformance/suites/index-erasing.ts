// Checks of erasing in an index: after it, every answer is that of an index that never had the rows.
import { expect } from "vitest";
import type { EntryIndex, EntryRow } from "../../../src/index/port.js";
import { getSession } from "../../../src/sessions/session-list.js";
import { fill } from "./index-filling.js";
import { filterCombinations, mixedRows, newRow } from "./index-samples.js";
import { listSessions } from "./listed-sessions.js";
import type { Check } from "./suite.js";

export const indexErasingChecks: readonly Check<EntryIndex>[] = [
  {
    behaviour: "after erasing, lists, counts and sessions are those of an index that never had the rows",
    run: async ({ open, openOther }) => {
      const [index, other] = [await open(), await openOther()];
      const rows = [...mixedRows(60, 7), ...sessionRows(61)];
      const erased = [...rows.keys()].map((at) => at + 1).filter((position) => position % 3 === 0 || position > 66);
      await fill(index, { rows, through: 70 });
      await fill(index, { rows: [newRow(71, { kind: "redaction" })], erased: [...erased, 99], through: 71 });
      const left = rows.filter((row) => !erased.includes(row.position));
      await fill(other, { rows: left, through: 70 });
      await fill(other, { rows: [newRow(71, { kind: "redaction" })], through: 71 });
      expect(await answersOf(index, rows)).toEqual(await answersOf(other, rows));
    },
  },
  {
    behaviour: "an erased entry is no candidate, whether its texts were applied before or come after",
    run: async ({ open }) => {
      const index = await open();
      const rows = Array.from({ length: 40 }, (_, at) => newRow(at + 1));
      const texts = rows.map(({ position }) => ({ position, texts: [`word number ${position} alpha`] }));
      await fill(index, { rows, through: 40 });
      await index.applyTexts({ texts: texts.slice(0, 20), through: 20 });
      await fill(index, { rows: [], erased: [3, 30], through: 41 });
      await index.applyTexts({ texts: texts.slice(20), through: 41 });
      const found = await index.candidates({ filter: {}, needles: ["alpha"], limit: 100 });
      const positions = found.map(({ position }) => position).toSorted((left, right) => left - right);
      expect(positions).toEqual(rows.map(({ position }) => position).filter((at) => at !== 3 && at !== 30));
    },
  },
  {
    behaviour: "purging changes no answer",
    run: async ({ open }) => {
      const index = await open();
      const rows = [...mixedRows(60, 8), ...sessionRows(61)];
      await fill(index, { rows, through: 70 });
      await fill(index, { rows: [], erased: [1, 2, 3, 61], through: 71 });
      const before = await answersOf(index, rows);
      expect(await index.purge?.()).toBeUndefined();
      expect(await answersOf(index, rows)).toEqual(before);
      await fill(index, { rows: [newRow(72)], through: 72 });
      expect(await index.checkpoint()).toBe(72);
    },
  },
];

/** A session that is cleared, consolidated and described, so each of these can be erased. */
function sessionRows(first: number): readonly EntryRow[] {
  const parts: readonly Partial<EntryRow>[] = [
    { kind: "message", role: "user", project: "p1" },
    { kind: "session_info", facts: { title: "early", metadata: { x: 1 } } },
    { kind: "clear" },
    { kind: "consolidation", facts: { through: first } },
    { kind: "message", role: "user", project: "p2" },
    { kind: "session_info", facts: { title: "late", parent: "up", metadata: { y: 2 } } },
    { kind: "consolidation", facts: { through: first + 4 } },
    { kind: "clear" },
    { kind: "message", role: "assistant", client: "c2" },
    { kind: "error" },
  ];
  return parts.map((part, at) => newRow(first + at, { session_id: "told", ...part }));
}

async function answersOf(index: EntryIndex, rows: readonly EntryRow[]): Promise<object> {
  const lists = [];
  for (const filter of filterCombinations()) lists.push(await index.list({ filter, limit: 1_000 }));
  const sessions = [];
  for (const id of new Set(rows.map((row) => row.session_id))) {
    const range = { session_id: id, order: "asc", limit: 1_000 } as const;
    sessions.push({ id, session: await getSession(index, id), positions: await index.sessionPositions(range) });
  }
  const newest = await listSessions(index, { filter: {}, limit: 100 });
  const left = await index.rowsAt(rows.map(({ position }) => position));
  return { lists, sessions, newest, left, counts: await index.count(), checkpoint: await index.checkpoint() };
}
