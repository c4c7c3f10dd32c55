// The text indexer: adds the texts of entries to the index, behind the rows and in small steps.

import type { EntryLog } from "../log/port.js";
import { readableBody } from "./entry-row.js";
import type { EntryIndex } from "./port.js";
import { toEntryTexts } from "./texts.js";

/** Reads wait for the current step, which takes some ten milliseconds. */
const STEP_ENTRIES = 128;
const STEP_BYTES = 512 * 1024;

/** With more entries without signatures, searches first help to index them. */
const UNCOVERED_MAX = 1_000;
/**
 * Searches help for this long, so short-lived commands make progress too. Scanning an entry takes a fraction of the
 * time to index it, so the rest is scanned.
 */
const HELPING_MS = 60;

export class TextIndexer {
  readonly #log: EntryLog;
  readonly #index: EntryIndex;
  readonly #nowMs: () => number;
  /**
   * Position through which texts were given, and the checkpoint then: the index may buffer more than it has written.
   */
  #given = 0;
  #checkpoint = 0;
  #stepping: Promise<boolean> | undefined;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex; readonly nowMs?: () => number }) {
    this.#log = parts.log;
    this.#index = parts.index;
    this.#nowMs = parts.nowMs ?? (() => performance.now());
  }

  /** Adds some texts, never past the rows; false if nothing was left, and buffered texts are written. */
  step(): Promise<boolean> {
    // Concurrent callers share a step, so texts are added in order.
    this.#stepping ??= this.#step().finally(() => {
      this.#stepping = undefined;
    });
    return this.#stepping;
  }

  /** Returns once the texts of all rows were added. */
  async catchUp(): Promise<void> {
    while (await this.step());
  }

  /**
   * Adds texts if a search would have to scan many entries: one step if there is enough for it, so searches next to
   * busy writers keep up, and more only if very many wait.
   */
  async help(): Promise<void> {
    const untilMs = this.#nowMs() + HELPING_MS;
    if ((await this.#uncovered()) > STEP_ENTRIES) await this.step();
    while ((await this.#uncovered()) > UNCOVERED_MAX && this.#nowMs() < untilMs && (await this.step()));
  }

  /** Number of rows without texts. */
  async #uncovered(): Promise<number> {
    const checkpoint = await this.#index.textCheckpoint();
    // Another process got ahead, or the index was reset.
    if (checkpoint > this.#given || checkpoint < this.#checkpoint) {
      this.#given = checkpoint;
      this.#checkpoint = checkpoint;
    }
    return (await this.#index.checkpoint()) - this.#given;
  }

  async #step(): Promise<boolean> {
    const left = await this.#uncovered();
    if (left <= 0) {
      if (this.#given > this.#checkpoint) await this.#writeKept();
      return false;
    }
    const range = { after: this.#given, limit: Math.min(left, STEP_ENTRIES), bytes_max: STEP_BYTES };
    const batch = await this.#log.readBodies(range);
    const through = batch.at(-1)?.position;
    if (through === undefined) return false;
    const texts = batch.flatMap((stored) => {
      const placed = readableBody(stored);
      return placed === undefined ? [] : [toEntryTexts(placed)];
    });
    this.#given = await this.#index.applyTexts({ texts, after: range.after, through });
    this.#checkpoint = await this.#index.textCheckpoint();
    return true;
  }

  /** Writes buffered texts: other processes would have to scan them. */
  async #writeKept(): Promise<void> {
    await this.#index.mergeTexts?.();
    this.#checkpoint = await this.#index.textCheckpoint();
  }
}
