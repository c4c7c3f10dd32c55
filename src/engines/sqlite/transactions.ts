// The transactions of one connection: to write, to read several things as of one moment, and to hold such a moment for a
// while. Each statement alone would take and give back the file's locks, and might see another moment than the one before.
import type Database from "better-sqlite3";

export class Transactions {
  readonly #db: Database.Database;
  readonly #begin: Database.Statement;
  readonly #beginWriting: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #rollback: Database.Statement;
  /** Whoever holds a moment now. */
  #holder: object | undefined;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#begin = db.prepare("BEGIN");
    this.#beginWriting = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    this.#rollback = db.prepare("ROLLBACK");
  }

  /** Begins a moment, and ends the one that was held before; letting go answers whether it lasted until then. */
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

  /** Ends a moment that is held: what has read cannot always write. */
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

  /** Within the moment that is held, or else in one of its own. */
  read<T>(work: () => T): T {
    if (this.#db.inTransaction) return work();
    this.#begin.run();
    try {
      return work();
    } finally {
      // A fault of the file may have ended it already.
      if (this.#db.inTransaction) this.#commit.run();
    }
  }

  #end(): void {
    if (this.#holder === undefined) return;
    this.#holder = undefined;
    // Nothing was written, so that there is nothing to keep; and undoing succeeds where a fault of the file is met.
    if (this.#db.inTransaction) this.#rollback.run();
  }
}
