// Checks of sessions: what the index knows of one, their order with pages that hold still, and positions within one.

import { expect } from "vitest";
import type { EntryIndex, EntryRow, SessionRange } from "../../../src/index/port.js";
import { metadataOf, SESSIONS } from "../../../src/index/session-fold.js";
import { itemAt } from "../../../src/model/item-at.js";
import { getSession, type SessionsReached } from "../../../src/sessions/session-list.js";
import type { SessionFilter } from "../../../src/sessions/session-query.js";
import { fill, fillAll } from "./index-filling.js";
import { mixedRows, newRow } from "./index-samples.js";
import { listSessions } from "./listed-sessions.js";
import type { Check } from "./suite.js";

const ROWS = mixedRows(300, 31);
const IDS = [...new Set(ROWS.map((row) => row.session_id))].filter((id) => id !== "");

export const indexSessionChecks: readonly Check<EntryIndex>[] = [
  {
    behaviour: "a session sums up its entries: times, labels in order of appearance, counts by kind",
    run: async ({ open }) => {
      const index = await open();
      const rows = [
        newRow(1, { session_id: "s", created_ms: 50, project: "b", kind: "message", role: "user" }),
        newRow(2, { session_id: "other", created_ms: 1, project: "x" }),
        newRow(3, { session_id: "s", created_ms: 20, project: "a", client: "cli" }),
        newRow(4, { session_id: "s", created_ms: 90, project: "b", kind: "message", role: "system" }),
      ];
      await fillAll(index, rows, 2);
      expect(await getSession(index, "s")).toEqual({
        session_id: "s",
        title: "",
        first_prompt: "",
        parent: "",
        first_ms: 20,
        last_ms: 90,
        projects: ["b", "a"],
        clients: ["cli"],
        users: [],
        tags: [],
        cwd: "",
        has_source: false,
        entries: 3,
        injected: 0,
        failures: 0,
        turns: 0,
        files: 0,
        active_ms: 70,
        last_event: "asked",
        last_answer: "",
        by_kind: { message: 2, interaction: 1 },
        consolidated_through: 0,
        consolidated_at: 0,
        cleared_through: 0,
        first_position: 1,
        last_position: 4,
      });
    },
  },
  {
    behaviour: "later session info wins, key by key, in any batch",
    run: async ({ open }) => {
      const index = await open();
      const info = (position: number, facts: NonNullable<EntryRow["facts"]>): EntryRow =>
        newRow(position, { session_id: "s", kind: "session_info", facts });
      await fill(index, {
        rows: [
          info(1, { title: "first", parent: "p", metadata: { a: 1, b: { deep: [1] } } }),
          info(2, { title: "second", metadata: { b: null } }),
        ],
        through: 2,
      });
      const metadata = JSON.parse('{"c":3,"__proto__":{"d":4}}');
      await fill(index, { rows: [info(3, { metadata })], through: 3 });
      const session = await getSession(index, "s");
      expect(session).toMatchObject({ title: "second", parent: "p" });
      const known = await metadataOf(index, ["s", "nobody's"]);
      expect([...known.keys()]).toEqual(["s"]);
      expect(JSON.stringify(known.get("s"))).toBe('{"a":1,"b":null,"c":3,"__proto__":{"d":4}}');
    },
  },
  {
    behaviour: "consolidation is known by its greatest `through` and its last position, until the session is cleared",
    run: async ({ open }) => {
      const index = await open();
      const of = (position: number, parts: Partial<EntryRow>): EntryRow =>
        newRow(position, { session_id: "s", ...parts });
      const consolidations = [
        of(10, { kind: "consolidation", facts: { through: 7 } }),
        of(11, { kind: "consolidation", facts: { through: 4 } }),
      ];
      await fill(index, { rows: [of(9, { kind: "clear" }), ...consolidations], through: 11 });
      expect(await getSession(index, "s")).toMatchObject({
        consolidated_through: 7,
        consolidated_at: 11,
        cleared_through: 9,
      });
      await fill(index, { rows: [of(12, { kind: "clear" })], through: 12 });
      expect(await getSession(index, "s")).toMatchObject({
        consolidated_through: 0,
        consolidated_at: 0,
        cleared_through: 12,
      });
      await fill(index, { rows: [of(13, { kind: "consolidation", facts: { through: 5 } })], through: 13 });
      expect(await getSession(index, "s")).toMatchObject({
        consolidated_through: 5,
        consolidated_at: 13,
        cleared_through: 12,
      });
    },
  },
  {
    behaviour: "a session that was never recorded is undefined, and so is the empty one",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: ROWS.length });
      expect(await getSession(index, "nobody's")).toBeUndefined();
      expect(await getSession(index, "")).toBeUndefined();
      expect(await index.sessionPositions({ session_id: "", order: "asc", limit: 10 })).toEqual([]);
      expect(await sessions(index, {})).not.toContain("");
    },
  },
  {
    behaviour: "sessions are listed by their latest time, then by their newest position, and pages reach each once",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: ROWS.length });
      const expected = expectedSessions(ROWS, {});
      for (const limit of [1, 2, 100]) expect(await sessions(index, {}, limit)).toEqual(expected);
    },
  },
  {
    behaviour: "sessions are filtered by the labels of their entries, and by entries without one",
    run: async ({ open }) => {
      const index = await open();
      const rows = [
        ...ROWS,
        newRow(301, { session_id: "labelled", project: "p", client: "c" }),
        newRow(302, { session_id: "bare" }),
      ];
      await fill(index, { rows, through: 302 });
      for (const filter of [
        { project: "p" },
        { project: "" },
        { client: "c" },
        { project: "p", client: "" },
        { client: "cli" },
      ]) {
        expect(await sessions(index, filter), JSON.stringify(filter)).toEqual(expectedSessions(rows, filter));
      }
    },
  },
  {
    behaviour: "pages of sessions are stable while entries arrive",
    run: async ({ open }) => {
      const index = await open();
      const rows = Array.from({ length: 12 }, (_, at) => newRow(at + 1, { session_id: `s-${at}` }));
      await fill(index, { rows, through: 12 });
      const { sessions: first, as_of } = await listSessions(index, { filter: {}, limit: 1 });
      expect(first.map(({ session_id }) => session_id)).toEqual(["s-11"]);
      const { at, position } = itemAt(first, 0);
      const arrived = [
        newRow(13, { session_id: "s-3" }),
        newRow(14, { session_id: "new" }),
        // Of long ago, so it stays where it is, and below all others.
        newRow(15, { session_id: "s-5", created_ms: 1 }),
        newRow(16, { session_id: "old", created_ms: 2 }),
        newRow(17, { session_id: "s-11" }),
      ];
      await fill(index, { rows: arrived, through: 17 });
      const after = { at, position, as_of };
      const { sessions: rest } = await listSessions(index, { filter: {}, after, limit: 100 });
      expect(rest.map(({ session_id }) => session_id)).toEqual(Array.from({ length: 11 }, (_, at) => `s-${10 - at}`));
      expect(rest.map(({ position }) => position)).toEqual(Array.from({ length: 11 }, (_, at) => 11 - at));
    },
  },
  {
    behaviour: "positions within a session come in either order, from any place, by kind and role",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: ROWS.length });
      for (const session_id of IDS) {
        for (const order of ["asc", "desc"] as const) {
          for (const parts of [
            {},
            { after: 150 },
            { above: 100 },
            { after: 150, above: 50 },
            { kinds: ["message"] },
            { role: "user" },
            { role: "system", kinds: ["message"] },
          ]) {
            for (const limit of [3, 1_000]) {
              const range: SessionRange = { session_id, order, limit, ...parts };
              expect(await index.sessionPositions(range), JSON.stringify(range)).toEqual(expectedPositions(range));
            }
          }
        }
      }
    },
  },
  {
    behaviour: "a session whose entries are all erased is gone, with its project and its client",
    run: async ({ open }) => {
      const index = await open();
      const labels = { session_id: "gone", project: "secret", client: "c" };
      await fill(index, { rows: [newRow(1, labels), newRow(2, { ...labels, kind: "clear" })], through: 2 });
      await fill(index, { rows: [newRow(3, { kind: "redaction" })], erased: [1, 2], through: 3 });
      expect(await getSession(index, "gone")).toBeUndefined();
      expect(await sessions(index, {})).toEqual([]);
      expect(await index.countDocuments(SESSIONS)).toBe(0);
      expect(await index.count()).toMatchObject({
        entries: 1,
        by_kind: { redaction: 1 },
        projects: [{ project: "", entries: 1 }],
      });
    },
  },
  {
    behaviour: "the values of an erased session_info are gone, and those of the others stay",
    run: async ({ open }) => {
      const index = await open();
      const info = (position: number, title: string, metadata: { readonly [key: string]: string }): EntryRow =>
        newRow(position, { kind: "session_info", session_id: "s", facts: { title, metadata } });
      const rows = [info(1, "first", { a: "1", b: "1" }), info(2, "second", { b: "2" }), info(3, "third", { c: "3" })];
      await fill(index, { rows, through: 3 });
      await fill(index, { rows: [], erased: [2], through: 4 });
      expect(await getSession(index, "s")).toMatchObject({ title: "third" });
      expect(await metadataOf(index, ["s"])).toEqual(new Map([["s", { a: "1", b: "1", c: "3" }]]));
      await fill(index, { rows: [], erased: [3], through: 5 });
      expect(await getSession(index, "s")).toMatchObject({ title: "first", entries: 1 });
      expect(await metadataOf(index, ["s"])).toEqual(new Map([["s", { a: "1", b: "1" }]]));
    },
  },
  {
    behaviour: "erasures and additions in one batch both show in the session",
    run: async ({ open }) => {
      const index = await open();
      const said = (position: number, project: string): EntryRow => newRow(position, { session_id: "s", project });
      await fill(index, { rows: [said(1, "a"), said(2, "b")], through: 2 });
      await fill(index, { rows: [said(3, "c"), said(4, "d")], erased: [1, 4], through: 5 });
      expect(await getSession(index, "s")).toMatchObject({ projects: ["b", "c"], entries: 2, last_position: 3 });
      expect(await sessions(index, { project: "a" })).toEqual([]);
      expect(await sessions(index, { project: "c" })).toEqual(["s"]);
    },
  },
  {
    behaviour: "a long session that loses an entry still has the summary of the others",
    run: async ({ open }) => {
      const index = await open();
      const rows = Array.from({ length: 2_500 }, (_, at) =>
        newRow(at + 1, { session_id: "s", kind: at % 2 === 0 ? "message" : "error", project: `p${at % 3}` }),
      );
      await fill(index, { rows, through: 2_500 });
      await fill(index, { rows: [], erased: [1, 2_500], through: 2_501 });
      expect(await getSession(index, "s")).toMatchObject({
        entries: 2_498,
        by_kind: { message: 1_249, error: 1_249 },
        last_position: 2_499,
        first_ms: 2_000,
        last_ms: 2_499_000,
        projects: ["p1", "p2", "p0"],
      });
    },
  },
  {
    behaviour: "the state of many sessions at an earlier position is found in one call",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: ROWS.length });
      const session_ids = ["nobody's", ...IDS, ""];
      for (const through of [0, 1, 7, 150, 300, 1_000]) {
        const expected = IDS.flatMap((id) => {
          const rows = ROWS.filter((row) => row.session_id === id && row.position <= through);
          const [newest, times] = [rows.at(-1), rows.map(({ created_ms }) => created_ms)];
          if (newest === undefined) return [];
          return [{ session_id: id, last_ms: Math.max(...times), position: newest.position }];
        });
        const found = await index.sessionPlaces({ session_ids, through });
        expect(found.toSorted((left, right) => (left.session_id < right.session_id ? -1 : 1))).toEqual(
          expected.toSorted((left, right) => (left.session_id < right.session_id ? -1 : 1)),
        );
      }
      expect(await index.sessionPlaces({ session_ids: [], through: 9 })).toEqual([]);
    },
  },
  {
    behaviour: "after a rebuild every session has the same summary",
    run: async ({ open }) => {
      const index = await open();
      const answers = () => Promise.all(IDS.map((id) => getSession(index, id)));
      await fillAll(index, ROWS, 7);
      const live = await answers();
      await index.reset();
      expect(await sessions(index, {})).toEqual([]);
      await fillAll(index, ROWS, 100);
      expect(await answers()).toEqual(live);
    },
  },
];

