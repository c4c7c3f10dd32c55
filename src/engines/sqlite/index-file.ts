// The index file while the program runs: opened on first use, and recreated if it was lost, replaced or damaged.
// Everything in it is derived, so nothing is lost.
import { readdirSync, rmSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { type HeldIndex, IndexFault, type IndexHolder } from "../../index/index-holder.js";
import type { EntryIndex } from "../../index/port.js";
import { Fault } from "../../model/fault.js";
import { storeFiles } from "../../model/store-location.js";
import { connect, isWritable } from "./connections.js";
import type { Database } from "./driver.js";
import { SqliteIndex } from "./index.js";
import { INDEX_VERSION } from "./index-schema.js";

const COMPANIONS = ["-wal", "-shm"] as const;
const ENDINGS = ["", ...COMPANIONS] as const;
const OPENING_TRIES = 5;
const LOCK_WAIT_MS = 1_000;

interface OpenFile {
  /** Undefined for an index in memory, used if the file cannot be written. */
  readonly path: string | undefined;
  readonly index: SqliteIndex;
  /** Identities of the files at opening; those of the WAL and shared memory are noted once they exist. */
  readonly identities: (string | undefined)[];
  bytes: number;
  tablesVersion: number;
  /** Whether tables were rewritten, after which the file may shrink once. */
  isRewritten: boolean;
}

export class SqliteIndexFile implements IndexHolder {
  readonly #path: string;
  #open: OpenFile | undefined;
  #generation = 0;

  constructor(options: { readonly path: string }) {
    this.#path = options.path;
  }

  async current(): Promise<HeldIndex> {
    return { index: this.#current(), generation: this.#generation };
  }

  async replace(damaged: EntryIndex): Promise<EntryIndex> {
    return this.#replace(damaged);
  }

  async close(): Promise<void> {
    this.#closeOpen();
  }

  /** Synchronous, so concurrent reads all get the same index. */
  #current(): EntryIndex {
    const open = this.#open;
    if (open === undefined) return this.#reopen();
    if (open.path === undefined) return canBeWritten(this.#path) ? this.#reopen() : open.index;
    const found = stateOf(open, open.path);
    if (found.state === "same") {
      const { tablesVersion } = found;
      if (tablesVersion !== open.tablesVersion) {
        this.#generation += 1;
        open.isRewritten = true;
      }
      open.tablesVersion = tablesVersion;
      return open.index;
    }
    return found.state === "damaged" ? this.#replace(open.index) : this.#reopen();
  }

  #replace(damaged: EntryIndex): EntryIndex {
    const open = this.#open;
    if (open?.index !== damaged) return this.#current();
    // A file that cannot be written cannot be removed either; nothing of it is reused.
    if (open.path === undefined) return this.#inMemory(undefined);
    removeFiles(open.path, open.identities[0]);
    return this.#reopen();
  }

  /** Reads on the closed index fail with a fault and are retried on the new one. */
  #reopen(): EntryIndex {
    this.#closeOpen();
    this.#generation += 1;
    try {
      this.#open = openSteadily(this.#path);
    } catch (error) {
      if (error instanceof Fault && error.code === "store_not_writable" && !canBeWritten(this.#path))
        return this.#inMemory(this.#path);
      if (!(error instanceof Fault) || error.code !== "store_newer") throw error;
      // Otherwise both versions would keep destroying each other's index.
      this.#open = openSteadily(ownPath(this.#path));
    }
    return this.#open.index;
  }

  /** An index in memory, initialised from the file if it can be read. */
  #inMemory(path: string | undefined): EntryIndex {
    this.#closeOpen();
    this.#generation += 1;
    const index = SqliteIndex.inMemory({ path });
    this.#open = { path: undefined, index, identities: [], bytes: 0, tablesVersion: 0, isRewritten: false };
    return index;
  }

  #closeOpen(): void {
    void this.#open?.index.close();
    this.#open = undefined;
  }
}

