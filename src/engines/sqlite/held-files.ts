// The files that a connection has open, and whether they still lie under their names: what is written to a file that was
// removed or exchanged is found by nobody, although SQLite goes on writing to it.
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Fault } from "../../model/fault.js";

interface Identity {
  readonly dev: number;
  readonly ino: number;
}

/** A folder as it was seen, and whether whatever happens in it after that look gives it another time. */
interface SeenFolder extends Identity {
  readonly changed_ms: number;
  readonly is_settled: boolean;
}

/** The times of folders go by a clock that stands still for so long at most, and where they are whole seconds, for longer. */
const TICK_MS_MAX = 50;
const COARSE_TICK_MS_MAX = 2_500;

/** What happened to the files, as far as their names tell. */
type Loss = "log_removed" | "log_exchanged" | "wal_removed" | "wal_exchanged";

export class HeldFiles {
  readonly #path: string;
  readonly #wal: string;
  readonly #identities: { readonly log: Identity | undefined; readonly wal: Identity | undefined };
  readonly #openWal: OpenFile | undefined;
  /** Where the files lie; undefined where they lie in another folder than their names, whose times tell nothing then. */
  readonly #folder: string | undefined;
  /** The folder as it was when all files lay in it under their names. */
  #inPlace: SeenFolder | undefined;
  #wasLost = false;

  /** Called once the connection has read something: from then on SQLite neither removes nor exchanges a file of its own. */
  constructor(path: string) {
    this.#path = path;
    this.#wal = `${path}-wal`;
    this.#identities = { log: identityOf(path), wal: identityOf(this.#wal) };
    this.#openWal = openFileAt(this.#wal);
    this.#folder = isLink(path) ? undefined : dirname(path);
  }

  /**
   * Commits, and answers only if what was written lies in files that others find by their names. Where they were lost when
   * somebody looked last, nothing is written, unless they are back in their places.
   */
  findably<T>(work: { readonly commit: () => T; readonly carryOver: () => void }): T {
    if (this.#wasLost) this.#refuse(this.#loss());
    const committed = work.commit();
    const loss = this.#loss();
    // What was acknowledged before is carried to where it has a name, as long as nobody has begun another WAL.
    if (loss === "wal_removed") work.carryOver();
    this.#refuse(loss);
    return committed;
  }

  fault(): Fault | undefined {
    const loss = this.#loss();
    return loss === undefined ? undefined : this.#toFault(loss);
  }

  /** One look at the file system as a rule: a name that comes, goes or leads elsewhere changes the time of its folder. */
  #loss(): Loss | undefined {
    const folder = this.#folder === undefined ? undefined : seenFolder(this.#folder);
    if (folder !== undefined && isUnchanged(folder, this.#inPlace)) return undefined;
    const found = this.#lossByName();
    this.#wasLost = found !== undefined;
    this.#inPlace = found === undefined ? folder : undefined;
    return found;
  }

  #lossByName(): Loss | undefined {
    const { log, wal } = this.#identities;
    const walLoss = isInPlace(this.#openWal) ? undefined : lossOf(this.#wal, wal, "wal");
    return lossOf(this.#path, log, "log") ?? walLoss;
  }

  #refuse(loss: Loss | undefined): void {
    if (loss !== undefined) throw this.#toFault(loss);
  }

  #toFault(loss: Loss): Fault {
    const [file, what] = loss.split("_") as [string, string];
    const name = file === "wal" ? this.#wal : this.#path;
    return new Fault("store_exchanged", `${name} was ${what} while this program had it open`, {
      hint:
        "Nothing recorded since was acknowledged. Export what this program still reads, stop all programs that use " +
        "the store, and run `hansard doctor`.",
    });
  }
}

/** Taken before the files are looked at, so that what changes meanwhile is seen by the next look. */
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

/** A file that this process has open, by the link that Linux keeps to it, and where that leads while it is in its place. */
interface OpenFile {
  readonly link: string;
  readonly place: string;
}

/**
 * Linux says of an open file where it lies now. Asking its name for its times instead would make the next write note a
 * finer time, and the sync of that write carry the inode too, which takes a lone commit a fifth longer.
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

function lossOf(path: string, held: Identity | undefined, file: "log" | "wal"): Loss | undefined {
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
