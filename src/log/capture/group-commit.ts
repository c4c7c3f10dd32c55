// Group commit: callers share one fsync. Nothing waits for company: what queued up during earlier batches is the next
// batch.

import { Fault } from "../../model/fault.js";
import { itemAt } from "../../model/item-at.js";
import type { AppendOutcome, AppendUnit, CopiedEntry, EntryLog, LogEntry } from "../port.js";

/** With two batches in flight, the log writes one while the next is gathered. */
const IN_FLIGHT_MAX = 2;
/** With this many waiting units, the log may start while their successors are prepared. */
const EAGER_ENTRIES = 16;
const EAGER_IN_FLIGHT_MAX = 4;
const BATCH_ENTRIES_MAX = 2_000;
const BATCH_BYTES_MAX = 16 * 1024 * 1024;
/** Above this, appends are refused and callers must retry, so memory stays bounded. */
const QUEUE_BYTES_MAX = 256 * 1024 * 1024;
/** Twice the largest request; a waiting entry costs memory however small it is. */
const QUEUE_ENTRIES_MAX = 200_000;
/** From this share on, reads give way so that capture need not be refused. */
const PRESSED_SHARE = 0.5;

/** How much is waiting or being written. */
export interface CommitLoad {
  readonly entries: number;
  readonly bytes: number;
  /** Whether reads should give way. */
  readonly is_pressed: boolean;
}

/** A finished commit; `fault` says why it failed. */
export interface CommitReport {
  readonly entries: number;
  readonly bytes: number;
  readonly ms: number;
  /** The newest position it assigned; absent if none. */
  readonly position?: number;
  readonly fault?: string;
}

/** How the log has grown. */
export interface LogGrowth {
  /** Whether a redaction may be included: false only if everything was written here and none was. */
  readonly may_erase: boolean;
}

interface Waiting {
  readonly unit: AppendUnit;
  readonly bytes: number;
  readonly resolve: (outcome: AppendOutcome) => void;
  readonly reject: (reason: unknown) => void;
}

export class GroupCommit {
  readonly #log: EntryLog;
  readonly #queue: Waiting[] = [];
  #queuedBytes = 0;
  #queuedEntries = 0;
  readonly #watchers = new Set<(report: CommitReport) => void>();
  readonly #listeners = new Set<(growth: LogGrowth) => void>();
  #inFlight = 0;
  /** Start times of pending commits, oldest first. */
  readonly #startsMs = new Set<number>();
  #scheduled = false;
  readonly #idle: (() => void)[] = [];

  constructor(log: EntryLog) {
    this.#log = log;
  }

  get load(): CommitLoad {
    const entries = this.#queuedEntries;
    const bytes = this.#queuedBytes;
    const is_pressed = entries > QUEUE_ENTRIES_MAX * PRESSED_SHARE || bytes > QUEUE_BYTES_MAX * PRESSED_SHARE;
    return { entries, bytes, is_pressed };
  }

  /** Duration of the oldest pending commit. */
  get commitMs(): number {
    const [oldest] = this.#startsMs;
    return oldest === undefined ? 0 : performance.now() - oldest;
  }

  /** Calls back for every commit, failed ones too, until the returned function is called. */
  watch(heard: (report: CommitReport) => void): () => void {
    this.#watchers.add(heard);
    return () => this.#watchers.delete(heard);
  }

  /** Calls back whenever the log has grown, by any writer; what was placed is durable by then. */
  listen(grown: (growth: LogGrowth) => void): void {
    this.#listeners.add(grown);
  }

