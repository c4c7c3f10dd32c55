// The file of the index while the program runs: opened when it is needed, and made anew when it was lost, replaced or
// damaged, by whomever. Everything in it is derived, so that nothing is lost with it.
import { readdirSync, rmSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type Database from "better-sqlite3";
import { type HeldIndex, IndexFault, type IndexHolder } from "../../index/index-holder.js";
import type { EntryIndex } from "../../index/port.js";
import { Fault } from "../../model/fault.js";
import { storeFiles } from "../../model/store-location.js";
import { connect, isWritable } from "./connect.js";
import { SqliteIndex } from "./index.js";
import { INDEX_VERSION } from "./index-schema.js";

const COMPANIONS = ["-wal", "-shm"] as const;
const ENDINGS = ["", ...COMPANIONS] as const;
const OPENING_TRIES = 5;
const LOCK_WAIT_MS = 1_000;

interface OpenFile {
  /** Undefined where the index is in memory, because its file cannot be written. */
  readonly path: string | undefined;
  readonly index: SqliteIndex;
  /** Which files they were when they were opened; the WAL's are noted once it is there. */
  readonly identities: (string | undefined)[];
  bytes: number;
  tablesVersion: number;
  /** Whether tables were written anew, after which the file may become smaller once. */
  isRewritten: boolean;
}

export class SqliteIndexFile implements IndexHolder {
  readonly #path: string;
  #open: OpenFile | undefined;
  #generation = 0;

  constructor(options: { readonly path: string }) {
    this.#path = options.path;
  }

  async look(): Promise<HeldIndex> {
    return { index: this.#current(), generation: this.#generation };
  }

  async replace(damaged: EntryIndex): Promise<EntryIndex> {
    return this.#replace(damaged);
  }

  async close(): Promise<void> {
    this.#letGo();
  }

  /** Nothing here waits, so that reads which look at the same time all get the same index. */
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
    // What cannot be written cannot be removed either, and nothing of it is taken over again.
    if (open.path === undefined) return this.#inMemory(undefined);
    removeFiles(open.path, open.identities[0]);
    return this.#reopen();
  }

  /** Whoever still reads from the index that is closed here meets a fault, and reads again from the new one. */
  #reopen(): EntryIndex {
    this.#letGo();
    this.#generation += 1;
    try {
      this.#open = openSteadily(this.#path);
    } catch (error) {
      if (error instanceof Fault && error.code === "store_not_writable" && !canBeWritten(this.#path))
        return this.#inMemory(this.#path);
      if (!(error instanceof Fault) || error.code !== "store_newer") throw error;
      // Both versions would otherwise destroy each other's index in turn, for as long as both are in use.
      this.#open = openSteadily(ownPath(this.#path));
    }
    return this.#open.index;
  }

  /** An index in memory, with what the file holds, if it can be read. */
  #inMemory(path: string | undefined): EntryIndex {
    this.#letGo();
    this.#generation += 1;
    const index = SqliteIndex.inMemory({ path });
    this.#open = { path: undefined, index, identities: [], bytes: 0, tablesVersion: 0, isRewritten: false };
    return index;
  }

  #letGo(): void {
    void this.#open?.index.close();
    this.#open = undefined;
  }
}

/** Every index of a folder, those of other versions too. */
export function indexFilesIn(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder).filter((name) => /^index(\.format-\d+)?\.db$/.test(name));
    return names.map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Removes the files of an index that nobody needs to keep. */
export function discardIndex(path: string): void {
  removeFiles(path, identityAt(path));
}

/** Where a version of Hansard keeps its index while `index.db` belongs to a newer one. */
function ownPath(path: string): string {
  return join(dirname(path), `index.format-${INDEX_VERSION}.db`);
}

function canBeWritten(path: string): boolean {
  return isWritable(dirname(path)) && (identityAt(path) === undefined || isWritable(path));
}

/** Opens the file that lies there before and after: one that was exchanged meanwhile would be mixed with another's WAL. */
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
 * By what the file system tells alone: opening and closing the file here would release the locks that SQLite holds on it.
 * Bytes that make no sense are met by whoever reads them.
 */
function stateOf(
  open: OpenFile,
  path: string,
): { readonly state: "same"; readonly tablesVersion: number } | { readonly state: "other" | "damaged" } {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || identityOf(found) !== open.identities[0]) return { state: "other" };
  // A file that became smaller was cut off, unless its tables were written anew.
  if (found.size < open.bytes && !isRewritten(open, found.size)) return { state: "damaged" };
  open.bytes = found.size;
  // While this connection is open, SQLite neither removes nor exchanges the files beside the database.
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

/** Removes the very file that was found damaged; another process may have put a good one in its place. */
function removeFiles(path: string, identity: string | undefined): void {
  alone(path, () => {
    if (identityAt(path) !== identity) return;
    for (const ending of ENDINGS) rmSync(path + ending, { force: true });
  });
}

/**
 * One process at a time makes or removes an index: with the log's lock, which no crash leaves behind. Where it cannot be
 * had, the log is in no better state than the index, and nothing is gained by waiting.
 */
function alone<T>(path: string, work: () => T): T {
  let log: Database.Database | undefined;
  try {
    log = connect(storeFiles(dirname(path)).log, { fileMustExist: true, timeout: LOCK_WAIT_MS });
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
  // A file of another program is for a person to decide about, and one of a newer version for whoever opens it.
  if (!(error instanceof Fault) || error.code === "store_foreign" || error.code === "store_newer") return error;
  return new IndexFault(error.code, error.message, { hint: error.hint, cause: error.cause });
}
