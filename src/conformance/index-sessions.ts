// Checks of sessions: what the index knows of one, their order with pages that hold still, and positions within one.
import { expect } from "vitest";
import type { EntryIndex, EntryRow, SessionFilter, SessionRange } from "../ports/entry-index.js";
import { fill } from "./index-filling.js";
import { mixedRows, newRow } from "./index-samples.js";
import type { Check } from "./suite.js";

const ROWS = mixedRows(300, 31);
const SESSIONS = [...new Set(ROWS.map((row) => row.session_id))].filter((id) => id !== "");

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
      await applyAll(index, rows, 2);
      expect(await index.getSession("s")).toEqual({
        session_id: "s",
        title: "",
        metadata: {},
        parent: "",
        first_ms: 20,
        last_ms: 90,
        projects: ["b", "a"],
        clients: ["cli"],
        entries: 3,
        by_kind: { message: 2, interaction: 1 },
        consolidated_through: 0,
        cleared_through: 0,
        last_position: 4,
      });
    },
  },
  {
    behaviour: "what is said about a session later wins, key by key, in whichever batch it comes",
    run: async ({ open }) => {
      const index = await open();
      const info = (position: number, said: NonNullable<EntryRow["info"]>): EntryRow =>
        newRow(position, { session_id: "s", kind: "session_info", info: said });
      await fill(index, {
        rows: [
          info(1, { title: "first", parent: "p", metadata: { a: 1, b: { deep: [1] } } }),
          info(2, { title: "second", metadata: { b: null } }),
        ],
        through: 2,
      });
      const metadata = JSON.parse('{"c":3,"__proto__":{"d":4}}');
      await fill(index, { rows: [info(3, { metadata })], through: 3 });
      const session = await index.getSession("s");
      expect(session).toMatchObject({ title: "second", parent: "p" });
      expect(JSON.stringify(session?.metadata)).toBe('{"a":1,"b":null,"c":3,"__proto__":{"d":4}}');
    },
  },
  {
    behaviour: "consolidation is known by its greatest `through`, clearing by its last position",
    run: async ({ open }) => {
      const index = await open();
      const of = (position: number, parts: Partial<EntryRow>): EntryRow =>
        newRow(position, { session_id: "s", ...parts });
      const consolidations = [
        of(10, { kind: "consolidation", through: 7 }),
        of(11, { kind: "consolidation", through: 4 }),
      ];
      await fill(index, { rows: [of(9, { kind: "clear" }), ...consolidations], through: 11 });
      expect(await index.getSession("s")).toMatchObject({ consolidated_through: 7, cleared_through: 9 });
      await fill(index, {
        rows: [of(12, { kind: "clear" }), of(13, { kind: "consolidation", through: 8 })],
        through: 13,
      });
      expect(await index.getSession("s")).toMatchObject({ consolidated_through: 8, cleared_through: 12 });
    },
  },
  {
    behaviour: "a session that nobody recorded is undefined, and so is the empty one",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: ROWS.length });
      expect(await index.getSession("nobody's")).toBeUndefined();
      expect(await index.getSession("")).toBeUndefined();
      expect(await index.sessionPositions({ session_id: "", order: "asc", limit: 10 })).toEqual([]);
      expect(await sessions(index, {})).not.toContain("");
    },
  },
  {
    behaviour: "sessions are listed by their newest position, and pages reach each once",
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
    behaviour: "pages of sessions hold still while entries arrive",
    run: async ({ open }) => {
      const index = await open();
      const rows = Array.from({ length: 12 }, (_, at) => newRow(at + 1, { session_id: `s-${at}` }));
      await fill(index, { rows, through: 12 });
      const [first] = await index.listSessions({ filter: {}, as_of: 12, limit: 1 });
      expect(first?.session.session_id).toBe("s-11");
      await fill(index, { rows: [newRow(13, { session_id: "s-3" }), newRow(14, { session_id: "new" })], through: 14 });
      const rest = await index.listSessions({ filter: {}, as_of: 12, before: 12, limit: 100 });
      expect(rest.map(({ session }) => session.session_id)).toEqual(
        Array.from({ length: 11 }, (_, at) => `s-${10 - at}`),
      );
      expect(rest.map(({ position }) => position)).toEqual(Array.from({ length: 11 }, (_, at) => 11 - at));
    },
  },
  {
    behaviour: "positions within a session come in either order, from any place, by kind and role",
    run: async ({ open }) => {
      const index = await open();
      await fill(index, { rows: ROWS, through: ROWS.length });
      for (const session_id of SESSIONS) {
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
    behaviour: "built anew it says the same of every session",
    run: async ({ open }) => {
      const index = await open();
      const answers = () => Promise.all(SESSIONS.map((id) => index.getSession(id)));
      await applyAll(index, ROWS, 7);
      const live = await answers();
      await index.reset();
      expect(await sessions(index, {})).toEqual([]);
      await applyAll(index, ROWS, 100);
      expect(await answers()).toEqual(live);
    },
  },
];

async function sessions(index: EntryIndex, filter: SessionFilter, limit = 100): Promise<readonly string[]> {
  const as_of = await index.checkpoint();
  const found: { readonly position: number; readonly id: string }[] = [];
  for (;;) {
    const before = found.at(-1)?.position;
    const page = await index.listSessions({ filter, as_of, limit, ...(before === undefined ? {} : { before }) });
    if (page.length === 0 || found.length > ROWS.length) return found.map(({ id }) => id);
    found.push(...page.map(({ position, session }) => ({ position, id: session.session_id })));
  }
}

function expectedSessions(rows: readonly EntryRow[], filter: SessionFilter): readonly string[] {
  const newest = [...new Set(rows.toReversed().map((row) => row.session_id))];
  return newest.filter(
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

async function applyAll(index: EntryIndex, rows: readonly EntryRow[], size: number): Promise<void> {
  for (let applied = 0; applied < rows.length; applied += size) {
    const batch = rows.slice(applied, applied + size);
    await fill(index, { rows: batch, through: batch.at(-1)?.position as number });
  }
}
