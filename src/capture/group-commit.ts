// Group commit: callers wait together, and one fsync serves them all. Nobody lingers for company: what queued up while
// earlier batches were being written is the next batch.
import { Fault } from "../model/fault.js";
import type { AppendOutcome, AppendUnit, EntryLog } from "../ports/entry-log.js";

/** Two batches under way let the log write one while the next is being gathered. */
const IN_FLIGHT_MAX = 2;
/** With this many entries waiting the log may start on them while their successors are still being prepared. */
const EAGER_ENTRIES = 16;
const EAGER_IN_FLIGHT_MAX = 4;
const BATCH_ENTRIES_MAX = 2_000;
const BATCH_BYTES_MAX = 16 * 1024 * 1024;
/** Beyond this much waiting text the caller is told to come back, before memory grows without bound. */
const QUEUE_BYTES_MAX = 256 * 1024 * 1024;

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
  #inFlight = 0;
  #scheduled = false;
  #wasAlone = false;
  readonly #idle: (() => void)[] = [];

  constructor(log: EntryLog) {
    this.#log = log;
  }

  append(unit: AppendUnit): Promise<AppendOutcome> {
    let bytes = 0;
    for (const entry of unit) bytes += entry.body.byteLength;
    if (this.#queuedBytes > 0 && this.#queuedBytes + bytes > QUEUE_BYTES_MAX) return Promise.reject(overloaded());
    this.#queuedBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#queue.push({ unit, bytes, resolve, reject });
      if (this.#queue.length >= EAGER_ENTRIES && this.#inFlight < EAGER_IN_FLIGHT_MAX) void this.#flush();
      else this.#schedule();
    });
  }

  /** Resolves once everything that was queued before has been answered. */
  drained(): Promise<void> {
    if (this.#queue.length === 0 && this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /**
   * Waits for the end of this turn of the event loop, so that callers woken together are written together. Where the last
   * one came alone, only for those who call in the same breath: the turn's end is a tenth of what a lone commit takes.
   */
  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= IN_FLIGHT_MAX) return;
    this.#scheduled = true;
    const flush = (): void => {
      this.#scheduled = false;
      void this.#flush();
    };
    if (this.#wasAlone && this.#inFlight === 0) queueMicrotask(flush);
    else setImmediate(flush);
  }

  async #flush(): Promise<void> {
    const batch = this.#takeBatch();
    if (batch.length === 0) return;
    this.#wasAlone = batch.length === 1 && this.#inFlight === 0;
    this.#inFlight += 1;
    if (this.#queue.length > 0) this.#schedule();
    try {
      const outcomes = await this.#log.append(batch.map((waiting) => waiting.unit));
      for (const [index, waiting] of batch.entries()) waiting.resolve(outcomes[index] as AppendOutcome);
    } catch (error) {
      for (const waiting of batch) waiting.reject(error);
    }
    this.#inFlight -= 1;
    for (const waiting of batch) this.#queuedBytes -= waiting.bytes;
    if (this.#queue.length > 0) this.#schedule();
    else if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
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

function overloaded(): Fault {
  return new Fault("overloaded", "more is waiting to be written than memory may hold", {
    hint: "Send again in a second; what was refused was not stored.",
  });
}
