// A model beside capture: it reads what nobody goes on with any more of what was recorded lately. One process on a store asks
// it, and goes on where another stopped; older sessions and imports are for `hansard extract`.

import type { NamedLease } from "../../model/lease.js";
import type { Passes } from "../passes.js";
import type { Extractor } from "../propose/extractor.js";
import { Rests } from "./rests.js";

export interface ModelLearningParts {
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
const PRESSED_MS = 500;

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
    let isToGoOn = await this.#isToGoOn();
    if (!isToGoOn) return undefined;
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
      isToGoOn: async () => {
        isToGoOn = await this.#isToGoOn();
        return isToGoOn;
      },
    });
    return stopped === undefined || !isToGoOn ? undefined : new Error(stopped);
  }

  async #isToGoOn(): Promise<boolean> {
    while (!this.#rests.isOver && this.#parts.isPressed()) await this.#rests.rest(PRESSED_MS);
    return !this.#rests.isOver && (this.#parts.lease === undefined || (await this.#parts.lease.hold()));
  }

  /** The same trouble is told once, until there was none. */
  #say(trouble: unknown): void {
    const reason = trouble instanceof Error ? trouble.message : String(trouble ?? "");
    if (reason !== "" && reason !== this.#said) this.#parts.onTrouble?.(trouble);
    this.#said = reason;
  }
}
