// Which entries a reference counts for: one row for each, in the order of lists, so that a list by a reference walks them
// newest first and reads no more than it answers. References are numbered, because they are used again and again.
import type { EntryRow, Reference, ReferenceCondition } from "../../ports/entry-index.js";
import { fromExactText, toExactText } from "./exact-text.js";
import type { Statements } from "./statements.js";

export interface BoundCondition {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The number of a reference, or null where nothing refers to it; what and reference are to be bound. */
const NUMBER_OF = "(SELECT number FROM reference_names WHERE what = ? AND reference = ?)";

/** A condition on a row of `rows`. */
export function referenceCondition(condition: ReferenceCondition): BoundCondition {
  const { sql, values } = usesCondition(condition);
  const use = `EXISTS (SELECT 1 FROM uses WHERE ${sql} AND entry_ms = created_ms AND entry = position)`;
  return { sql: condition.lacks === true ? `NOT ${use}` : use, values };
}

/** A condition on a row of `uses`. */
export function usesCondition({ what, reference }: Reference): BoundCondition {
  return { sql: `name = ${NUMBER_OF}`, values: [what, toExactText(reference)] };
}

/** The numbers of a row's references, by its position. */
export type NumberedReferences = ReadonlyMap<number, readonly number[]>;

/**
 * Numbers the references of rows that are about to be inserted. What is said about an entry that has no row is left out,
 * so that every number which a row bears is one that counts for an entry.
 */
export function numberReferences(sql: Statements, rows: readonly EntryRow[]): NumberedReferences {
  const numbers = new ReferenceNumbers(sql);
  const targets = targetsOf(sql, rows);
  const numbered = new Map<number, readonly number[]>();
  let last: readonly [references: readonly Reference[], numbers: readonly number[]] = [[], []];
  for (const { position, about, references } of rows) {
    if (references.length === 0 || (about !== undefined && !targets.has(about))) continue;
    // Entries that follow each other mostly refer to the same.
    if (!areSame(references, last[0])) last = [references, [...new Set(references.map((one) => numbers.of(one)))]];
    numbered.set(position, last[1]);
  }
  return numbered;
}

function areSame(left: readonly Reference[], right: readonly Reference[]): boolean {
  if (left.length !== right.length) return false;
  return left.every(({ what, reference }, at) => reference === right[at]?.reference && what === right[at]?.what);
}

/** What the stored lists of numbers stand for, in the same order. */
export function numberedReferences(
  sql: Statements,
  lists: readonly (string | null)[],
): readonly (readonly Reference[])[] {
  const numbers = lists.map((list) => JSON.parse(list ?? "[]") as readonly number[]);
  const named = sql.all<Reference & { readonly number: number }>(
    "SELECT * FROM reference_names WHERE number IN (SELECT value FROM json_each(?))",
    JSON.stringify([...new Set(numbers.flat())]),
  );
  const byNumber = new Map(
    named.map(({ number, what, reference }) => [number, { what, reference: fromExactText(reference) }]),
  );
  return numbers.map((list) => list.map((number) => byNumber.get(number) as Reference));
}

/** Adds what rows say that were just inserted. */
export function addUses(sql: Statements, rows: readonly EntryRow[], numbered: NumberedReferences): void {
  const entriesByNumber = new Map<number, number[]>();
  for (const { position, about = position } of rows) {
    for (const number of numbered.get(position) ?? []) {
      const entries = entriesByNumber.get(number);
      if (entries === undefined) entriesByNumber.set(number, [about]);
      else entries.push(about);
    }
  }
  for (const [number, entries] of entriesByNumber) {
    if (entries.length < FEW) for (const entry of entries) sql.run(ADD_ONE, number, entry);
    else sql.run(ADD_MANY, number, JSON.stringify(entries));
  }
}

/** Fewer than this are quicker one by one. */
const FEW = 4;

const ADDED = "ON CONFLICT (name, entry_ms, entry) DO UPDATE SET sayers = sayers + 1";
const ADD_ONE = `INSERT INTO uses (name, entry_ms, entry, sayers)
  SELECT ?, created_ms, position, 1 FROM rows WHERE position = ? ${ADDED}`;
const ADD_MANY = `INSERT INTO uses (name, entry_ms, entry, sayers)
  SELECT ?, created_ms, position, 1 FROM json_each(?) AS given CROSS JOIN rows ON rows.position = given.value WHERE true
  ${ADDED}`;

/** Takes away what is said by rows that are about to be deleted, and what others say about them. */
export function eraseUses(sql: Statements, positions: readonly number[]): void {
  const given = JSON.stringify(positions);
  const numbers = sql.all<{ readonly number: number }>(NUMBERS_TOUCHED, given, given).map(({ number }) => number);
  if (numbers.length === 0) return;
  sql.run(DELETE_SAID_BY_ENTRIES, given);
  sql.run(DELETE_SAID_ABOUT_ENTRIES, given);
  for (const { number, about } of sql.all<{ readonly number: number; readonly about: number }>(
    SAID_ABOUT_OTHERS,
    given,
  )) {
    sql.run(`UPDATE uses SET sayers = sayers - 1 WHERE name = ? AND ${IS_ENTRY}`, number, about, about);
    sql.run(`DELETE FROM uses WHERE name = ? AND ${IS_ENTRY} AND sayers = 0`, number, about, about);
  }
  sql.run(`UPDATE rows SET refs = NULL WHERE about IN (SELECT value FROM json_each(?))`, given);
  // A reference is recorded text, and goes with the last that names it.
  const unused = "number IN (SELECT value FROM json_each(?)) AND NOT EXISTS (SELECT 1 FROM uses WHERE name = number)";
  sql.run(`DELETE FROM reference_names WHERE ${unused}`, JSON.stringify(numbers));
}

const IS_ENTRY = "entry_ms = (SELECT created_ms FROM rows WHERE position = ?) AND entry = ?";
const GONE = "json_each(?) AS gone CROSS JOIN rows";

const NUMBERS_TOUCHED = `
  SELECT said.value AS number FROM ${GONE} ON rows.position = gone.value, json_each(rows.refs) AS said
  UNION
  SELECT said.value FROM ${GONE} ON rows.about = gone.value, json_each(rows.refs) AS said`;

/** Without the cast, SQLite would look through all uses. */
const DELETE_SAID_BY_ENTRIES = `DELETE FROM uses WHERE (name, entry_ms, entry) IN (
  SELECT CAST(said.value AS INTEGER), rows.created_ms, rows.position
  FROM ${GONE} ON rows.position = gone.value, json_each(rows.refs) AS said)`;

const DELETE_SAID_ABOUT_ENTRIES = `DELETE FROM uses WHERE (name, entry_ms, entry) IN (
  SELECT CAST(said.value AS INTEGER), target.created_ms, target.position
  FROM ${GONE} ON rows.about = gone.value CROSS JOIN rows AS target ON target.position = rows.about,
    json_each(rows.refs) AS said)`;

const SAID_ABOUT_OTHERS = `SELECT said.value AS number, rows.about AS about
  FROM ${GONE} ON rows.position = gone.value, json_each(rows.refs) AS said WHERE rows.about IS NOT NULL`;

class ReferenceNumbers {
  readonly #sql: Statements;
  readonly #known = new Map<string, Map<string, number>>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  of({ what, reference }: Reference): number {
    let own = this.#known.get(what);
    if (own === undefined) {
      own = new Map();
      this.#known.set(what, own);
    }
    let number = own.get(reference);
    if (number === undefined) {
      number = this.#stored(what, toExactText(reference));
      own.set(reference, number);
    }
    return number;
  }

  #stored(what: string, reference: string): number {
    const find = "SELECT number FROM reference_names WHERE what = ? AND reference = ?";
    const add = "INSERT INTO reference_names (what, reference) VALUES (?, ?) RETURNING number";
    type Named = { readonly number: number };
    const named = this.#sql.get<Named>(find, what, reference) ?? this.#sql.get<Named>(add, what, reference);
    return (named as Named).number;
  }
}

/** The positions among those that rows are about which have a row, or are about to have one. */
function targetsOf(sql: Statements, rows: readonly EntryRow[]): ReadonlySet<number> {
  const wanted = rows.flatMap(({ about }) => about ?? []);
  if (wanted.length === 0) return new Set();
  const found = sql.all<{ readonly position: number }>(
    "SELECT position FROM json_each(?) AS given CROSS JOIN rows ON rows.position = given.value",
    JSON.stringify(wanted),
  );
  return new Set([...found, ...rows].map(({ position }) => position));
}
