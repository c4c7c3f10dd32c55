// Statements of one connection, each prepared once, and its transactions: to write, to read one snapshot, and to hold a
// snapshot for a while. Single statements would each take and release the file's locks, and could see different states.
import type { Database, SqlValue, Statement } from "./driver.js";

/** Gives a statement the text with which it is prepared. */
export type Naming = (sql: string) => string;

export class Statements {
  /** Shared by everything that uses the connection. */
  readonly transactions: Transactions;
  readonly #db: Database;
  readonly #naming: Naming;
  readonly #bySql = new Map<string, Statement>();

  constructor(db: Database, naming: Naming = (sql) => sql, transactions = new Transactions(db)) {
    this.#db = db;
    this.#naming = naming;
    this.transactions = transactions;
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#prepared(sql).run(...values);
  }

  get<T>(sql: string, ...values: readonly SqlValue[]): T | undefined {
    return this.#prepared(sql).get(...values) as T | undefined;
  }

  all<T>(sql: string, ...values: readonly SqlValue[]): readonly T[] {
    return this.#prepared(sql).all(...values) as readonly T[];
  }

  /** The first column of all rows, without an object for each. */
  column<T>(sql: string, ...values: readonly SqlValue[]): readonly T[] {
    return this.#prepared(sql)
      .pluck()
      .all(...values) as readonly T[];
  }

  /** Call it after tables were recreated. */
  forget(): void {
    this.#bySql.clear();
  }

  #prepared(sql: string): Statement {
    let statement = this.#bySql.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(this.#naming(sql));
      this.#bySql.set(sql, statement);
    }
    return statement;
  }
}

export class Transactions {
  readonly #db: Database;
  readonly #begin: Statement;
  readonly #beginWriting: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  /** Who holds the snapshot now. */
  #holder: object | undefined;

  constructor(db: Database) {
    this.#db = db;
    this.#begin = db.prepare("BEGIN");
    this.#beginWriting = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    this.#rollback = db.prepare("ROLLBACK");
  }

  /** Starts a snapshot and ends the previous one; releasing it tells whether it lasted until then. */
  hold(): () => boolean {
    this.#end();
    this.#begin.run();
    const holder = {};
    this.#holder = holder;
    return () => {
      const hasLasted = this.#holder === holder && this.#db.inTransaction;
      if (this.#holder === holder) this.#end();
      return hasLasted;
    };
  }

  /** Ends a held snapshot: a read transaction cannot always be upgraded. */
  write<T>(work: () => T): T {
    this.#end();
    this.#beginWriting.run();
    try {
      const result = work();
      this.#commit.run();
      return result;
    } catch (error) {
      // Some failures have undone the transaction already.
      if (this.#db.inTransaction) this.#rollback.run();
      throw error;
    }
  }

  /** Within the held snapshot, or a new one. */
  read<T>(work: () => T): T {
    if (this.#db.inTransaction) return work();
    this.#begin.run();
    try {
      return work();
    } finally {
      // A file error may have ended it already.
      if (this.#db.inTransaction) this.#commit.run();
    }
  }

  #end(): void {
    if (this.#holder === undefined) return;
    this.#holder = undefined;
    // Nothing was written, and a rollback succeeds even after a file error.
    if (this.#db.inTransaction) this.#rollback.run();
  }
}

/**
 * Marks text stored as JSON: text with lone surrogates or NUL, which SQLite's drivers do not return unchanged, and text
 * that begins with the mark.
 */
const MARK = "\u0001";

export function toStoredText(text: string): string {
  const isPlain = !text.includes("\0") && !text.startsWith(MARK) && text.isWellFormed();
  return isPlain ? text : MARK + JSON.stringify(text);
}

export function fromStoredText(stored: string): string {
  return stored.startsWith(MARK) ? (JSON.parse(stored.slice(MARK.length)) as string) : stored;
}
