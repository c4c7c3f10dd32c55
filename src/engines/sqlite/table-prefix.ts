// The tables of an index under other names, so that a second set of them can be filled beside the first in one file.
import { connect } from "./connect.js";
import { createIndexTables } from "./index-schema.js";

/** The text of a statement as it is to be prepared. */
export type Naming = (sql: string) => string;

export const asWritten: Naming = (sql) => sql;

export interface TableNames {
  readonly tables: readonly string[];
  /** Every name of the schema, those of indexes too. */
  readonly all: ReadonlySet<string>;
}

/** Asked of SQLite itself, so that a table which is added to the schema is taken along. */
export function indexTableNames(): TableNames {
  const db = connect(":memory:");
  try {
    createIndexTables(db);
    const made = db.prepare<[], { name: string; type: string }>(
      "SELECT name, type FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'",
    );
    const all = made.all();
    return {
      tables: all.flatMap(({ name, type }) => (type === "table" ? [name] : [])),
      all: new Set(all.map(({ name }) => name)),
    };
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
