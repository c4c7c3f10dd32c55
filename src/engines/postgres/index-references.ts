// Which entries a reference counts for: one row each, newest first, so a list by reference reads no more than it
// returns.
import { hash } from "node:crypto";
import type { EntryRow, Reference, ReferenceCondition, RowKey } from "../../index/port.js";
import { referencesIn } from "../../index/references.js";
import { columnsOf } from "./columns.js";
import type { Session } from "./driver.js";
import type { Conditions } from "./index-filter.js";

/**
 * A condition on a row, aliased `r`. `OFFSET 0` keeps PostgreSQL from collecting all uses of the reference first,
 * although a list needs only a few.
 */
export function referenceCondition(where: Conditions, condition: ReferenceCondition): string {
  const uses = referencesIn(condition).map(
    (one) => `EXISTS (SELECT 1 FROM hansard_index_uses o
    WHERE ${usesCondition(where, "o", one)} AND o.created_ms = r.created_ms AND o.position = r.position OFFSET 0)`,
  );
  return `${condition.lacks === true ? "NOT " : ""}(${uses.join(" OR ")})`;
}

/** A condition on a use with this alias. */
export function usesCondition(where: Conditions, name: string, { what, reference }: Reference): string {
  return `${name}.what = ${where.bind(what)} AND ${name}.reference = ${where.bind(referenceKey(reference))}`;
}

/** The references stored with a row: JSON can also represent what PostgreSQL's text cannot. */
export function toStoredReferences(references: readonly Reference[]): string | null {
  if (references.length === 0) return null;
  return JSON.stringify(distinct(references).map(({ what, reference }) => [what, reference]));
}

export function fromStoredReferences(stored: string | null): readonly Reference[] {
  const pairs = JSON.parse(stored ?? "[]") as readonly (readonly [what: string, reference: string])[];
  return pairs.map(([what, reference]) => ({ what, reference }) as Reference);
}

/** Times of the entries that references of these rows count for, if they have a row or get one now. */
export async function subjectTimes(session: Session, rows: readonly EntryRow[]): Promise<ReadonlyMap<number, number>> {
  const wanted = rows.flatMap(({ about }) => about ?? []);
  const text = "SELECT position, created_ms FROM hansard_index_rows WHERE position = ANY ($1::bigint[])";
  const found = wanted.length === 0 ? [] : await session.query<RowKey>({ text }, [wanted]);
  return new Map([...found, ...rows].map(({ position, created_ms }) => [position, created_ms]));
}

/** Drops references about entries that have no row. */
export function withoutDanglingReferences(row: EntryRow, times: ReadonlyMap<number, number>): EntryRow {
  return row.about === undefined || times.has(row.about) ? row : { ...row, references: [] };
}

/** Adds the references of rows; each distinct one is sent and hashed once. */
export async function addUses(
  session: Session,
  rows: readonly EntryRow[],
  times: ReadonlyMap<number, number>,
): Promise<void> {
  const numbers = new Map<string, number>();
  const names: (readonly unknown[])[] = [];
  const said: (readonly unknown[])[] = [];
  for (const { references, position, about = position } of rows) {
    for (const one of distinct(references)) {
      const name = nameOf(one);
      let number = numbers.get(name);
      if (number === undefined) {
        number = names.push([one.what, referenceKey(one.reference)]);
        numbers.set(name, number);
      }
      said.push([number, times.get(about), about]);
    }
  }
  if (said.length > 0) await session.query(addStatement, [...columnsOf(names, 2), ...columnsOf(said, 3)]);
}

const addStatement = {
  name: "hansard_index_uses",
  text: `INSERT INTO hansard_index_uses AS u (what, reference, created_ms, position, sayers)
    SELECT named.what, named.reference, said.created_ms, said.position, count(*)
    FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS said (number, created_ms, position)
    JOIN unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS named (what, reference, number) USING (number)
    GROUP BY named.what, named.reference, said.created_ms, said.position
    ON CONFLICT (what, reference, created_ms, position) DO UPDATE SET sayers = u.sayers + excluded.sayers`,
};

interface Sayer {
  readonly refs: string | null;
  /** The entry that it counts for, and whether that is erased too. */
  readonly position: number;
  readonly created_ms: number;
  readonly is_gone: boolean;
}

/** Deletes uses by rows that are about to be deleted, and uses about them. */
export async function eraseUses(session: Session, positions: readonly number[]): Promise<void> {
  const sayers = await session.query<Sayer>({ text: SAYERS }, [positions]);
  const said = sayers.flatMap(({ refs, position, created_ms, is_gone }) =>
    fromStoredReferences(refs).map(({ what, reference }) => [
      ...[what, referenceKey(reference), created_ms, position, is_gone],
    ]),
  );
  if (said.length > 0) {
    await session.query({ text: SUBTRACT }, columnsOf(said, 5));
    await session.query({ text: DELETE_UNSAID }, columnsOf(said, 4));
  }
  const text = "UPDATE hansard_index_rows SET refs = NULL WHERE about = ANY ($1::bigint[]) AND refs IS NOT NULL";
  await session.query({ text }, [positions]);
}

const SAYERS = `SELECT s.refs, e.position, e.created_ms, e.position = ANY ($1::bigint[]) AS is_gone
  FROM (SELECT refs, coalesce(about, position) AS about FROM hansard_index_rows WHERE position = ANY ($1::bigint[])
    UNION ALL
    SELECT refs, about FROM hansard_index_rows
    WHERE about = ANY ($1::bigint[]) AND NOT position = ANY ($1::bigint[])) s
  JOIN hansard_index_rows e ON e.position = s.about WHERE s.refs IS NOT NULL`;

const SUBTRACT = `UPDATE hansard_index_uses u SET sayers = CASE WHEN gone.is_gone THEN 0 ELSE u.sayers - gone.sayers END
  FROM (SELECT what, reference, created_ms, position, is_gone, count(*) AS sayers
    FROM unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[], $5::boolean[])
      AS said (what, reference, created_ms, position, is_gone) GROUP BY 1, 2, 3, 4, 5) gone
  WHERE (u.what, u.reference, u.created_ms, u.position)
    = (gone.what, gone.reference, gone.created_ms, gone.position)`;

const DELETE_UNSAID = `DELETE FROM hansard_index_uses u
  USING unnest($1::text[], $2::bytea[], $3::bigint[], $4::bigint[]) AS said (what, reference, created_ms, position)
  WHERE (u.what, u.reference, u.created_ms, u.position)
    = (said.what, said.reference, said.created_ms, said.position) AND u.sayers <= 0`;

/** Hashed, since PostgreSQL limits the length of indexed text; from JSON, which also keeps lone surrogates apart. */
function referenceKey(reference: string): Buffer {
  return hash("sha256", JSON.stringify(reference), "buffer");
}

/** An entry may repeat a reference, and have very many. */
function distinct(references: readonly Reference[]): readonly Reference[] {
  if (references.length < 2) return references;
  return [...new Map(references.map((one) => [nameOf(one), one])).values()];
}

function nameOf({ what, reference }: Reference): string {
  return JSON.stringify([what, reference]);
}
