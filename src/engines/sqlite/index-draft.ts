// A second set of index tables, filled next to the ones in use and then swapped in, in one transaction. It lives in the
// same file because other processes keep that file open: their statements continue with the new tables. Several
// processes may fill one draft; the first one swaps it in.

import { Database } from "./driver.js";
import { createIndexTables, rememberedHeads, rememberHeads } from "./index-schema.js";
import type { Naming } from "./statements.js";

const PREFIX = /^draft(\d+)_/;

export class DraftTables {
  readonly #db: Database;
  readonly #number: number;
  readonly #prefix: string;
  readonly #names: TableNames;
  readonly naming: Naming;

  private constructor(db: Database, number: number, names: TableNames) {
    const prefix = `draft${number}_`;
    this.#db = db;
    this.#number = number;
    this.#prefix = prefix;
    this.#names = names;
    this.naming = withPrefix(prefix, names.all);
  }

  /** Call it within a transaction. Removes what a killed rebuild left behind. */
  static create(db: Database): DraftTables {
    removeDrafts(db);
    // Indexes keep the name they were created with, so every draft needs another number.
    const draft = new DraftTables(db, greatestNumber(db) + 1, indexTableNames());
    createIndexTables({ exec: (sql) => db.exec(draft.naming(sql)) });
    return draft;
  }

  /** False once another process has adopted it or begun another draft. */
  isThere(): boolean {
    return schemaNames(this.#db).includes(`${this.#prefix}checkpoints`);
  }

  /** After it disappeared: whether it, or a later draft, is in use. */
  wasPutInPlace(): boolean {
    return greatestNumber(this.#db, "type = 'index' AND tbl_name NOT LIKE 'draft%'") >= this.#number;
  }

  /** Called within a transaction. */
  putInPlace(): void {
    rememberHeads(this.#db, rememberedHeads(this.#db), `${this.#prefix}checkpoints`);
    for (const name of this.#names.tables) {
      this.#db.exec(`DROP TABLE IF EXISTS "${name}"`);
      this.#db.exec(`ALTER TABLE "${this.#prefix}${name}" RENAME TO "${name}"`);
    }
  }

  /** Called within a transaction. */
  remove(): void {
    if (this.isThere()) removeDrafts(this.#db);
  }
}

export function removeDrafts(db: Database): void {
  const drafts = schemaNames(db, "type = 'table'").filter((name) => PREFIX.test(name));
  for (const name of drafts) db.exec(`DROP TABLE IF EXISTS "${name}"`);
}

function schemaNames(db: Database, which = "true"): readonly string[] {
  return db.prepare(`SELECT name FROM sqlite_schema WHERE ${which}`).pluck().all() as readonly string[];
}

/** The greatest number of existing and adopted drafts. */
function greatestNumber(db: Database, which?: string): number {
  return Math.max(0, ...schemaNames(db, which).map((name) => Number(PREFIX.exec(name)?.[1] ?? 0)));
}

interface TableNames {
  readonly tables: readonly string[];
  /** All names of the schema, including indexes. */
  readonly all: ReadonlySet<string>;
}

/**
 * Read from SQLite itself, so tables added to the schema are included.
 *
 * @internal Exported for tests.
 */
export function indexTableNames(): TableNames {
  const db = new Database(":memory:");
  try {
    createIndexTables(db);
    const made = db.prepare<{ name: string; type: string }>(
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

/** Prefixes every schema name outside of quotes and comments. */
function withPrefix(prefix: string, names: ReadonlySet<string>): Naming {
  return (sql) =>
    sql.replace(/'(?:[^']|'')*'|--[^\n]*|[A-Za-z_][A-Za-z0-9_]*/g, (token) =>
      names.has(token) ? prefix + token : token,
    );
}
