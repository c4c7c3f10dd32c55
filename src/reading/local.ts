// Reading in this thread, from a log and an index that this thread has open.

import { fixedIndex, type IndexHolder } from "../index/index-holder.js";
import type { EntryIndex } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import type { Mask } from "../model/mask.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import { answers, type Desk } from "./answers.js";
import { knowingClean } from "./known-clean.js";
import type { RebuildOptions } from "./patience.js";
import type { AnswerTo, Asked, IndexState, QueryOf, Question, Reading } from "./questions.js";
import { Rebuilding } from "./rebuilding.js";
import { SteadyIndex } from "./steady.js";

export class LocalReading implements Reading {
  readonly #desk: Desk;

  constructor(parts: {
    readonly log: EntryLog;
    readonly index: EntryIndex | IndexHolder;
    readonly mask: Mask;
    readonly rebuild?: Partial<RebuildOptions> | undefined;
    /** How the index's files are cleaned, where that is not for the index itself to do. */
    readonly purge?: (() => Promise<string | undefined>) | undefined;
  }) {
    const { log } = parts;
    const mask = knowingClean(parts.mask);
    const holder = "look" in parts.index ? parts.index : fixedIndex(parts.index);
    const index = new SteadyIndex({ log, holder, mask, options: parts.rebuild });
    const purge = parts.purge ?? (async () => (await index.index()).purge?.());
    this.#desk = {
      log,
      mask,
      index,
      entries: new EntryReader({ log, mask }),
      rebuilding: new Rebuilding(index),
      purge,
    };
  }

  ask<Q extends Question>(question: Q, ...[query]: Asked<Q>): Promise<AnswerTo<Q>> {
    return answers[question](this.#desk, query as QueryOf<Q>);
  }

  /** How far the log has come, and the index behind it. */
  async progress(): Promise<IndexState & { readonly position: number }> {
    const { position } = await this.#desk.log.head();
    return { position, ...(await this.#desk.index.state()) };
  }

  /** Indexes one batch; false when there was nothing left to do. */
  indexStep(): Promise<boolean> {
    return this.#desk.index.step();
  }

  /** Puts the texts of the index in better order, a little; false when there was nothing left to do. */
  async tidyStep(): Promise<boolean> {
    return (await (await this.#desk.index.index()).tidyTexts?.()) ?? false;
  }

  /** Cleans the index where rows went from it and whoever took them away was killed before it had done so. */
  async finishPurge(): Promise<void> {
    if (await (await this.#desk.index.index()).isPurgeDue?.()) await this.#desk.purge();
  }

  /** Nothing follows by itself here: every answer brings the index up to the log first. */
  grown(): void {}

  async close(): Promise<void> {
    await this.#desk.index.close();
    await this.#desk.log.close();
  }
}