/** All index files of a folder, including those of other versions. */
export function indexFilesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /^index(\.format-\d+)?\.db$/.test(name));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Deletes the files of an index that is no longer needed. */
export function discardIndex(path: string): void {
  removeFiles(path, identityAt(path));
}

/** Where this version keeps its index while `index.db` belongs to a newer one. */
function ownPath(path: string): string {
  return join(dirname(path), `index.format-${INDEX_VERSION}.db`);
}

function canBeWritten(path: string): boolean {
  return isWritable(dirname(path)) && (identityAt(path) === undefined || isWritable(path));
}

/** Retries if the file was replaced while it was opened: it would be mixed with another file's WAL. */
function openSteadily(path: string): OpenFile {
  for (let tries = 1; ; tries += 1) {
    const before = identityAt(path);
    try {
      const index = before === undefined ? alone(path, () => SqliteIndex.open({ path })) : SqliteIndex.open({ path });
      const identities = ENDINGS.map((ending) => identityAt(path + ending));
      if (before === undefined || before === identities[0] || tries >= OPENING_TRIES) {
        return { path, index, identities, bytes: 0, tablesVersion: index.versions().tables, isRewritten: false };
      }
      void index.close();
    } catch (error) {
      const isDamaged = error instanceof Fault && error.code === "store_corrupt";
      if (!isDamaged || tries >= OPENING_TRIES) throw asIndexFault(error);
      removeFiles(path, before);
    }
  }
}

/**
 * Uses only `stat`: opening and closing the file would release SQLite's locks on it. Corrupt content is found by reads.
 */
function stateOf(
  open: OpenFile,
  path: string,
): { readonly state: "same"; readonly tablesVersion: number } | { readonly state: "other" | "damaged" } {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || identityOf(found) !== open.identities[0]) return { state: "other" };
  // A file that shrank was truncated, unless its tables were rewritten.
  if (found.size < open.bytes && !isRewritten(open, found.size)) return { state: "damaged" };
  open.bytes = found.size;
  // While this connection is open, SQLite neither removes nor replaces the database's other files.
  for (const [nth, ending] of COMPANIONS.entries()) {
    const identity = identityAt(path + ending);
    open.identities[nth + 1] ??= identity;
    if (open.identities[nth + 1] !== identity) return { state: "damaged" };
  }
  const { format, tables } = open.index.versions();
  return format === INDEX_VERSION ? { state: "same", tablesVersion: tables } : { state: "other" };
}

function isRewritten(open: OpenFile, bytes: number): boolean {
  if (bytes === 0) return false;
  try {
    const isOther = open.isRewritten || open.index.versions().tables !== open.tablesVersion;
    open.isRewritten = false;
    return isOther;
  } catch {
    return false;
  }
}

function identityAt(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : identityOf(found);
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

/** Deletes exactly the file found damaged; another process may have replaced it already. */
function removeFiles(path: string, identity: string | undefined): void {
  alone(path, () => {
    if (identityAt(path) !== identity) return;
    for (const ending of ENDINGS) rmSync(path + ending, { force: true });
  });
}

/**
 * One process at a time creates or deletes an index, under the log's write lock, which no crash leaves behind. If the
 * lock is unavailable, it proceeds without.
 */
function alone<T>(path: string, work: () => T): T {
  let log: Database | undefined;
  try {
    log = connect(storeFiles(dirname(path)).log, { must_exist: true, timeout_ms: LOCK_WAIT_MS });
    log.exec("BEGIN IMMEDIATE");
  } catch {
    log?.close();
    log = undefined;
  }
  try {
    return work();
  } finally {
    log?.close();
  }
}

function asIndexFault(error: unknown): unknown {
  // Files of other programs and of newer versions are decided elsewhere.
  if (!(error instanceof Fault) || error.code === "store_foreign" || error.code === "store_newer") return error;
  return new IndexFault(error.code, error.message, { hint: error.hint, cause: error.cause });
}
