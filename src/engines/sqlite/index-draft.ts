// A second set of the index's tables, filled beside the ones in use and then put in their place, in one transaction.
//
// It is all in one file, because other processes hold that open: their statements go on with the new tables as soon as
// they are there. Several processes may fill one draft; whichever comes first puts it in place.
import type Database from "better-sqlite3";
import { createIndexTables } from "./index-schema.js";
import { indexTableNames, type Naming, type TableNames, withPrefix } from "./table-prefix.js";

const PREFIX = /^draft(\d+)_/;

export class DraftTables {
  readonly #db: Database.Database;
  readonly #prefix: string;
  readonly #names: TableNames;
  readonly naming: Naming;

  private constructor(db: Database.Database, prefix: string, names: TableNames) {
    this.#db = db;
    this.#prefix = prefix;
    this.#names = names;
    this.naming = withPrefix(prefix, names.all);
  }

  /** Called within a transaction. What a killed rebuild left behind goes first. */
  static create(db: Database.Database): DraftTables {
    removeDrafts(db);
    // Indexes keep the name that they were made with, so that every draft needs another.
    const used = schemaNames(db).map((name) => Number(PREFIX.exec(name)?.[1] ?? 0));
    const draft = new DraftTables(db, `draft${Math.max(0, ...used) + 1}_`, indexTableNames());
    createIndexTables({ exec: (sql) => db.exec(draft.naming(sql)) });
    return draft;
  }

  /** False once another process has put it in place or begun another one. */
  isThere(): boolean {
    return schemaNames(this.#db).includes(`${this.#prefix}checkpoints`);
  }

  /** Called within a transaction. */
  putInPlace(): void {
    const vocabularies = this.#names.tables.filter(({ sql }) => /USING\s+fts5vocab/i.test(sql));
    const own = this.#names.tables.filter((table) => !vocabularies.includes(table));
    // A vocabulary names the table that it is of, so that it is made anew instead of being renamed.
    for (const { name } of vocabularies) for (const prefix of [this.#prefix, ""]) this.#drop(prefix + name);
    for (const { name } of own) {
      this.#drop(name);
      this.#db.exec(`ALTER TABLE "${this.#prefix}${name}" RENAME TO "${name}"`);
    }
    for (const { sql } of vocabularies) this.#db.exec(sql);
  }

  /** Called within a transaction. */
  remove(): void {
    if (this.isThere()) removeDrafts(this.#db);
  }

  #drop(name: string): void {
    this.#db.exec(`DROP TABLE IF EXISTS "${name}"`);
  }
}

function removeDrafts(db: Database.Database): void {
  const listed = db.pragma("main.table_list") as readonly { readonly name: string; readonly type: string }[];
  const drafts = listed.filter(({ name, type }) => PREFIX.test(name) && type !== "shadow");
  // What reads another table goes before that one.
  for (const { name } of drafts.toReversed()) db.exec(`DROP TABLE IF EXISTS "${name}"`);
}

function schemaNames(db: Database.Database): readonly string[] {
  return db.prepare("SELECT name FROM sqlite_schema").pluck().all() as readonly string[];
}
