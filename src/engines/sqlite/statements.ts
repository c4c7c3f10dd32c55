// Prepared statements by their text, each prepared once.
import type Database from "better-sqlite3";
import { asWritten, type Naming } from "./table-prefix.js";
import { Transactions } from "./transactions.js";

export class Statements {
  /** Those of the connection, shared by all who use it. */
  readonly transactions: Transactions;
  readonly #db: Database.Database;
  readonly #naming: Naming;
  readonly #bySql = new Map<string, Database.Statement>();

  constructor(db: Database.Database, naming: Naming = asWritten, transactions = new Transactions(db)) {
    this.#db = db;
    this.#naming = naming;
    this.transactions = transactions;
  }

  /** Answers with how many rows were changed. */
  run(sql: string, ...values: readonly unknown[]): number {
    return this.#prepared(sql).run(...values).changes;
  }

  get<T>(sql: string, ...values: readonly unknown[]): T | undefined {
    return this.#prepared(sql).get(...values) as T | undefined;
  }

  all<T>(sql: string, ...values: readonly unknown[]): readonly T[] {
    return this.#prepared(sql).all(...values) as readonly T[];
  }

  /** The first column of all rows, without an object for each. */
  column<T>(sql: string, ...values: readonly unknown[]): readonly T[] {
    return this.#prepared(sql)
      .pluck()
      .all(...values) as readonly T[];
  }

  /** Needed once tables were dropped and made again. */
  forget(): void {
    this.#bySql.clear();
  }

  #prepared(sql: string): Database.Statement {
    let statement = this.#bySql.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(this.#naming(sql));
      this.#bySql.set(sql, statement);
    }
    return statement;
  }
}