  /** Announces growth: after every commit, and from anyone who notices other writers. */
  announce(growth: LogGrowth = { may_erase: true }): void {
    for (const grown of this.#listeners) {
      try {
        grown(growth);
      } catch (error) {
        // A bug in a listener is reported, but must affect neither the acknowledgement nor other listeners.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  append(unit: AppendUnit): Promise<AppendOutcome> {
    let bytes = 0;
    for (const entry of unit) bytes += entry.body.byteLength;
    const isFull = this.#queuedBytes + bytes > QUEUE_BYTES_MAX || this.#queuedEntries + unit.length > QUEUE_ENTRIES_MAX;
    // A unit of any size is accepted into an empty queue.
    if (isFull && this.#queuedEntries > 0) return Promise.reject(overloaded());
    this.#queuedBytes += bytes;
    this.#queuedEntries += unit.length;
    return new Promise((resolve, reject) => {
      this.#queue.push({ unit, bytes, resolve, reject });
      if (this.#queue.length >= EAGER_ENTRIES && this.#inFlight < EAGER_IN_FLIGHT_MAX) void this.#flush();
      else this.#schedule();
    });
  }

  /** Restores a copy's entries after everything queued; see the log's own `restore`. */
  async restore(copy: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): Promise<boolean> {
    await this.drained();
    const isTaken = await this.#log.restore(copy);
    if (isTaken) this.announce();
    return isTaken;
  }

  /** Resolves once everything queued so far has been answered. */
  drained(): Promise<void> {
    if (this.#queue.length === 0 && this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Waits for the end of this turn of the event loop, so callers woken together are written together. */
  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= IN_FLIGHT_MAX) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    this.#inFlight += 1;
    if (this.#queue.length > 0) this.#schedule();
    const startMs = performance.now();
    this.#startsMs.add(startMs);
    let fault: unknown;
    let position: number | undefined;
    try {
      const outcomes = await this.#log.append(batch.map((waiting) => waiting.unit));
      for (const [index, waiting] of batch.entries()) waiting.resolve(itemAt(outcomes, index));
      position = newestOf(outcomes);
    } catch (error) {
      fault = error;
      for (const waiting of batch) waiting.reject(error);
    }
    this.#inFlight -= 1;
    this.#startsMs.delete(startMs);
    this.#leaveQueue(batch, { ms: performance.now() - startMs, position, fault });
    if (position !== undefined) this.announce({ may_erase: batch.some(({ unit }) => unit.some(isRedaction)) });
    if (this.#queue.length > 0) this.#schedule();
    else if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  #leaveQueue(
    batch: readonly Waiting[],
    { ms, position, fault }: { readonly ms: number; readonly position: number | undefined; readonly fault: unknown },
  ): void {
    let bytes = 0;
    let entries = 0;
    for (const waiting of batch) {
      bytes += waiting.bytes;
      entries += waiting.unit.length;
    }
    this.#queuedBytes -= bytes;
    this.#queuedEntries -= entries;
    const code = fault === undefined ? {} : { fault: fault instanceof Fault ? fault.code : "defect" };
    const reached = position === undefined ? {} : { position };
    for (const heard of this.#watchers) heard({ entries, bytes, ms, ...reached, ...code });
  }

  #takeBatch(): readonly Waiting[] {
    let entries = 0;
    let bytes = 0;
    let size = 0;
    for (const waiting of this.#queue) {
      if (size > 0 && (entries + waiting.unit.length > BATCH_ENTRIES_MAX || bytes + waiting.bytes > BATCH_BYTES_MAX))
        break;
      entries += waiting.unit.length;
      bytes += waiting.bytes;
      size += 1;
    }
    return this.#queue.splice(0, size);
  }
}

function isRedaction({ kind }: LogEntry): boolean {
  return kind === "redaction";
}

/** Units are placed in order, so the last one placed has the newest position. */
function newestOf(outcomes: readonly AppendOutcome[]): number | undefined {
  const last = outcomes.findLast((outcome) => "placed" in outcome && outcome.placed.length > 0);
  return last !== undefined && "placed" in last ? last.placed.at(-1)?.position : undefined;
}

function overloaded(): Fault {
  return new Fault("overloaded", "the write queue is full", {
    hint: "Retry in a second. The refused entries were not stored.",
  });
}
