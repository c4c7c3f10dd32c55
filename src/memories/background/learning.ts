// Learning beside capture: proposes what rules find in what is recorded, and counts which memories its turns used. One
// process on a store does, behind capture and never in its way; what it was stopped in, it does again without harm.

import { setTimeout as sleep } from "node:timers/promises";
import type { NamedLease } from "../../model/lease.js";
import type { Passes } from "../passes.js";
import type { Extractor, ExtractorSettings } from "../propose/extractor.js";
import { FailedCommands } from "../propose/rules/commands.js";

export interface LearningOptions {
  /** Hears of what went wrong; it is tried again with what is recorded next. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
  /** How long new entries are gathered; a second. */
  readonly gather_ms?: number | undefined;
  /** A model that reads sessions, masked, once nobody has gone on with them for half an hour. */
  readonly model?: ExtractorSettings | undefined;
  /** How many tokens it is sent in a day, all programs together; 200,000. */
  readonly daily_tokens?: number | undefined;
  /** How often it is looked for such sessions; every five minutes. */
  readonly look_ms?: number | undefined;
}

export interface LearningParts {
  readonly passes: Passes;
  readonly lease: NamedLease | undefined;
  readonly headPosition: () => Promise<number>;
  /** Whether capture has more to do than it can at the moment. */
  readonly isPressed: () => boolean;
  readonly nowMs: () => number;
}

const GATHER_MS = 1_000;
/** Whoever begins looks so many entries back: what nobody has looked at since the last one ended. */
const LOOK_BACK = 1_000;
/** Between two stretches of the log, and two commits, the time is left to others: at least so long, and a multiple of what was taken. */
const PAUSE_MS = 20;
const PAUSE_SHARE = 4;
/** While more than this many entries come per second, it stands back: whoever searches then needs the thread that reads. */
const CALM_ENTRIES_PER_S = 100;
const PRESSED_MS = 500;
/** Somebody else holds the lease, or turns wait for their end. */
const LOOK_AGAIN_MS = 15_000;
const WAITING_MAX = 500;

export class Learning {
  readonly #parts: LearningParts;
  readonly #options: LearningOptions;
  readonly #commands = new FailedCommands();
  readonly #waiting = new Set<string>();
  readonly #rests = new Rests();
  #at: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;
  #resumedAtMs = performance.now();
  #seen: { readonly position: number; readonly atMs: number; readonly isStream: boolean } | undefined;

  constructor(parts: LearningParts, options: LearningOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Word that the log has grown. */
  grown(): void {
    this.#wake(this.#gatherMs);
  }

  get #gatherMs(): number {
    return this.#options.gather_ms ?? GATHER_MS;
  }

