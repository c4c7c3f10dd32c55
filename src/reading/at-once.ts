// Answers at once, in the thread that asks, what takes less time than the way to another thread: small pages of what the
// index holds whole. Everything else gets no answer here, and nothing here ever writes.

import type { IndexHolder } from "../index/index-holder.js";
import type { EntryIndex } from "../index/port.js";
import type { EntryLog, EntrySource } from "../log/port.js";
import { hexOf } from "../model/hex.js";
import type { Mask } from "../model/mask.js";
import { pageAnswers } from "./answers.js";
import { knowingClean } from "./known-clean.js";
import type { AnswerTo, QueryOf, Question } from "./questions.js";
import { type Readers, readersOf } from "./view.js";

/** Larger pages take long enough that the way to another thread does not matter, and this thread has other things to do. */
const ROWS_MAX = 100;
const BYTES_MAX = 256 * 1024;
/** What became of the index's file is looked at now and then: whether it holds what the log does is looked at each time. */
const LOOK_EVERY_MS = 100;

type PageQuestion = keyof typeof pageAnswers;

/** Whether a question is small as far as it tells; a filter may have to look through everything. */
const isSmall: { readonly [Q in PageQuestion]: (query: QueryOf<Q>) => boolean } = {
  listEntries: ({ filter, limit }) => limit <= ROWS_MAX && isEmpty(filter),
  listSessions: ({ filter, limit, after }) => limit <= ROWS_MAX && isEmpty(filter) && after === undefined,
  timeline: ({ limit }) => limit <= ROWS_MAX,
  history: ({ max_messages, max_tokens }) => max_messages <= ROWS_MAX && max_tokens === undefined,
};

/** Where a page was too large, or the index unfit, the next questions have little to hope for either. */
const REST_MS = 1_000;

/** Tells that more was to be read than is read here. */
class TooMuch extends Error {}

export class AtOnce {
  readonly #log: EntryLog;
  readonly #holder: IndexHolder;
  readonly #source: EntrySource;
  readonly #mask: Mask;
  #restsUntilMs = 0;
  #seen: { readonly index: EntryIndex; readonly readers: Readers; readonly at_ms: number } | undefined;

  constructor(parts: { readonly log: EntryLog; readonly index: IndexHolder; readonly mask: Mask }) {
    this.#log = parts.log;
    this.#holder = parts.index;
    this.#source = bounded(parts.log);
    this.#mask = knowingClean(parts.mask);
  }

  /** Undefined where somebody else has to answer, who may also find out why. */
  async ask<Q extends Question>(question: Q, query: QueryOf<Q>): Promise<AnswerTo<Q> | undefined> {
    if (!isPage(question) || !isSmall[question](query as never)) return undefined;
    if (performance.now() < this.#restsUntilMs) return undefined;
    try {
      const { index, readers } = await this.#look();
      const letGo = index.hold?.();
      if (letGo === undefined) return undefined;
      let hasLasted = false;
      try {
        if (!(await this.#isWhole(index))) return undefined;
        const answer = (await pageAnswers[question](readers, query as never)) as AnswerTo<Q>;
        hasLasted = letGo();
        return hasLasted ? answer : undefined;
      } finally {
        if (!hasLasted) letGo();
      }
    } catch {
      this.#seen = undefined;
      this.#restsUntilMs = performance.now() + REST_MS;
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.#holder.close();
    await this.#log.close();
  }

  async #look(): Promise<{ readonly index: EntryIndex; readonly readers: Readers }> {
    const at_ms = performance.now();
    if (this.#seen !== undefined && at_ms - this.#seen.at_ms < LOOK_EVERY_MS) return this.#seen;
    const { index } = await this.#holder.look();
    const readers =
      this.#seen?.index === index ? this.#seen.readers : readersOf({ log: this.#source, index, mask: this.#mask });
    this.#seen = { index, readers, at_ms };
    return this.#seen;
  }

  /** Whether the index was made from this very log, up to its end. */
  async #isWhole(index: EntryIndex): Promise<boolean> {
    const [source, head] = [await index.source(), await this.#log.head()];
    if (source === undefined || source.position !== head.position || source.log_id !== head.log_id) return false;
    return source.hash === hexOf(head.hash);
  }
}

/** A log that gives few bytes, or nothing. */
function bounded(log: EntryLog): EntrySource {
  const within = <T extends { readonly body?: { readonly length: number } | string }>(
    positions: readonly number[],
    stored: readonly (T | undefined)[],
  ): readonly (T | undefined)[] => {
    // The last of them may be as large as an entry can be.
    const bytes = stored.reduce((sum, one) => sum + (one?.body?.length ?? 0), 0);
    if (stored.length < positions.length || bytes > BYTES_MAX) throw new TooMuch();
    return stored;
  };
  return {
    find: (claims) => log.find(claims),
    redactionsAfter: (position) => log.redactionsAfter(position),
    get: async (positions) => within(positions, await log.get(positions, BYTES_MAX)),
    getBodies: async (positions) => within(positions, await log.getBodies(positions, BYTES_MAX)),
  };
}

function isPage(question: Question): question is PageQuestion {
  return Object.hasOwn(pageAnswers, question);
}

function isEmpty(filter: object): boolean {
  return Object.values(filter).every((value) => value === undefined);
}
