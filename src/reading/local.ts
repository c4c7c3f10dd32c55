// Answers reads in this thread, from a log and an index that it has open.

import { fixedIndex, type IndexHolder } from "../index/index-holder.js";
import type { EntryIndex } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import type { Mask } from "../model/mask.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import type { AnswerContext, CallTable, Reading } from "./call-table.js";
import type { ReadersOf } from "./index-in-use.js";
import type { IndexState } from "./maintenance.js";
import type { RebuildOptions } from "./rebuild.js";
import { SharedRebuild } from "./rebuild.js";
import { ResilientIndex } from "./resilient-index.js";

export class LocalReading<R> implements Reading {
  readonly #answering: AnswerContext<R>;
  readonly #calls: CallTable<AnswerContext<R>>;

  constructor(parts: {
    readonly log: EntryLog;
    readonly index: EntryIndex | IndexHolder;
    readonly mask: Mask;
    /** Makes the readers of an index. */
    readonly readersOf: ReadersOf<R>;
    /** The calls and how they are answered. */
    readonly calls: CallTable<AnswerContext<R>>;
    readonly rebuild?: Partial<RebuildOptions> | undefined;
    /** Cleans the index's files, if the index does not do that itself. */
    readonly purge?: (() => Promise<string | undefined>) | undefined;
  }) {
    const { log, mask, readersOf } = parts;
    const holder = "replace" in parts.index ? parts.index : fixedIndex(parts.index);
    const index = new ResilientIndex({ log, holder, mask, readersOf, options: parts.rebuild });
    const purge = parts.purge ?? (async () => (await index.index()).purge?.());
    this.#calls = parts.calls;
    this.#answering = {
      log,
      mask,
      index,
      entries: new EntryReader({ log, mask }),
      rebuilding: new SharedRebuild(index),
      purge,
    };
  }

  async ask(name: string, query: unknown): Promise<unknown> {
    const answer = this.#calls[name];
    if (answer === undefined) throw new Error(`unknown call ${name}`);
    return answer(this.#answering, query as never);
  }

  /** Positions of the log and of the index behind it. */
  async progress(): Promise<IndexState & { readonly position: number }> {
    const { position } = await this.#answering.log.head();
    return { position, ...(await this.#answering.index.state()) };
  }

  /** Indexes one batch; false if nothing was left. */
  indexStep(): Promise<boolean> {
    return this.#answering.index.step();
  }

  /** Does one merge in the text index; false if nothing was left. */
  async mergeStep(): Promise<boolean> {
    return (await (await this.#answering.index.index()).mergeTexts?.()) ?? false;
  }

  /** Finishes the purge of a process that was killed before it could. */
  async finishPurge(): Promise<void> {
    if (await (await this.#answering.index.index()).isPurgeDue?.()) await this.#answering.purge();
  }

  /** Every answer updates the index first. */
  grown(): void {}

  async close(): Promise<void> {
    await this.#answering.index.close();
    await this.#answering.log.close();
  }
}
