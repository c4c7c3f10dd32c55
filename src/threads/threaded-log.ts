// The SQLite log as the rest of the program sees it. A single small entry is committed in the caller's thread while nothing
// else is being written; as soon as several wait, a thread of its own writes for them, so that the caller goes on meanwhile.

import type { LogMode } from "../engines/port.js";
import { SqliteLog } from "../engines/sqlite/log.js";
import type {
  AppendOutcome,
  AppendUnit,
  CopiedEntry,
  EntryLog,
  Erasure,
  Guards,
  Head,
  KeptClaims,
  NewRedactions,
  Orphan,
  ReadRange,
  StoredBody,
  StoredEntry,
} from "../log/port.js";
import { closedFault, Fault } from "../model/fault.js";
import { Checkpointing, LONG_COMMIT_BYTES } from "./checkpointing.js";
import {
  addressed,
  type PackedOutcomes,
  type PackedUnits,
  packInTurns,
  packUnits,
  unpackInTurns,
  unpackOutcomes,
} from "./packing.js";
import { purgeFile } from "./purging.js";
import { givenAway, Thread, threadFile } from "./thread.js";

/** So much is copied, and so many are packed and unpacked, in a millisecond or two. */
const AT_ONCE_BYTES_MAX = 4 * 1024 * 1024;
const AT_ONCE_ENTRIES_MAX = 4_000;

export class ThreadedLog implements EntryLog {
  readonly engine = "sqlite";
  readonly #path: string;
  readonly #own: SqliteLog;
  readonly #checkpointing: Checkpointing;
  readonly #inline = new InlineCommits(() => performance.now());
  /** Appends that the thread has and has not answered. */
  #onThread = 0;
  #thread: Promise<Thread> | undefined;
  #isClosed = false;
  /** The large appends that are being made ready, in their order. */
  #packing: Promise<void> | undefined;
  #purging: Promise<string | undefined> | undefined;
  /** Whether the last append was a long one, after which the next is being made ready already. */
  #isStream = false;

  private constructor(path: string, own: SqliteLog) {
    this.#path = path;
    this.#own = own;
    this.#checkpointing = new Checkpointing({ path, finish: () => this.#finishCheckpoint() });
  }

