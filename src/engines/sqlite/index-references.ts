// Which entries a reference counts for, newest first, so a list by reference reads little more than it returns.
// References are numbered because they repeat. A use row costs as much as a row in another index, so if most entries of
// a batch share a reference (a model, for example), one span row says between which positions to look; the rows
// themselves carry the number.

import type { EntryRow, Reference, ReferenceCondition } from "../../index/port.js";
import { referencesIn } from "../../index/references.js";
import { itemAt } from "../../model/item-at.js";
import type { SqlValue } from "./driver.js";
import { fromStoredText, type Statements, toStoredText } from "./statements.js";

/** A condition and the values it binds, in order. */
export interface BoundCondition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The number of a reference, or NULL; bind `what` and `reference`. */
const NUMBER_OF = "(SELECT number FROM reference_names WHERE what = ? AND reference = ?)";

/** Matches rows by their own references, or by what other entries say about them. */
export function referenceCondition(condition: ReferenceCondition): BoundCondition {
  const names = referencesIn(condition).map(({ what, reference }) => [what, toStoredText(reference)]);
  const any = `(${names.map(() => COUNTS).join(" OR ")})`;
  return { sql: condition.lacks === true ? `NOT ${any}` : any, values: names.flatMap((name) => [...name, ...name]) };
}

const COUNTS = `about IS NULL AND coalesce(instr(refs, ',' || ${NUMBER_OF} || ','), 0) > 0
    OR EXISTS (SELECT 1 FROM uses WHERE name = ${NUMBER_OF} AND entry_ms = created_ms AND entry = position)`;

/** Matches rows that carry this number themselves. */
export function carriesNumber(number: number): BoundCondition {
  return { sql: "about IS NULL AND instr(refs, ?) > 0", values: [`,${number},`] };
}

export function numberOf(sql: Statements, { what, reference }: Reference): number | undefined {
  const find = "SELECT number FROM reference_names WHERE what = ? AND reference = ?";
  return sql.get<{ readonly number: number }>(find, what, toStoredText(reference))?.number;
}

/** The numbers of a row's references, by its position. */
export type NumberedReferences = ReadonlyMap<number, readonly number[]>;

/** Numbers the references of rows about to be inserted. References about an entry without a row are left out. */
export function numberReferences(sql: Statements, rows: readonly EntryRow[]): NumberedReferences {
  const known = new Map<string, Map<string, number>>();
  const targets = targetsOf(sql, rows);
  const numbered = new Map<number, readonly number[]>();
  let last: readonly [references: readonly Reference[], numbers: readonly number[]] = [[], []];
  for (const { position, about, references } of rows) {
    if (references.length === 0 || (about !== undefined && !targets.has(about))) continue;
    // Consecutive entries mostly have the same references.
    if (!areSame(references, last[0])) {
      last = [references, [...new Set(references.map((one) => numberedAs(sql, known, one)))]];
    }
    numbered.set(position, last[1]);
  }
  return numbered;
}

/** The stored form of a row's numbers: each between commas, so one can be searched for. */
export function toStoredReferences(numbers: readonly number[] | undefined): string | null {
  return numbers === undefined ? null : `,${numbers},`;
}

/** The references behind stored numbers, in the same order. */
export function readStoredReferences(
  sql: Statements,
  stored: readonly (string | null)[],
): readonly (readonly Reference[])[] {
  const numbers = stored.map((list) => (list === null ? [] : list.slice(1, -1).split(",").map(Number)));
  const named = sql.all<Reference & { readonly number: number }>(
    "SELECT * FROM reference_names WHERE number IN (SELECT value FROM json_each(?))",
    JSON.stringify([...new Set(numbers.flat())]),
  );
  const byNumber = new Map(
    named.map(({ number, what, reference }) => [number, { what, reference: fromStoredText(reference) } as Reference]),
  );
  return numbers.map((list) => list.map((number) => byNumber.get(number) as Reference));
}

