// Learning in the background: rules propose memories from what is recorded, a model reads sessions that have ended, and uses of
// memories are counted. One process per store does it, yields to capture, and can be stopped at any time.

import { setTimeout as sleep } from "node:timers/promises";
import { retryDelay } from "../../../client/retry.js";
import type { NamedLease } from "../../model/lease.js";
import type { Passes } from "../passes.js";
import { CommandLessons } from "../propose/commands/lessons.js";
import type { Extractor, ExtractorSettings } from "../propose/extractor.js";
import { UserWords } from "../propose/words/user-words.js";

export interface LearningOptions {
  /** Called with errors; learning is retried with the next entries. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
  /** Whether sentences of users are proposed. */
  readonly words?: boolean | undefined;
  /** How long new entries are gathered; 1 second by default. */
  readonly gather_ms?: number | undefined;
  /** A model that reads sessions, masked, after half an hour without a new entry. */
  readonly model?: ExtractorSettings | undefined;
  /** Tokens sent to it in a day by all processes together; 200,000 by default. */
  readonly daily_tokens?: number | undefined;
  /** It reads sessions with at least so many entries; 20. */
  readonly entries_min?: number | undefined;
  /** How often such sessions are looked for; every 5 minutes by default. */
  readonly look_ms?: number | undefined;
}

export interface LearningParts {
  readonly passes: Passes;
  readonly lease: NamedLease | undefined;
  readonly headPosition: () => Promise<number>;
  /** Whether capture is overloaded at the moment. */
  readonly isPressed: () => boolean;
  readonly nowMs: () => number;
}

const GATHER_MS = 1_000;
/** How many earlier entries are read at the start, because the process before may not have read them. */
const CATCH_UP_ENTRIES = 5_000;
/** The pause between two steps: at least this long, and a multiple of the time that the step took. */
const PAUSE_MS = 20;
const PAUSE_SHARE = 4;
/** Learning waits while more entries per second are recorded, because searches then need the read thread. */
const CALM_ENTRIES_PER_S = 100;
const PRESSED_MS = 500;
/** When another process holds the lease, or turns are not over yet. */
const RETRY_MS = 15_000;
const WAITING_MAX = 500;

export class Learning {
  readonly #parts: LearningParts;
  readonly #options: LearningOptions;
  readonly #commands = new CommandLessons();
  readonly #words: UserWords;
  readonly #waiting = new Set<string>();
  readonly #sleep = new AbortableSleep();
  #at: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  #stepBeganMs = performance.now();
  #sample: { readonly position: number; readonly atMs: number; readonly isStream: boolean } | undefined;

  constructor(parts: LearningParts, options: LearningOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#words = new UserWords({ sentences: options.words === true });
  }

  /** Call it when the log has grown. */
  grown(): void {
    this.#wake(this.#gatherMs);
  }

