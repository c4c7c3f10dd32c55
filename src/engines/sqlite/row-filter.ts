// The filter of a list as conditions of a statement. Text is only ever bound, never pasted into it.
import { type Condition, conditionsOf, type RowFilter } from "../../index/row-filter.js";
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

export function rowConditions(filter: RowFilter): Conditions {
  const values: unknown[] = [];
  const bind = (...bound: readonly unknown[]): string => {
    values.push(...bound);
    return bound.map(() => "?").join(", ");
  };
  const conditions = conditionsOf(filter).map((condition) => conditionSql(condition, bind));
  return { conditions, values };
}

/** Each kind of condition in SQL; what it is about is only the name of a column. */
function conditionSql({ by, column, asked }: Condition, bind: (...bound: readonly unknown[]) => string): string {
  switch (by) {
    case "label":
      // Saying that the label is not empty lets SQLite use the index that holds only such rows.
      return asked === "" ? `${column} = ''` : `${column} = ${bind(toExactText(asked))} AND ${column} <> ''`;
    case "one_of":
      return asked.length === 1 ? `${column} = ${bind(...asked)}` : `${column} IN (${bind(...asked)})`;
    case "equals":
      return `${column} = ${bind(asked)}`;
    case "at_least":
      return `${column} >= ${bind(asked)}`;
    case "at_most":
      return `${column} <= ${bind(asked)}`;
    case "references":
      return asked
        .map(referenceCondition)
        .map(({ sql, values }) => {
          bind(...values);
          return sql;
        })
        .join(" AND ");
    default:
      return by satisfies never;
  }
}

/** Columns of those rows at these positions that pass. Starts from the positions, whatever other way SQLite might see. */
export function amongStatement(filter: RowFilter, positions: readonly number[], columns: string): Statement {
  const { conditions, values } = rowConditions(filter);
  const sql = `SELECT ${columns} FROM json_each(?) AS given CROSS JOIN rows ON rows.position = given.value
    ${conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`}`;
  return { sql, values: [JSON.stringify(positions), ...values] };
}
