// Filters of a list as conditions with their values. Text is only ever bound, never pasted into the statement.
import type { RowKey } from "../../index/port.js";
import { type Condition, conditionsOf, type RowFilter } from "../../index/row-filter.js";
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
  for (const condition of conditionsOf(filter)) where.add(conditionSql(condition, where));
  if (after !== undefined) {
    where.add(`(r.created_ms, r.position) < (${where.bind(after.created_ms)}, ${where.bind(after.position)})`);
  }
  return where;
}

/** Each kind of condition in SQL; what it is about is only the name of a column. */
function conditionSql({ by, column, asked }: Condition, where: Conditions): string {
  switch (by) {
    case "label":
      // Saying that the label is not empty lets PostgreSQL use the index that holds only such rows.
      return asked === "" ? `r.${column} = ''` : `r.${column} = ${where.bind(storable(asked))} AND r.${column} <> ''`;
    case "one_of":
      return asked.length === 1
        ? `r.${column} = ${where.bind(asked[0])}`
        : `r.${column} = ANY (${where.bind(asked)}::text[])`;
    case "equals":
      return `r.${column} = ${where.bind(storable(asked))}`;
    case "at_least":
      return `r.${column} >= ${where.bind(asked)}`;
    case "at_most":
      return `r.${column} <= ${where.bind(asked)}`;
    case "references":
      return asked.map((condition) => referenceCondition(where, condition)).join(" AND ");
    default:
      return by satisfies never;
  }
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
