// Carries pages from a WAL into its database, as far as it goes without holding anybody up.
import type Database from "better-sqlite3";
import { openFile } from "./file.js";

export class Checkpointer {
  readonly #db: Database.Database;

  private constructor(db: Database.Database) {
    this.#db = db;
  }

  static open(path: string): Checkpointer {
    return new Checkpointer(openFile({ path, mode: "write", synchronous: "FULL" }));
  }

  run(): void {
    checkpoint(this.#db);
  }

  close(): void {
    this.#db.close();
  }
}

/** Copies what is in the WAL now and is not being read in an older state. */
export function checkpoint(db: Database.Database): void {
  db.pragma("wal_checkpoint(PASSIVE)");
}
