// Batches one after the other: what arrives while one is written is written together afterwards, since the head row
// admits only one at a time and a commit costs the same however many it serves.
import type { AppendOutcome, AppendUnit } from "../../log/port.js";

const UNITS_MAX = 2_000;
const BYTES_MAX = 16 * 1024 * 1024;
/** So many turns of the event loop let callers in again after a batch; together they take some microseconds. */
const TURNS = 3;

interface Waiting {
  readonly units: readonly AppendUnit[];
  readonly bytes: number;
  readonly resolve: (outcomes: readonly AppendOutcome[]) => void;
  readonly reject: (reason: unknown) => void;
}

export class AppendQueue {
  readonly #write: (units: readonly AppendUnit[]) => Promise<readonly AppendOutcome[]>;
  readonly #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;

  constructor(write: (units: readonly AppendUnit[]) => Promise<readonly AppendOutcome[]>) {
    this.#write = write;
  }

  append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ units, bytes: bytesOf(units), resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves once everything that was asked for has been answered. */
  async drained(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#writeTogether(this.#take());
      // Whoever was just answered often comes back at once: a moment later it is in the next batch, which is then twice as
      // large and takes hardly longer.
      for (let turns = 0; turns < TURNS; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#writing = undefined;
  }

  async #writeTogether(together: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#write(together.flatMap((waiting) => waiting.units));
      let used = 0;
      for (const { units, resolve } of together) {
        resolve(outcomes.slice(used, used + units.length));
        used += units.length;
      }
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }

  #take(): readonly Waiting[] {
    let count = 0;
    let units = 0;
    let bytes = 0;
    for (const waiting of this.#waiting) {
      if (count > 0 && (units + waiting.units.length > UNITS_MAX || bytes + waiting.bytes > BYTES_MAX)) break;
      count += 1;
      units += waiting.units.length;
      bytes += waiting.bytes;
    }
    return this.#waiting.splice(0, count);
  }
}

function bytesOf(units: readonly AppendUnit[]): number {
  let bytes = 0;
  for (const unit of units) for (const entry of unit) bytes += entry.body.byteLength;
  return bytes;
}