  static async open(options: { readonly path: string; readonly mode: LogMode }): Promise<ThreadedLog> {
    const log = new ThreadedLog(options.path, SqliteLog.open(options));
    // A program that was killed after it had erased something has left this undone.
    if (log.#own.isPurgeDue()) log.purge().catch(() => undefined);
    return log;
  }

  async head(): Promise<Head> {
    return this.#own.head();
  }

  async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    if (this.#isClosed) throw closedFault();
    const bytes = bytesOf(units);
    const isHere = this.#onThread === 0 && this.#inline.suits(units, bytes);
    this.#isStream = bytes >= LONG_COMMIT_BYTES;
    const outcomes = (isHere ? this.#appendHere(units) : undefined) ?? (await this.#appendOnThread(units, bytes));
    this.#checkpointing.afterCommit(bytes);
    return outcomes;
  }

  async restore(copy: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): Promise<boolean> {
    if (this.#isClosed) throw closedFault();
    const isTaken = await this.#own.restore(copy);
    this.#isStream = false;
    this.#checkpointing.afterCommit(copy.entries.reduce((bytes, { body }) => bytes + (body?.byteLength ?? 0), 0));
    return isTaken;
  }

  hintBulk(): void {
    // Whoever appends first meets whatever failed.
    if (!this.#isClosed) this.#startedThread().catch(() => undefined);
  }

  read(range: ReadRange): Promise<readonly StoredEntry[]> {
    return this.#own.read(range);
  }

  get(positions: readonly number[], bytes_max?: number): Promise<readonly (StoredEntry | undefined)[]> {
    return this.#own.get(positions, bytes_max);
  }

  readBodies(range: ReadRange): Promise<readonly StoredBody[]> {
    return this.#own.readBodies(range);
  }

  getBodies(positions: readonly number[], bytes_max?: number): Promise<readonly (StoredBody | undefined)[]> {
    return this.#own.getBodies(positions, bytes_max);
  }

  find(claims: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.#own.find(claims);
  }

  keptClaims(range: { readonly after: number; readonly through: number }): Promise<KeptClaims> {
    return this.#own.keptClaims(range);
  }

  erasures(range: { readonly after: number; readonly limit: number }): Promise<readonly Erasure[]> {
    return this.#own.erasures(range);
  }

  guards(): Promise<Guards> {
    return this.#own.guards();
  }

  redactionsAfter(position: number): Promise<NewRedactions> {
    return this.#own.redactionsAfter(position);
  }

  findOrphan(): Promise<Orphan | undefined> {
    return this.#own.findOrphan();
  }

  positionsSharing(position: number): Promise<readonly number[]> {
    return this.#own.positionsSharing(position);
  }

  /** Whoever asks while it goes on waits for the same one and then for another, since more may have been erased. */
  async purge(): Promise<string | undefined> {
    await this.#purging?.catch(() => undefined);
    this.#purging ??= purgeFile({ file: "log", path: this.#path }).finally(() => {
      this.#purging = undefined;
    });
    return this.#purging;
  }

  fault(): Fault | undefined {
    return this.#own.fault();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#purging?.catch(() => undefined);
    await (await this.#thread)?.close();
    await this.#checkpointing.close();
    await this.#own.close();
  }

  /** Nothing comes back when another program is writing at this moment: waiting for it is the thread's work. */
  #appendHere(units: readonly AppendUnit[]): readonly AppendOutcome[] | undefined {
    const start = performance.now();
    try {
      return this.#own.appendNow(units, { waits: false });
    } catch (error) {
      if (error instanceof Fault && error.code === "store_busy") return undefined;
      throw error;
    } finally {
      this.#inline.noteCommit(performance.now() - start);
    }
  }

  async #appendOnThread(units: readonly AppendUnit[], bytes: number): Promise<readonly AppendOutcome[]> {
    this.#onThread += 1;
    try {
      const thread = await this.#startedThread();
      const isMuch = bytes > AT_ONCE_BYTES_MAX || entriesOf(units) > AT_ONCE_ENTRIES_MAX;
      const packed = await this.#packed(units, isMuch);
      const outcomes = await thread.callWith<PackedOutcomes>((call) => addressed(packed, call), givenAway(packed));
      return isMuch ? await unpackInTurns(outcomes) : unpackOutcomes(outcomes);
    } catch (error) {
      // Whether these units were stored is for their ids to answer; the next ones get a new thread.
      if (error instanceof Fault && error.code === "thread_stopped") this.#thread = undefined;
      throw error;
    } finally {
      this.#onThread -= 1;
    }
  }

  /** Large appends are packed in turns, and whatever comes after one waits for it, so that the order stays. */
  #packed(units: readonly AppendUnit[], isMuch: boolean): PackedUnits | Promise<PackedUnits> {
    if (this.#packing === undefined && !isMuch) return packUnits(units);
    const before = this.#packing ?? Promise.resolve();
    const packed = before.then(() => packInTurns(units));
    const packing = packed.then(
      () => undefined,
      () => undefined,
    );
    this.#packing = packing;
    void packing.then(() => {
      if (this.#packing === packing) this.#packing = undefined;
    });
    return packed;
  }

  #startedThread(): Promise<Thread> {
    this.#thread ??= this.#startThread().catch((error: unknown) => {
      this.#thread = undefined;
      throw error;
    });
    return this.#thread;
  }

  async #startThread(): Promise<Thread> {
    const thread = new Thread({ file: threadFile("log"), options: { path: this.#path } });
    try {
      await thread.call("open", undefined);
      // It opens what lies under the name now, which need not be the log that this program began with.
      const fault = this.#own.fault();
      if (fault !== undefined) throw fault;
      return thread;
    } catch (error) {
      await thread.close();
      throw this.#own.fault() ?? error;
    }
  }

  /** Whoever writes has to do it, since it needs a moment at which nobody does; who hands over a stream is busy with its next. */
  #finishCheckpoint(): void {
    if (this.#onThread === 0 && !this.#isStream) this.#own.finishCheckpoint();
    else void this.#thread?.then((thread) => thread.tell("finishCheckpoint", undefined));
  }
}

function entriesOf(units: readonly AppendUnit[]): number {
  let entries = 0;
  for (const unit of units) entries += unit.length;
  return entries;
}

function bytesOf(units: readonly AppendUnit[]): number {
  let bytes = 0;
  for (const unit of units) for (const entry of unit) bytes += entry.body.byteLength;
  return bytes;
}

// Which appends the caller's thread commits itself. Handing one entry to the writer thread and back takes longer than a fast
// disk's sync: a caller alone needs 0.18 ms for an entry inline and 0.29 ms through the thread.
const INLINE_BYTES_MAX = 64 * 1024;
/** After two slower commits in a row the writer thread takes over for a while: it may wait for a disk, the caller may not. */
const SLOW_COMMIT_MS = 2;
const SLOW_COMMITS = 2;
const SLOW_DISK_MS = 1_000;

/** @internal Exported for tests. */
export class InlineCommits {
  readonly #now: () => number;
  #slowInARow = 0;
  #slowUntilMs = Number.NEGATIVE_INFINITY;

  /** The clock counts milliseconds from any moment on, and never backwards. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** One small entry, and no redaction: overwriting many bodies takes longer than the caller may be kept. */
  suits(units: readonly AppendUnit[], bytes: number): boolean {
    const isErasing = units.some((unit) => unit.some(({ kind }) => kind === "redaction"));
    return units.length === 1 && bytes <= INLINE_BYTES_MAX && !isErasing && this.#now() >= this.#slowUntilMs;
  }

  /** How long an inline commit took, or the attempt at one. */
  noteCommit(ms: number): void {
    this.#slowInARow = ms > SLOW_COMMIT_MS ? this.#slowInARow + 1 : 0;
    if (this.#slowInARow < SLOW_COMMITS) return;
    this.#slowInARow = 0;
    this.#slowUntilMs = this.#now() + SLOW_DISK_MS;
  }
}
