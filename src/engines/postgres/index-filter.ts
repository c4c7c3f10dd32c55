// Filters of a list as conditions with their values. Text is only ever bound, never pasted into the statement.
import { type RowFilter, type RowKey, referencesIn } from "../../ports/entry-index.js";
import { referenceCondition } from "./index-uses.js";

export class Conditions {
  readonly values: unknown[];
  readonly #conditions: string[] = [];

  /** Several conditions of one statement bind to the same values. */
  constructor(values: unknown[] = []) {
    this.values = values;
  }

  /** Binds a value and answers with the name that the statement knows it by. */
  bind(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  add(condition: string): void {
    this.#conditions.push(condition);
  }

  get sql(): string {
    return this.#conditions.length === 0 ? "true" : this.#conditions.join(" AND ");
  }
}

/** Conditions on rows, which the statement calls `r`. */
export function rowConditions(
  query: { readonly filter: RowFilter; readonly after?: RowKey },
  where: Conditions = new Conditions(),
): Conditions {
  const { filter, after } = query;
  for (const name of ["session_id", "project", "client"] as const) {
    const label = filter[name];
    if (label === undefined) continue;
    // Saying that the label is not empty lets PostgreSQL use the index that holds only such rows.
    if (label === "") where.add(`r.${name} = ''`);
    else where.add(`r.${name} = ${where.bind(storable(label))} AND r.${name} <> ''`);
  }
  const [kind] = filter.kinds ?? [];
  if (filter.kinds?.length === 1) where.add(`r.kind = ${where.bind(kind)}`);
  else if (filter.kinds !== undefined) where.add(`r.kind = ANY (${where.bind(filter.kinds)}::text[])`);
  if (filter.role !== undefined) where.add(`r.role = ${where.bind(storable(filter.role))}`);
  if (filter.since_ms !== undefined) where.add(`r.created_ms >= ${where.bind(filter.since_ms)}`);
  if (filter.until_ms !== undefined) where.add(`r.created_ms <= ${where.bind(filter.until_ms)}`);
  for (const condition of referencesIn(filter)) where.add(referenceCondition(where, condition));
  if (after !== undefined) {
    where.add(`(r.created_ms, r.position) < (${where.bind(after.created_ms)}, ${where.bind(after.position)})`);
  }
  return where;
}

/**
 * Labels are well-formed at the door. One that a damaged body brought is kept in another form, because PostgreSQL refuses
 * it and everything after it would be kept out of the index. One that looks like this form is kept in it as well.
 */
export function storable(text: string): string {
  const isPlain = !text.includes("\0") && !text.startsWith(MARK) && text.isWellFormed();
  return isPlain ? text : MARK + JSON.stringify(text);
}

export function unstored(text: string): string {
  return text.startsWith(MARK) ? (JSON.parse(text.slice(MARK.length)) as string) : text;
}

const MARK = "\u0001";
