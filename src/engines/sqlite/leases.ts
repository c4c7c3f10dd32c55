// Leases on a folder: each is an empty file that its holder keeps locked with an open transaction. The lock belongs to
// the process and ends with it. An expiring row would need renewal, would outlive a crash, and could be held twice
// after a suspend. It is a separate file because a lock within log.db or index.db would block other writers.
import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Leases } from "../../model/lease.js";
import { connect } from "./connections.js";
import { type Database, SqliteError } from "./driver.js";
import { toFault } from "./faults.js";

interface Held {
  readonly db: Database;
  /** Identity of the locked file; the one of that name may have been replaced. */
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
 * SQLite itself creates the file: opening and closing it any other way would release the lock. Undefined if another
 * process holds it.
 */
function lock(path: string): Held | undefined {
  const db = connect(path, { timeout_ms: 0 });
  try {
    // Nothing is ever written, so no journal file is needed.
    db.pragma("journal_mode = MEMORY");
    db.exec("BEGIN EXCLUSIVE");
    chmodSync(path, 0o600);
    return { db, identity: identityOf(path) };
  } catch (error) {
    db.close();
    if (error instanceof SqliteError && error.code.startsWith("SQLITE_BUSY")) return undefined;
    throw error;
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}