/** Spans need at least this many entries. */
const SPAN_ENTRIES_MIN = 16;
/** At least every fourth entry within a span must belong to it. */
const SPAN_SHARE_MIN = 0.25;

/** Adds the references of rows that were just inserted. */
export function addUses(sql: Statements, rows: readonly EntryRow[], numbered: NumberedReferences): void {
  const own = new Map<number, EntryRow[]>();
  const entriesByNumber = new Map<number, number[]>();
  for (const row of rows) {
    for (const number of numbered.get(row.position) ?? []) {
      if (row.about === undefined) listIn(own, number).push(row);
      else listIn(entriesByNumber, number).push(row.about);
    }
  }
  for (const [number, users] of own) {
    if (isSpan(users)) {
      const [first, last] = [itemAt(users, 0), users.at(-1) as EntryRow];
      const span = [last.created_ms, last.position, first.created_ms, first.position];
      sql.run("INSERT INTO use_spans VALUES (?, ?, ?, ?, ?)", number, ...span);
    } else listIn(entriesByNumber, number).unshift(...users.map(({ position }) => position));
  }
  for (const [number, entries] of entriesByNumber) {
    if (entries.length < FEW) for (const entry of entries) sql.run(ADD_ONE, number, entry);
    else sql.run(ADD_MANY, number, JSON.stringify(entries));
  }
}

/** Within a span, times rise with positions, so it can be walked by position. */
function isSpan(users: readonly EntryRow[]): boolean {
  const [first, last] = [users[0]?.position ?? 0, users.at(-1)?.position ?? 0];
  if (users.length < SPAN_ENTRIES_MIN || users.length < (last - first + 1) * SPAN_SHARE_MIN) return false;
  return users.every(({ created_ms }, at) => at === 0 || created_ms >= itemAt(users, at - 1).created_ms);
}

function listIn<T>(lists: Map<number, T[]>, number: number): T[] {
  const list = lists.get(number) ?? [];
  if (list.length === 0) lists.set(number, list);
  return list;
}

/** Below this, single statements are faster. */
const FEW = 4;
const ADDED = "ON CONFLICT (name, entry_ms, entry) DO UPDATE SET sayers = sayers + 1";
const ADD_ONE = `INSERT INTO uses (name, entry_ms, entry, sayers)
  SELECT ?, created_ms, position, 1 FROM rows WHERE position = ? ${ADDED}`;
const ADD_MANY = `INSERT INTO uses (name, entry_ms, entry, sayers)
  SELECT ?, created_ms, position, 1 FROM json_each(?) AS given CROSS JOIN rows ON rows.position = given.value WHERE true
  ${ADDED}`;

function numberedAs(sql: Statements, known: Map<string, Map<string, number>>, one: Reference): number {
  const { what, reference } = one;
  const own = known.get(what) ?? new Map<string, number>();
  if (own.size === 0) known.set(what, own);
  let number = own.get(reference);
  if (number === undefined) {
    const add = "INSERT INTO reference_names (what, reference) VALUES (?, ?) RETURNING number";
    const exact = toStoredText(reference);
    number = numberOf(sql, one) ?? sql.get<{ readonly number: number }>(add, what, exact)?.number;
    own.set(reference, number as number);
  }
  return number as number;
}

function areSame(left: readonly Reference[], right: readonly Reference[]): boolean {
  if (left.length !== right.length) return false;
  return left.every(({ what, reference }, at) => reference === right[at]?.reference && what === right[at]?.what);
}

/** The positions that rows are about which have a row, or get one in this batch. */
function targetsOf(sql: Statements, rows: readonly EntryRow[]): ReadonlySet<number> {
  const wanted = rows.flatMap(({ about }) => about ?? []);
  if (wanted.length === 0) return new Set();
  const found = sql.all<{ readonly position: number }>(
    "SELECT position FROM json_each(?) AS given CROSS JOIN rows ON rows.position = given.value",
    JSON.stringify(wanted),
  );
  return new Set([...found, ...rows].map(({ position }) => position));
}