  async close(): Promise<void> {
    this.#rests.end();
    clearTimeout(this.#timer);
    await this.#running;
    this.#parts.lease?.close();
  }

  #wake(ms: number): void {
    const at = performance.now() + ms;
    if (this.#rests.isOver || this.#running !== undefined || at >= this.#wakesAt) return;
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
    let again_ms: number | undefined = LOOK_AGAIN_MS;
    try {
      again_ms = await this.#learn();
    } catch (error) {
      this.#options.onTrouble?.(error);
    }
    // After this turn, when nothing is running any more.
    if (again_ms !== undefined) setImmediate(() => this.#wake(again_ms));
  }

  /** When there is something to come back for, although nothing grows. */
  async #learn(): Promise<number | undefined> {
    const { passes, lease, headPosition, nowMs } = this.#parts;
    if (lease !== undefined && !(await lease.hold())) return LOOK_AGAIN_MS;
    this.#at ??= Math.max(0, (await headPosition()) - LOOK_BACK);
    this.#resumedAtMs = performance.now();
    if (!(await this.#shouldContinue())) return LOOK_AGAIN_MS;
    const live = { is_live: true, shouldContinue: () => this.#shouldContinue(), commands: this.#commands };
    const after = this.#at;
    // As far as the log reaches now. What comes meanwhile is for the next time: following it, rules would never come to an end
    // beside steady captures, and uses would not be counted before these do.
    const { through: read } = await passes.extract({ after, through: await headPosition() }, live);
    const { through, waiting } = await passes.reinforce({ after, through: read }, live);
    this.#at = through;
    for (const id of waiting) this.#waiting.add(id);
    for (const id of [...this.#waiting]) {
      const done = await passes.reinforceOne(id, nowMs());
      if (done === undefined || done.waiting.length === 0) this.#waiting.delete(id);
      const hasWritten = (done?.reinforced.length ?? 0) > 0;
      if (hasWritten ? !(await this.#shouldContinue()) : this.#rests.isOver) break;
    }
    for (const oldest of this.#waiting) {
      if (this.#waiting.size <= WAITING_MAX) break;
      this.#waiting.delete(oldest);
    }
    // What came meanwhile has not woken it.
    if ((await headPosition()) > through) return this.#gatherMs;
    return this.#waiting.size > 0 ? LOOK_AGAIN_MS : undefined;
  }

  async #shouldContinue(): Promise<boolean> {
    const workedMs = performance.now() - this.#resumedAtMs;
    await this.#rests.rest(Math.max(PAUSE_MS, workedMs * PAUSE_SHARE));
    while (!this.#rests.isOver && (this.#parts.isPressed() || (await this.#isStream())))
      await this.#rests.rest(PRESSED_MS);
    this.#resumedAtMs = performance.now();
    return !this.#rests.isOver && (this.#parts.lease === undefined || (await this.#parts.lease.hold()));
  }

  /** Whether others record much at the moment. */
  async #isStream(): Promise<boolean> {
    const atMs = performance.now();
    const seen = this.#seen;
    // Within less time two that come together would be a stream.
    if (seen !== undefined && atMs - seen.atMs < PRESSED_MS / 2) return seen.isStream;
    const position = (await this.#parts.headPosition()) - this.#parts.passes.written;
    const perSecond = seen === undefined ? 0 : ((position - seen.position) * 1_000) / (atMs - seen.atMs);
    const isStream = perSecond > CALM_ENTRIES_PER_S;
    this.#seen = { position, atMs, isStream };
    return isStream;
  }
}

// A model beside capture: it reads what nobody goes on with any more of what was recorded lately. One process on a store asks
// it, and goes on where another stopped; older sessions and imports are for `hansard extract`.

interface ModelLearningParts {
  readonly passes: Passes;
  readonly lease: NamedLease | undefined;
  readonly extractor: Extractor;
  readonly daily_tokens: number;
  /** Whether capture has more to do than it can at the moment. */
  readonly isPressed: () => boolean;
  readonly nowMs: () => number;
  readonly onTrouble: ((error: unknown) => void) | undefined;
  readonly look_ms: number;
}

/** What was not read after so long, because of budgets or a model that was away, is left to a pass over the past. */
const LOOK_BACK_MS = 2 * 24 * 60 * 60 * 1000;
/** A model that fails is asked ever more rarely, since all that is sent to it costs something. */
const LOOKS_LEFT_OUT_MAX = 64;
const MODEL_PRESSED_MS = 500;

export class ModelLearning {
  readonly #parts: ModelLearningParts;
  readonly #rests = new Rests();
  /** When sessions ended that were read to their end, so that they are not read again with each look. */
  readonly #readThrough = new Map<string, string>();
  readonly #working: Promise<void>;
  #said = "";

  constructor(parts: ModelLearningParts) {
    this.#parts = parts;
    this.#working = this.#work();
  }

  async close(): Promise<void> {
    this.#rests.end();
    await this.#working;
    this.#parts.lease?.close();
  }

  async #work(): Promise<void> {
    let failures = 0;
    while (!this.#rests.isOver) {
      await this.#rests.rest(this.#parts.look_ms * Math.min(LOOKS_LEFT_OUT_MAX, 2 ** failures));
      const trouble = await this.#look().catch((error: unknown) => error);
      failures = trouble === undefined ? 0 : failures + 1;
      if (!this.#rests.isOver) this.#say(trouble);
    }
  }

  /** What stopped it; undefined where it has come to the end. */
  async #look(): Promise<unknown> {
    const { passes, extractor, daily_tokens, nowMs } = this.#parts;
    let shouldContinue = await this.#shouldContinue();
    if (!shouldContinue) return undefined;
    const active_since_ms = nowMs() - LOOK_BACK_MS;
    for (const [session_id, last_at] of this.#readThrough) {
      if (Date.parse(last_at) < active_since_ms) this.#readThrough.delete(session_id);
    }
    const { stopped } = await passes.extractByModel({
      extractor,
      daily_tokens,
      active_since_ms,
      readThrough: this.#readThrough,
      signal: this.#rests.signal,
      shouldContinue: async () => {
        shouldContinue = await this.#shouldContinue();
        return shouldContinue;
      },
    });
    return stopped === undefined || !shouldContinue ? undefined : new Error(stopped);
  }

  async #shouldContinue(): Promise<boolean> {
    while (!this.#rests.isOver && this.#parts.isPressed()) await this.#rests.rest(MODEL_PRESSED_MS);
    return !this.#rests.isOver && (this.#parts.lease === undefined || (await this.#parts.lease.hold()));
  }

  /** The same trouble is told once, until there was none. */
  #say(trouble: unknown): void {
    const reason = trouble instanceof Error ? trouble.message : String(trouble ?? "");
    if (reason !== "" && reason !== this.#said) this.#parts.onTrouble?.(trouble);
    this.#said = reason;
  }
}

// Rests of what works beside capture. They keep no program alive, and end at once when it is closed: a program that waits for
// the end of a rest that does not keep it alive would end in the middle of closing.

class Rests {
  readonly #ending = new AbortController();

  /** Aborted when there is to be no more work. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  get isOver(): boolean {
    return this.#ending.signal.aborted;
  }

  async rest(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: this.#ending.signal }).catch(() => undefined);
  }

  end(): void {
    this.#ending.abort();
  }
}