async function sessions(index: EntryIndex, filter: SessionFilter, limit = 100): Promise<readonly string[]> {
  const found: string[] = [];
  let after: SessionsReached | undefined;
  for (;;) {
    const page = await listSessions(index, { filter, limit, ...(after === undefined ? {} : { after }) });
    const last = page.sessions.at(-1);
    if (last === undefined || found.length > ROWS.length) return found;
    found.push(...page.sessions.map(({ session_id }) => session_id));
    after = { at: last.at, position: last.position, as_of: page.as_of };
  }
}

function expectedSessions(rows: readonly EntryRow[], filter: SessionFilter): readonly string[] {
  const latest = rows.toSorted((left, right) => right.created_ms - left.created_ms);
  const newest = rows.toReversed().map((row) => row.session_id);
  const lastOf = (id: string) => latest.find((row) => row.session_id === id)?.created_ms ?? 0;
  const ids = [...new Set(newest)].sort((left, right) => lastOf(right) - lastOf(left));
  return ids.filter(
    (id) =>
      id !== "" &&
      (["project", "client"] as const).every((name) => {
        const label = filter[name];
        return label === undefined || rows.some((row) => row.session_id === id && row[name] === label);
      }),
  );
}

function expectedPositions({ session_id, order, limit, after, above, kinds, role }: SessionRange): readonly number[] {
  const rows = ROWS.filter((row) => row.session_id === session_id);
  return (order === "asc" ? rows : rows.toReversed())
    .filter((row) => row.position > (above ?? 0))
    .filter((row) => after === undefined || (order === "asc" ? row.position > after : row.position < after))
    .filter((row) => (kinds?.includes(row.kind) ?? true) && (role === undefined || row.role === role))
    .slice(0, limit)
    .map((row) => row.position);
}
