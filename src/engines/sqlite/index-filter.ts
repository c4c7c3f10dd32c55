// Filters as SQL conditions. Text is always bound, never part of the statement.
import { type Condition, conditionsOf, type RowFilter } from "../../index/row-filter.js";
import type { SqlValue } from "./driver.js";
import { referenceCondition } from "./index-references.js";
import { toStoredText } from "./statements.js";

export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** Conditions on `rows` that must all hold, with their values. */
export interface Conditions {
  readonly conditions: readonly string[];
  readonly values: readonly SqlValue[];
}

export function rowConditions(filter: RowFilter): Conditions {
  const values: SqlValue[] = [];
  const bind = (...bound: readonly SqlValue[]): string => {
    values.push(...bound);
    return bound.map(() => "?").join(", ");
  };
  const conditions = conditionsOf(filter).map((condition) => conditionSql(condition, bind));
  return { conditions, values };
}

/** Each kind of condition in SQL; only the column name varies. */
function conditionSql({ by, column, asked }: Condition, bind: (...bound: readonly SqlValue[]) => string): string {
  switch (by) {
    case "label":
    case "labels":
      if (typeof asked !== "string") return `${column} IN (${bind(...asked.map(toStoredText))})`;
      // `<> ''` lets SQLite use the partial index.
      return asked === "" ? `${column} = ''` : `${column} = ${bind(toStoredText(asked))} AND ${column} <> ''`;
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

/** Selects matching rows at these positions; forced to start from the positions. */
export function amongStatement(filter: RowFilter, positions: readonly number[], columns: string): Statement {
  const { conditions, values } = rowConditions(filter);
  const sql = `SELECT ${columns} FROM json_each(?) AS given CROSS JOIN rows ON rows.position = given.value
    ${conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`}`;
  return { sql, values: [JSON.stringify(positions), ...values] };
}
