// Checks that open files are still in place. SQLite keeps writing to a file that was removed or replaced, and that
// data would be lost.
import { existsSync, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../../model/fault.js";

interface Identity {
  readonly dev: number;
  readonly ino: number;
}

/** A folder as last seen, and whether its timestamp is old enough that any later change shows. */
interface SeenFolder extends Identity {
  readonly changed_ms: number;
  readonly is_settled: boolean;
}

/** Timestamps of folders have this resolution at most, and a coarser one on file systems with whole seconds. */
const TICK_MS_MAX = 50;
const COARSE_TICK_MS_MAX = 2_500;

/** What happened to the files, judged by their names. */
type FileLoss = "log_removed" | "log_exchanged" | "wal_removed" | "wal_exchanged";

export class OpenFiles {
  readonly #path: string;
  readonly #wal: string;
  readonly #identities: { readonly log: Identity | undefined; readonly wal: Identity | undefined };
  readonly #openWal: OpenFile | undefined;
  /** The folder of the files; undefined behind a link, because the folder's timestamp says nothing then. */
  readonly #folder: string | undefined;
  /** The folder when all files were last found in place. */
  #inPlace: SeenFolder | undefined;
  #wasLost = false;

  /** Create it after the first read: from then on SQLite neither removes nor replaces its own files. */
  constructor(path: string) {
    this.#path = path;
    this.#wal = `${path}-wal`;
    this.#identities = { log: identityOf(path), wal: identityOf(this.#wal) };
    this.#openWal = openFileAt(this.#wal);
    this.#folder = isLink(path) ? undefined : dirname(path);
  }

  /**
   * Commits, and returns only if the data is in files that others can find by name. If files were lost before, nothing
   * is written until they are back in place.
   */
  commitInPlace<T>(work: { readonly commit: () => T; readonly checkpoint: () => void }): T {
    if (this.#wasLost) this.#refuse(this.#loss());
    const committed = work.commit();
    const loss = this.#loss();
    // Acknowledged commits are checkpointed into the file that still has a name, unless another program has started a new WAL.
    if (loss === "wal_removed") work.checkpoint();
    this.#refuse(loss);
    return committed;
  }

  fault(): Fault | undefined {
    const loss = this.#loss();
    return loss === undefined ? undefined : this.#toFault(loss);
  }

  /** Usually one `stat`: adding, removing or replacing a name changes the folder's timestamp. */
  #loss(): FileLoss | undefined {
    const folder = this.#folder === undefined ? undefined : seenFolder(this.#folder);
    if (folder !== undefined && isUnchanged(folder, this.#inPlace)) return undefined;
    const found = this.#lossByName();
    this.#wasLost = found !== undefined;
    this.#inPlace = found === undefined ? folder : undefined;
    return found;
  }

  #lossByName(): FileLoss | undefined {
    const { log, wal } = this.#identities;
    const walLoss = isInPlace(this.#openWal) ? undefined : lossOf(this.#wal, wal, "wal");
    return lossOf(this.#path, log, "log") ?? walLoss;
  }

  #refuse(loss: FileLoss | undefined): void {
    if (loss !== undefined) throw this.#toFault(loss);
  }

  #toFault(loss: FileLoss): Fault {
    const [file, what] = loss.split("_") as [string, string];
    const name = file === "wal" ? this.#wal : this.#path;
    return new Fault("store_exchanged", `${name} was ${what} while this program had it open`, {
      hint:
        "Nothing recorded since was acknowledged. Export what this program still reads, stop all programs that use " +
        "the store, and run `hansard doctor`.",
    });
  }
}

/** Taken before the files are checked, so a change in between is seen by the next check. */
function seenFolder(path: string): SeenFolder | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const { dev, ino, ctimeMs } = found;
  const tickMs = ctimeMs % 1_000 === 0 ? COARSE_TICK_MS_MAX : TICK_MS_MAX;
  return { dev, ino, changed_ms: ctimeMs, is_settled: Date.now() - ctimeMs > tickMs };
}

function isUnchanged(folder: SeenFolder, before: SeenFolder | undefined): boolean {
  return before?.is_settled === true && isSame(folder, before) && folder.changed_ms === before.changed_ms;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return true;
  }
}

/** An open file of this process: the link that Linux keeps for it, and its path. */
interface OpenFile {
  readonly link: string;
  readonly place: string;
}

/**
 * Linux tells the current path of an open file. Calling `stat` on its name instead would make the next write record a
 * finer timestamp, so syncing it also writes the inode: a fifth longer for a lone commit.
 */
function openFileAt(path: string): OpenFile | undefined {
  try {
    const place = realpathSync(path);
    const links = readdirSync(OPEN_FILES).map((name) => `${OPEN_FILES}/${name}`);
    const link = links.find((one) => targetOf(one) === place);
    return link === undefined ? undefined : { link, place };
  } catch {
    return undefined;
  }
}

const OPEN_FILES = "/proc/self/fd";

function isInPlace(file: OpenFile | undefined): boolean {
  return file !== undefined && targetOf(file.link) === file.place;
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}

function lossOf(path: string, held: Identity | undefined, file: "log" | "wal"): FileLoss | undefined {
  if (held === undefined) return undefined;
  const found = identityOf(path);
  if (found === undefined) return `${file}_removed`;
  return isSame(found, held) ? undefined : `${file}_exchanged`;
}

function identityOf(path: string): Identity | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function isSame(found: Identity, held: Identity | undefined): boolean {
  return found.ino === held?.ino && found.dev === held.dev;
}

export class UnchangedFile {
  readonly #path: string;
  readonly #seen: string;

  constructor(path: string) {
    this.#path = path;
    this.#seen = this.#readState();
  }

  /** Call it after reading: the data may mix two states if another program has begun to write. */
  assertUnchanged(): void {
    if (this.#readState() === this.#seen) return;
    throw new Fault("store_busy", `${this.#path} changed while it was read`, {
      hint: "Another program is writing to it. Try again.",
    });
  }

  #readState(): string {
    return [this.#path, `${this.#path}-wal`].map(stateOf).join(" ");
  }
}

/** An empty WAL is created just by opening the database, and means nothing. */
function stateOf(path: string): string {
  if (!existsSync(path)) return "0";
  const { size, mtimeMs } = statSync(path);
  return size === 0 ? "0" : `${size}@${mtimeMs}`;
}
