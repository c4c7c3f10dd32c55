// Keeping the newest seal of a log while a server runs: at its start, at its end, and now and then in between.
import type { Contradiction } from "../../model/verification.js";
import type { EntryLog } from "../port.js";
import type { Sealing } from "./sealing.js";

const EVERY_MS = 10 * 60_000;

export interface SealKeepingOptions {
  readonly every_ms?: number | undefined;
  /** Told why no seal could be kept. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

interface SealKeepingParts {
  readonly log: EntryLog;
  readonly sealing: Sealing;
  readonly nowMs: () => number;
}

export class SealKeeping {
  readonly #parts: SealKeepingParts;
  readonly #onTrouble: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #position = 0;
  #contradiction: Contradiction | undefined;

  constructor(parts: SealKeepingParts, { every_ms = EVERY_MS, onTrouble = () => undefined }: SealKeepingOptions) {
    this.#parts = parts;
    this.#onTrouble = onTrouble;
    this.#timer = setInterval(() => void this.keep(), every_ms).unref();
  }

  /** What the seal that was found at first said and the log did not hold: it is evidence, and nothing takes its place. */
  get contradiction(): Contradiction | undefined {
    return this.#contradiction;
  }

  /** Keeps a seal, if anything was recorded since the last one. Whatever goes wrong harms nobody who records. */
  async keep(): Promise<void> {
    const { log, sealing, nowMs } = this.#parts;
    try {
      const { position } = await log.head();
      if (position === this.#position) return;
      this.#contradiction = await sealing.contradiction(log);
      if (this.#contradiction !== undefined) return;
      await sealing.keep(log, nowMs());
      this.#position = position;
    } catch (error) {
      this.#onTrouble(error);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.keep();
  }
}
