// The tables of an index under other names, so that a second set of them can be filled beside the first in one file.
import Database from "better-sqlite3";
import { createIndexTables } from "./index-schema.js";

/** The text of a statement as it is to be prepared. */
export type Naming = (sql: string) => string;

export const asWritten: Naming = (sql) => sql;

export interface TableNames {
  /** Tables that are created, without those that a virtual table makes for itself. */
  readonly tables: readonly { readonly name: string; readonly sql: string }[];
  /** Every name of the schema, those of indexes too. */
  readonly all: ReadonlySet<string>;
}

/** Asked of SQLite itself, so that a table which is added to the schema is taken along. */
export function indexTableNames(): TableNames {
  const db = new Database(":memory:");
  try {
    createIndexTables(db);
    const made = db.prepare("SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'").all();
    const listed = db.pragma("main.table_list") as readonly { readonly name: string; readonly type: string }[];
    const shadows = new Set(listed.filter(({ type }) => type === "shadow").map(({ name }) => name));
    const tables = (made as readonly { readonly name: string; readonly sql: string }[]).filter(
      ({ name, sql }) => /^CREATE (VIRTUAL )?TABLE/i.test(sql) && !shadows.has(name),
    );
    return { tables, all: new Set((made as readonly { readonly name: string }[]).map(({ name }) => name)) };
  } finally {
    db.close();
  }
}

/** Puts the prefix before every name of the schema that is not within quotes or a comment. */
export function withPrefix(prefix: string, names: ReadonlySet<string>): Naming {
  return (sql) =>
    sql.replace(/'(?:[^']|'')*'|--[^\n]*|[A-Za-z_][A-Za-z0-9_]*/g, (token) =>
      names.has(token) ? prefix + token : token,
    );
}
