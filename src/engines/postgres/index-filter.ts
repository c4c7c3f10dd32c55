// Filters as SQL conditions. Text is always bound, never part of the statement.
import type { RowKey } from "../../index/port.js";
import { type Condition, conditionsOf, type RowFilter } from "../../index/row-filter.js";
import { referenceCondition } from "./index-references.js";

export class Conditions {
  readonly values: unknown[];
  readonly #conditions: string[] = [];

  /** Conditions of one statement share their values. */
  constructor(values: unknown[] = []) {
    this.values = values;
  }

  /** Binds a value and returns its placeholder. */
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

/** Conditions on rows, aliased `r`. */
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

/** Each kind of condition in SQL; only the column name varies. */
function conditionSql({ by, column, asked }: Condition, where: Conditions): string {
  switch (by) {
    case "label":
    case "labels":
      if (typeof asked !== "string") return `r.${column} = ANY (${where.bind(asked.map(toStoredText))}::text[])`;
      // `<> ''` lets PostgreSQL use the partial index.
      return asked === ""
        ? `r.${column} = ''`
        : `r.${column} = ${where.bind(toStoredText(asked))} AND r.${column} <> ''`;
    case "one_of":
      return asked.length === 1
        ? `r.${column} = ${where.bind(asked[0])}`
        : `r.${column} = ANY (${where.bind(asked)}::text[])`;
    case "equals":
      return `r.${column} = ${where.bind(toStoredText(asked))}`;
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
 * Labels are validated on capture. A label from a damaged body may contain what PostgreSQL refuses, which would block
 * the index, so it is stored as marked JSON; so is text that begins with the mark.
 */
export function toStoredText(text: string): string {
  const isPlain = !text.includes("\0") && !text.startsWith(MARK) && text.isWellFormed();
  return isPlain ? text : MARK + JSON.stringify(text);
}

export function fromStoredText(text: string): string {
  return text.startsWith(MARK) ? (JSON.parse(text.slice(MARK.length)) as string) : text;
}

const MARK = "\u0001";
