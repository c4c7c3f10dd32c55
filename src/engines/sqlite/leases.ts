// Leases on a folder: each is an empty file beside the log, which its holder keeps locked by a transaction that never ends.
//
// The lock is the system's and goes with the process, whatever ends it. A row with a time of expiry would have to be renewed,
// would keep a lease of the dead until it runs out, and leave it to two when its holder was suspended for that long. A file
// of its own, because a lock within log.db or index.db would keep others from writing there.
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Leases } from "../../model/lease.js";
import { connect } from "./connect.js";
import { toFault } from "./file.js";

interface Held {
  readonly db: Database.Database;
  /** Which file is locked: the one of that name may have been removed and made anew. */
  readonly identity: string | undefined;
}

export class SqliteLeases implements Leases {
  readonly engine = "sqlite";
  readonly #folder: string;
  readonly #heldByName = new Map<string, Held>();

  constructor(options: { readonly folder: string }) {
    this.#folder = options.folder;
  }

  async hold(name: string): Promise<boolean> {
    const path = join(this.#folder, `${name}.lease`);
    const held = this.#heldByName.get(name);
    if (held?.identity !== undefined && held.identity === identityOf(path)) return true;
    await this.release(name);
    try {
      const taken = lock(path);
      if (taken !== undefined) this.#heldByName.set(name, taken);
      return taken !== undefined;
    } catch (error) {
      throw toFault(error, path);
    }
  }

  async release(name: string): Promise<void> {
    this.#heldByName.get(name)?.db.close();
    this.#heldByName.delete(name);
  }

  async close(): Promise<void> {
    for (const name of [...this.#heldByName.keys()]) await this.release(name);
  }
}

/**
 * SQLite itself makes and opens the file: whoever else closed it in this process would take the lock away. Undefined where
 * another holds it.
 */
function lock(path: string): Held | undefined {
  const db = connect(path, { timeout: 0 });
  try {
    // Nothing is ever written, so that a journal would only lie about.
    db.pragma("journal_mode = MEMORY");
    db.exec("BEGIN EXCLUSIVE");
    chmodSync(path, 0o600);
    return { db, identity: identityOf(path) };
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
