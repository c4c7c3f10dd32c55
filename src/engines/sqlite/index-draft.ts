// A second set of the index's tables, filled beside the ones in use and then put in their place, in one transaction.
//
// It is all in one file, because other processes hold that open: their statements go on with the new tables as soon as
// they are there. Several processes may fill one draft; whichever comes first puts it in place.
import type Database from "better-sqlite3";
import { createIndexTables } from "./index-schema.js";
import { rememberedHeads, rememberHeads } from "./remembered-heads.js";
import { indexTableNames, type Naming, type TableNames, withPrefix } from "./table-prefix.js";

const PREFIX = /^draft(\d+)_/;

export class DraftTables {
  readonly #db: Database.Database;
  readonly #number: number;
  readonly #prefix: string;
  readonly #names: TableNames;
  readonly naming: Naming;

  private constructor(db: Database.Database, number: number, names: TableNames) {
    const prefix = `draft${number}_`;
    this.#db = db;
    this.#number = number;
    this.#prefix = prefix;
    this.#names = names;
    this.naming = withPrefix(prefix, names.all);
  }

  /** Called within a transaction. What a killed rebuild left behind goes first. */
  static create(db: Database.Database): DraftTables {
    removeDrafts(db);
    // Indexes keep the name that they were made with, so that every draft needs another.
    const draft = new DraftTables(db, greatestNumber(db) + 1, indexTableNames());
    createIndexTables({ exec: (sql) => db.exec(draft.naming(sql)) });
    return draft;
  }

  /** False once another process has put it in place or begun another one. */
  isThere(): boolean {
    return schemaNames(this.#db).includes(`${this.#prefix}checkpoints`);
  }

  /** Once it is there no more: whether it is in use, or one that came after it. */
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

export function removeDrafts(db: Database.Database): void {
  const drafts = schemaNames(db, "type = 'table'").filter((name) => PREFIX.test(name));
  for (const name of drafts) db.exec(`DROP TABLE IF EXISTS "${name}"`);
}

function schemaNames(db: Database.Database, which = "true"): readonly string[] {
  return db.prepare(`SELECT name FROM sqlite_schema WHERE ${which}`).pluck().all() as readonly string[];
}

/** Of the drafts that there are and those that were put in place. */
function greatestNumber(db: Database.Database, which?: string): number {
  return Math.max(0, ...schemaNames(db, which).map((name) => Number(PREFIX.exec(name)?.[1] ?? 0)));
}
