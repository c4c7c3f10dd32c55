// The text indexer: gives the texts of entries to the index, behind the rows and in small steps.

import type { EntryLog } from "../log/port.js";
import { readableBody } from "./entry-row.js";
import type { EntryIndex } from "./port.js";
import { toEntryTexts } from "./texts.js";

/** A read that comes meanwhile waits for the step to end, which takes some ten milliseconds. */
const STEP_ENTRIES = 128;
const STEP_BYTES = 512 * 1024;

/** More entries than this without signatures are not left to every search to look through: it helps to index them. */
const UNCOVERED_MAX = 1_000;
/**
 * It helps with a part of them, so that commands which end at once get on with it between them. To look through an entry
 * takes a fraction of the time to index it, so that a search is quicker with the rest of them left as they are.
 */
const HELPING_MS = 60;

export class TextIndexer {
  readonly #log: EntryLog;
  readonly #index: EntryIndex;
  readonly #nowMs: () => number;
  /** Through where texts were given, and the checkpoint then: the index may hold more than it has written. */
  #given = 0;
  #checkpoint = 0;
  #stepping: Promise<boolean> | undefined;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex; readonly nowMs?: () => number }) {
    this.#log = parts.log;
    this.#index = parts.index;
    this.#nowMs = parts.nowMs ?? (() => performance.now());
  }

  /**
   * Gives some texts, never of entries beyond the rows; false when there was nothing left to give, and what the index kept
   * back is written.
   */
  step(): Promise<boolean> {
    // Whoever asks while a step is on its way shares it, so that texts are given in order.
    this.#stepping ??= this.#step().finally(() => {
      this.#stepping = undefined;
    });
    return this.#stepping;
  }

  /** Returns once the texts of all rows there are were given. */
  async catchUp(): Promise<void> {
    while (await this.step());
  }

  /**
   * Gives some texts if a search would have to look through many entries itself: one step wherever that has enough to do,
   * so that searches beside busy writers keep up with them, and more steps only where very many wait.
   */
  async help(): Promise<void> {
    const untilMs = this.#nowMs() + HELPING_MS;
    if ((await this.#uncovered()) > STEP_ENTRIES) await this.step();
    while ((await this.#uncovered()) > UNCOVERED_MAX && this.#nowMs() < untilMs && (await this.step()));
  }

  /** How many rows there are whose texts were not given yet. */
  async #uncovered(): Promise<number> {
    const checkpoint = await this.#index.textCheckpoint();
    // Another process got ahead, or the index was begun anew.
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

  /** Other processes search too, and would have to look through what is kept here alone. */
  async #writeKept(): Promise<void> {
    await this.#index.mergeTexts?.();
    this.#checkpoint = await this.#index.textCheckpoint();
  }
}
