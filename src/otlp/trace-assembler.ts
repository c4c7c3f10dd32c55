// Derives entries from traces in the background. One process per store does it; claims make everything happen once, so it may be
// stopped at any time, and another process goes on.
import { setTimeout as sleep } from "node:timers/promises";
import type { OnceInput, OnceOutcome } from "../log/capture/record-once.js";
import type { NamedLease } from "../model/lease.js";
import type { TraceCalls } from "./trace-calls.js";
import type { SettledGroup } from "./trace-reader.js";

export interface AssemblingOptions {
  /** Called with errors; it is tried again. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

export interface AssemblerParts {
  readonly calls: TraceCalls;
  readonly record: (entries: readonly OnceInput[]) => Promise<readonly OnceOutcome[]>;
  readonly lease: NamedLease | undefined;
  /** Whether capture is overloaded at the moment. */
  readonly isPressed: () => boolean;
  readonly nowMs: () => number;
}

/** A request's spans are rarely alone. */
const GATHER_MS = 100;
/** Other processes may have recorded spans, or hold the lease. */
const LOOK_MS = 5_000;
const RETRY_MS = 5_000;
const PRESSED_MS = 250;
/** The pause between two steps, as a multiple of the time that a step took: captures come first. */
const PAUSE_SHARE = 1;

export class TraceAssembler {
  readonly #parts: AssemblerParts;
  readonly #options: AssemblingOptions;
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  #reported = "";

  constructor(parts: AssemblerParts, options: AssemblingOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Call it when spans were recorded here. */
  received(): void {
    this.#wake(GATHER_MS);
  }

  /** Call it when the log has grown, by whatever. */
  grown(): void {
    this.#wake(LOOK_MS);
  }

  async close(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#running;
    this.#parts.lease?.close();
  }

  #wake(ms: number): void {
    const at = performance.now() + ms;
    if (this.#ending.signal.aborted || this.#running !== undefined || at >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = at;
    this.#timer = setTimeout(() => {
      this.#wakesAt = Number.POSITIVE_INFINITY;
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
      });
    }, ms);
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    let again_ms: number | undefined = RETRY_MS;
    try {
      again_ms = await this.#settle();
      this.#reported = "";
    } catch (error) {
      this.#report(error);
    }
    // Only once #running is undefined again.
    if (again_ms !== undefined) setImmediate(() => this.#wake(again_ms));
  }

  /** The time until the next run; undefined where no trace is open. */
  async #settle(): Promise<number | undefined> {
    const { calls, lease, nowMs, isPressed } = this.#parts;
    for (;;) {
      while (!this.#ending.signal.aborted && isPressed()) await this.#sleep(PRESSED_MS);
      if (this.#ending.signal.aborted) return undefined;
      if (lease !== undefined && !(await lease.hold())) return RETRY_MS;
      const beganMs = performance.now();
      const now_ms = nowMs();
      const { settled, next_ms } = await calls.settleTraces({ now_ms });
      await Promise.all(settled.map((group) => recordSettled(group, this.#parts.record)));
      if (settled.length === 0) {
        // Spans that came meanwhile did not wake it.
        return next_ms === undefined ? undefined : Math.max(GATHER_MS, next_ms - now_ms);
      }
      await this.#sleep((performance.now() - beganMs) * PAUSE_SHARE);
    }
  }

  async #sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: this.#ending.signal }).catch(() => undefined);
  }

  /** The same error is reported once until it is gone. */
  #report(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason === this.#reported || this.#ending.signal.aborted) return;
    this.#reported = reason;
    this.#options.onTrouble?.(error);
  }
}

/** All are appended together, so a trace is never half derived. */
async function recordSettled({ entries }: SettledGroup, record: AssemblerParts["record"]): Promise<void> {
  await record(entries);
}

export interface RemapOptions {
  /** Called with how far it has come in the log. */
  readonly onProgress?: ((position: number) => void) | undefined;
}

export interface Remapped {
  /** Traces, or parts of them, that were looked at. */
  readonly traces: number;
  /** Entries that this version makes of them and earlier ones did not. */
  readonly added: number;
}

const NOTES_ENTRIES = 1_000;

/** Maps every trace again that was derived before. Entries keep their ids, so only what is new is added. */
export async function remapTraces(
  { calls, record }: Pick<AssemblerParts, "calls" | "record">,
  { onProgress }: RemapOptions,
): Promise<Remapped> {
  let traces = 0;
  let added = 0;
  for (let after = 0; ; ) {
    const { notes, through } = await calls.settledTraces({ after, limit: NOTES_ENTRIES });
    if (through === undefined) return { traces, added };
    for (const note of notes) {
      const outcomes = await record(await calls.traceAgain(note));
      traces += 1;
      added += outcomes.filter((outcome) => "is_new" in outcome && outcome.is_new).length;
    }
    after = through;
    onProgress?.(through);
  }
}
