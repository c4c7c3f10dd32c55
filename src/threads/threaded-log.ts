// The SQLite log as the rest of the program uses it. The caller's thread commits a single small entry while nothing
// else is being written; if several wait, a separate thread writes, so the caller continues meanwhile.

import type { LogMode } from "../engines/port.js";
import { SqliteLog } from "../engines/sqlite/log.js";
import type { AppendOutcome, AppendUnit, CopiedEntry } from "../log/port.js";
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

/** Copying, packing and unpacking this much takes a millisecond or two. */
const AT_ONCE_BYTES_MAX = 4 * 1024 * 1024;
const AT_ONCE_ENTRIES_MAX = 4_000;

export class ThreadedLog extends SqliteLog {
  readonly #path: string;
  readonly #checkpointing: Checkpointing;
  readonly #inline = new InlineCommits(() => performance.now());
  /** Appends sent to the thread and not answered. */
  #onThread = 0;
  #thread: Promise<Thread> | undefined;
  #isClosed = false;
  /** Large appends being packed, in their order. */
  #packing: Promise<void> | undefined;
  #purging: Promise<string | undefined> | undefined;
  /** Whether the last append was a large one, after which the next is being prepared already. */
  #isStream = false;

  private constructor(options: { readonly path: string; readonly mode: LogMode }) {
    super(options);
    this.#path = options.path;
    this.#checkpointing = new Checkpointing({ path: options.path, finish: () => this.#finishCheckpoint() });
  }

  static async start(options: { readonly path: string; readonly mode: LogMode }): Promise<ThreadedLog> {
    const log = new ThreadedLog(options);
    // Finishes what a killed program left undone after it had erased something.
    if (log.isPurgeDue()) log.purge().catch(() => undefined);
    return log;
  }

  override async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    if (this.#isClosed) throw closedFault();
    const bytes = bytesOf(units);
    const isHere = this.#onThread === 0 && this.#inline.suits(units, bytes);
    this.#isStream = bytes >= LONG_COMMIT_BYTES;
    const outcomes = (isHere ? this.#appendHere(units) : undefined) ?? (await this.#appendOnThread(units, bytes));
    this.#checkpointing.afterCommit(bytes);
    return outcomes;
  }

  override async restore(copy: {
    readonly log_id: string;
    readonly entries: readonly CopiedEntry[];
  }): Promise<boolean> {
    if (this.#isClosed) throw closedFault();
    const isTaken = await super.restore(copy);
    this.#isStream = false;
    this.#checkpointing.afterCommit(copy.entries.reduce((bytes, { body }) => bytes + (body?.byteLength ?? 0), 0));
    return isTaken;
  }

  hintBulk(): void {
    // The first append reports a failure.
    if (!this.#isClosed) this.#startedThread().catch(() => undefined);
  }

  /** Concurrent requests wait for the current purge and then share another, since more may have been erased. */
  override async purge(): Promise<string | undefined> {
    await this.#purging?.catch(() => undefined);
    this.#purging ??= purgeFile({ file: "log", path: this.#path }).finally(() => {
      this.#purging = undefined;
    });
    return this.#purging;
  }

  override async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#purging?.catch(() => undefined);
    await (await this.#thread)?.close();
    await this.#checkpointing.close();
    await super.close();
  }

  /** Undefined if another program is writing right now: waiting is left to the thread. */
  #appendHere(units: readonly AppendUnit[]): readonly AppendOutcome[] | undefined {
    const start = performance.now();
    try {
      return this.appendNow(units, { waits: false });
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
      // Their ids tell whether these units were stored; the next ones get a new thread.
      if (error instanceof Fault && error.code === "thread_stopped") this.#thread = undefined;
      throw error;
    } finally {
      this.#onThread -= 1;
    }
  }

  /** Large appends are packed in slices; later ones wait, so the order stays. */
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
      // The thread opens the file by name, which may be another one by now.
      const fault = this.fault();
      if (fault !== undefined) throw fault;
      return thread;
    } catch (error) {
      await thread.close();
      throw this.fault() ?? error;
    }
  }

  /**
   * The writer finishes the checkpoint, since it needs a moment without writes; in a stream of appends, that is the
   * thread.
   */
  #finishCheckpoint(): void {
    if (this.#onThread === 0 && !this.#isStream) this.finishCheckpoint();
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

const INLINE_BYTES_MAX = 64 * 1024;
/** After two slow commits in a row the writer thread takes over for a while: the caller must not wait for a disk. */
const SLOW_COMMIT_MS = 2;
const SLOW_COMMITS = 2;
const SLOW_DISK_MS = 1_000;

/** @internal Exported for tests. */
export class InlineCommits {
  readonly #now: () => number;
  #slowInARow = 0;
  #slowUntilMs = Number.NEGATIVE_INFINITY;

  /** Takes a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** One small entry and no redaction: overwriting many bodies would block the caller. */
  suits(units: readonly AppendUnit[], bytes: number): boolean {
    const isErasing = units.some((unit) => unit.some(({ kind }) => kind === "redaction"));
    return units.length === 1 && bytes <= INLINE_BYTES_MAX && !isErasing && this.#now() >= this.#slowUntilMs;
  }

  /** Reports the duration of an inline commit, or of an attempt. */
  noteCommit(ms: number): void {
    this.#slowInARow = ms > SLOW_COMMIT_MS ? this.#slowInARow + 1 : 0;
    if (this.#slowInARow < SLOW_COMMITS) return;
    this.#slowInARow = 0;
    this.#slowUntilMs = this.#now() + SLOW_DISK_MS;
  }
}
