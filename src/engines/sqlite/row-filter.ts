// The filter of a list as conditions of a statement. Text is only ever bound, never pasted into it.
import { type RowFilter, referencesIn } from "../../ports/entry-index.js";
import { toExactText } from "./exact-text.js";
import { referenceCondition } from "./index-uses.js";

export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Conditions on the columns of `rows` that all must hold, with their values. */
export interface Conditions {
  readonly conditions: readonly string[];
  readonly values: readonly unknown[];
}

export function conditionsOf(filter: RowFilter): Conditions {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const where = (condition: string, ...bound: readonly unknown[]): void => {
    conditions.push(condition);
    values.push(...bound);
  };
  for (const name of ["session_id", "project", "client"] as const) {
    const label = filter[name];
    if (label === undefined) continue;
    // Saying that the label is not empty lets SQLite use the index that holds only such rows.
    if (label === "") where(`${name} = ''`);
    else where(`${name} = ? AND ${name} <> ''`, toExactText(label));
  }
  const [kind] = filter.kinds ?? [];
  if (filter.kinds?.length === 1) where("kind = ?", kind);
  else if (filter.kinds !== undefined) where(`kind IN (${filter.kinds.map(() => "?").join(", ")})`, ...filter.kinds);
  if (filter.role !== undefined) where("role = ?", filter.role);
  if (filter.since_ms !== undefined) where("created_ms >= ?", filter.since_ms);
  if (filter.until_ms !== undefined) where("created_ms <= ?", filter.until_ms);
  for (const { sql, values: bound } of referencesIn(filter).map(referenceCondition)) where(sql, ...bound);
  return { conditions, values };
}

/** Which of the rows at these positions pass. Starts from the positions, whatever other way SQLite might see. */
export function amongStatement(filter: RowFilter, positions: readonly number[]): Statement {
  const { conditions, values } = conditionsOf(filter);
  const sql = `SELECT position FROM json_each(?) AS given CROSS JOIN rows ON rows.position = given.value
    ${conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`}`;
  return { sql, values: [JSON.stringify(positions), ...values] };
}