  get #gatherMs(): number {
    return this.#options.gather_ms ?? GATHER_MS;
  }

  async close(): Promise<void> {
    this.#sleep.abort();
    clearTimeout(this.#timer);
    await this.#running;
    this.#parts.lease?.close();
  }

  #wake(ms: number): void {
    const at = performance.now() + ms;
    if (this.#sleep.isAborted || this.#running !== undefined || at >= this.#wakesAt) return;
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
      again_ms = await this.#learn();
    } catch (error) {
      this.#options.onTrouble?.(error);
    }
    // Only once #running is undefined again.
    if (again_ms !== undefined) setImmediate(() => this.#wake(again_ms));
  }

  /** The time until the next run; undefined where nothing is left to do. */
  async #learn(): Promise<number | undefined> {
    const { passes, lease, headPosition, nowMs } = this.#parts;
    if (lease !== undefined && !(await lease.hold())) return RETRY_MS;
    this.#at ??= Math.max(0, (await headPosition()) - CATCH_UP_ENTRIES);
    this.#stepBeganMs = performance.now();
    if (!(await this.#shouldContinue())) return RETRY_MS;
    const live = {
      is_live: true,
      shouldContinue: () => this.#shouldContinue(),
      commands: this.#commands,
      words: this.#words,
    };
    const after = this.#at;
    // Only up to the present head: following steady captures, the rules would never end, and uses would never be counted.
    const { through: read } = await passes.extract({ after, through: await headPosition() }, live);
    const { through, waiting } = await passes.reinforce({ after, through: read }, live);
    this.#at = through;
    for (const id of waiting) this.#waiting.add(id);
    for (const id of [...this.#waiting]) {
      const done = await passes.reinforceOne(id, nowMs());
      if (done === undefined || done.waiting.length === 0) this.#waiting.delete(id);
      const hasWritten = (done?.reinforced.length ?? 0) > 0;
      if (hasWritten ? !(await this.#shouldContinue()) : this.#sleep.isAborted) break;
    }
    for (const oldest of this.#waiting) {
      if (this.#waiting.size <= WAITING_MAX) break;
      this.#waiting.delete(oldest);
    }
    // Entries recorded meanwhile did not wake it.
    if ((await headPosition()) > through) return this.#gatherMs;
    return this.#waiting.size > 0 ? RETRY_MS : undefined;
  }

  async #shouldContinue(): Promise<boolean> {
    const workedMs = performance.now() - this.#stepBeganMs;
    await this.#sleep.sleep(Math.max(PAUSE_MS, workedMs * PAUSE_SHARE));
    while (!this.#sleep.isAborted && (this.#parts.isPressed() || (await this.#isStream())))
      await this.#sleep.sleep(PRESSED_MS);
    this.#stepBeganMs = performance.now();
    return !this.#sleep.isAborted && (this.#parts.lease === undefined || (await this.#parts.lease.hold()));
  }

  /** Whether many entries are being recorded. */
  async #isStream(): Promise<boolean> {
    const atMs = performance.now();
    const sample = this.#sample;
    // Too short a time would make two entries a stream.
    if (sample !== undefined && atMs - sample.atMs < PRESSED_MS / 2) return sample.isStream;
    const position = (await this.#parts.headPosition()) - this.#parts.passes.written;
    const perSecond = sample === undefined ? 0 : ((position - sample.position) * 1_000) / (atMs - sample.atMs);
    const isStream = perSecond > CALM_ENTRIES_PER_S;
    this.#sample = { position, atMs, isStream };
    return isStream;
  }
}

interface ModelLearningParts {
  readonly passes: Passes;
  readonly lease: NamedLease | undefined;
  readonly extractor: Extractor;
  readonly daily_tokens: number;
  readonly entries_min: number | undefined;
  /** Whether capture is overloaded at the moment. */
  readonly isPressed: () => boolean;
  readonly nowMs: () => number;
  readonly onTrouble: ((error: unknown) => void) | undefined;
  readonly look_ms: number;
}

/** Older sessions, left unread because of budgets or an unavailable model, are for `hansard extract`. */
const ACTIVE_SINCE_MS = 2 * 24 * 60 * 60 * 1000;
/** So many times the usual interval passes at most before a failing model is asked again. */
const INTERVALS_MAX = 64;

/** Sends sessions that have ended to a model. One process per store does it, and continues where another stopped. */
export class ModelLearning {
  readonly #parts: ModelLearningParts;
  readonly #sleep = new AbortableSleep();
  /** By session that was read to its end: when it ended. It is not read again until it goes on. */
  readonly #readThrough = new Map<string, string>();
  readonly #working: Promise<void>;
  #reported = "";

  constructor(parts: ModelLearningParts) {
    this.#parts = parts;
    this.#working = this.#work();
  }

  async close(): Promise<void> {
    this.#sleep.abort();
    await this.#working;
    this.#parts.lease?.close();
  }

  async #work(): Promise<void> {
    const { look_ms } = this.#parts;
    const limits = { retry_ms_min: look_ms, retry_ms_max: look_ms * INTERVALS_MAX };
    let failures = 0;
    while (!this.#sleep.isAborted) {
      await this.#sleep.sleep(failures === 0 ? look_ms : retryDelay(failures, limits));
      const trouble = await this.#read().catch((error: unknown) => error);
      failures = trouble === undefined ? 0 : failures + 1;
      if (!this.#sleep.isAborted) this.#report(trouble);
    }
  }

  /** What stopped it; undefined where it read everything. */
  async #read(): Promise<unknown> {
    const { passes, extractor, daily_tokens, entries_min, nowMs } = this.#parts;
    let shouldContinue = await this.#shouldContinue();
    if (!shouldContinue) return undefined;
    const active_since_ms = nowMs() - ACTIVE_SINCE_MS;
    for (const [session_id, last_at] of this.#readThrough) {
      if (Date.parse(last_at) < active_since_ms) this.#readThrough.delete(session_id);
    }
    const { stopped } = await passes.extractByModel({
      extractor,
      daily_tokens,
      entries_min,
      active_since_ms,
      readThrough: this.#readThrough,
      signal: this.#sleep.signal,
      shouldContinue: async () => {
        shouldContinue = await this.#shouldContinue();
        return shouldContinue;
      },
    });
    return stopped === undefined || !shouldContinue ? undefined : new Error(stopped);
  }

  async #shouldContinue(): Promise<boolean> {
    while (!this.#sleep.isAborted && this.#parts.isPressed()) await this.#sleep.sleep(PRESSED_MS);
    return !this.#sleep.isAborted && (this.#parts.lease === undefined || (await this.#parts.lease.hold()));
  }

  /** The same error is reported once until it is gone. */
  #report(trouble: unknown): void {
    const reason = trouble instanceof Error ? trouble.message : String(trouble ?? "");
    if (reason !== "" && reason !== this.#reported) this.#parts.onTrouble?.(trouble);
    this.#reported = reason;
  }
}

/** Sleeps that do not keep the process alive, and end at once when aborted: otherwise a process could exit while closing. */
class AbortableSleep {
  readonly #ending = new AbortController();

  /** Aborted when work is to stop. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isAborted(): boolean {
    return this.#ending.signal.aborted;
  }

  async sleep(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: this.#ending.signal }).catch(() => undefined);
  }

  abort(): void {
    this.#ending.abort();
  }
}
