// Sessions folded from rows: the same however the rows come in pieces, and nothing that was handed in is changed.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../model/json.js";
import type { EntryRow, IndexDocument } from "./port.js";
import { documentToSession, sessionFold } from "./session-fold.js";

const labels = fc.constantFrom("", "atlas", "Atlas", "a:b");
const told = fc.record(
  {
    title: fc.constantFrom("one", "two"),
    parent: fc.constantFrom("up", "down"),
    metadata: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.nat(3)),
  },
  { requiredKeys: [] },
);
const part = fc.oneof(
  fc.record({ kind: fc.constantFrom("message", "error", "clear") }),
  fc.record({ kind: fc.constant("session_info"), facts: told }),
  fc.record({ kind: fc.constant("consolidation"), facts: fc.record({ through: fc.nat(50) }) }),
);
const row = fc.tuple(part, fc.nat(100), labels, labels);
const rowLists = fc.array(row, { minLength: 1, maxLength: 30 }).map((given) =>
  given.map(
    ([own, created_ms, project, client], at): EntryRow => ({
      position: at + 1,
      created_ms,
      session_id: "s",
      project,
      client,
      references: [],
      ...(own as Pick<EntryRow, "kind" | "facts">),
    }),
  ),
);

test("pieces of any size give the same session", () => {
  fc.assert(
    fc.property(rowLists, fc.integer({ min: 1, max: 7 }), (rows, size) => {
      let document: IndexDocument | undefined;
      for (let at = 0; at < rows.length; at += size) {
        const before = document === undefined ? undefined : freeze(structuredClone(document));
        document = sessionFold.add("s", before, freeze(rows.slice(at, at + size)));
      }
      expect(JSON.stringify(document)).toBe(JSON.stringify(sessionFold.add("s", undefined, rows)));
    }),
  );
});

test("a session says of its rows what looking at each of them says", () => {
  fc.assert(
    fc.property(rowLists, (rows) => {
      const document = sessionFold.add("s", undefined, rows) as IndexDocument;
      const session = documentToSession(document);
      const times = rows.map(({ created_ms }) => created_ms);
      const last = (kind: string): number => rows.findLast((one) => one.kind === kind)?.position ?? 0;
      const since = rows.filter(({ position }) => position > last("clear"));
      const facts = rows.flatMap((one): readonly JsonObject[] => (one.facts === undefined ? [] : [one.facts]));
      expect(session).toMatchObject({
        session_id: "s",
        title: facts.findLast(({ title }) => title !== undefined)?.title ?? "",
        parent: facts.findLast(({ parent }) => parent !== undefined)?.parent ?? "",
        first_ms: Math.min(...times),
        last_ms: Math.max(...times),
        projects: distinct(rows.map(({ project }) => project)),
        clients: distinct(rows.map(({ client }) => client)),
        entries: rows.length,
        injected: 0,
        by_kind: Object.fromEntries(
          distinct(rows.map(({ kind }) => kind)).map((kind) => [kind, rows.filter((one) => one.kind === kind).length]),
        ),
        consolidated_through: Math.max(0, ...since.map((one) => Number(one.facts?.through ?? 0))),
        consolidated_at: since.findLast((one) => one.kind === "consolidation")?.position ?? 0,
        cleared_through: last("clear"),
        last_position: rows.length,
      });
      expect(sessionFold.rowsIn(document)).toBe(rows.length);
      for (const { project, client } of rows) {
        expect(document.labels).toEqual(expect.arrayContaining([`project:${project}`, `client:${client}`]));
      }
    }),
  );
});

test("an entry without a session belongs to none", () => {
  const others = { project: "p", client: "", references: [] };
  const one = { position: 1, kind: "error", created_ms: 1, session_id: "s", ...others };
  expect(sessionFold.keysOf(one)).toEqual(["s"]);
  expect(sessionFold.keysOf({ ...one, session_id: "" })).toEqual([]);
});

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.filter((text) => text !== ""))];
}

function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) freeze(item);
  }
  return value;
}
