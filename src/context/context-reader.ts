// Contexts as they are read: what a model was given for an answer, how much that was, and what had changed.
import type { AnswerLookup, Context, ContextChange, GivenMessage, Told } from "../model/context.js";
import type { Entry, ErasedEntry } from "../model/entry.js";
import { TimeSlice } from "../model/scheduling.js";
import { EntryReader, type EntryWish } from "../search/lists/entry-reader.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { HistoryReader } from "../sessions/history/history.js";
import { type Answer, Answers } from "./answers.js";
import { type Assembled, assemble, partsOf } from "./assemble.js";
import { compareMessages } from "./compare.js";
import { ledTo } from "./led-to.js";
import { linkMessages } from "./links.js";
import { TokenCounts, tokensOf } from "./token-counts.js";
import { ToldReader } from "./told.js";

export class ContextReader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;
  readonly #answers: Answers;
  readonly #sources: Parameters<typeof assemble>[0];
  readonly #tokens = new TokenCounts();
  readonly #told: ToldReader;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
    this.#answers = new Answers({ index: parts.index, entries: this.#entries });
    this.#sources = { index: parts.index, histories: new HistoryReader(parts), answers: this.#answers };
    this.#told = new ToldReader(parts, { ...this.#sources, entries: this.#entries }, this.#tokens);
  }

  /** Undefined where there is no such entry. */
  async context(wish: EntryWish): Promise<AnswerLookup<Context> | undefined> {
    return this.#ofAnswer(wish, async (answer) => {
      const assembled = await assemble(this.#sources, answer);
      const change = await this.#previous(answer, assembled.messages);
      const { messages, previous } = await this.#linked(answer, assembled.messages, change);
      const led_to = await ledTo({ index: this.#parts.index, entries: this.#entries }, answer);
      const context = { ...assembled, messages, tokens: await this.#count(assembled), ...previous, led_to };
      return wish.is_masked === true ? this.#masked(context) : context;
    });
  }

  async told(wish: EntryWish & { readonly phrase: string }): Promise<AnswerLookup<Told> | undefined> {
    return this.#ofAnswer(wish, (answer) => this.#told.told(answer, wish.phrase));
  }

  async #ofAnswer<T>(wish: EntryWish, find: (answer: Answer) => Promise<T>): Promise<AnswerLookup<T> | undefined> {
    const entry = await this.#get(wish);
    if (entry === undefined) return undefined;
    if ("erased" in entry) return { outcome: "erased" };
    const answer = await this.#answers.answerOf(entry);
    if (answer === undefined) return { outcome: "no_answer", kind: entry.kind };
    return { outcome: "found", found: await find(answer) };
  }

  #get(wish: EntryWish): Promise<Entry | ErasedEntry | undefined> {
    return "id" in wish ? this.#entries.getById(wish.id) : this.#entries.getByPosition(wish.position);
  }

  async #previous(answer: Answer, now: readonly GivenMessage[]): Promise<ContextChange | undefined> {
    const before = await this.#answers.previous(answer);
    if (before === undefined) return undefined;
    const then = await assemble(this.#sources, before);
    return compareMessages(before.id, then.messages, now);
  }

  /** What went is led to where it came from, too: all of it by one look at the session. */
  async #linked(answer: Answer, now: readonly GivenMessage[], change: ContextChange | undefined) {
    const linked = await linkMessages(this.#parts, answer, [...now, ...(change?.removed ?? [])]);
    const previous = change === undefined ? {} : { previous: { ...change, removed: linked.slice(now.length) } };
    return { messages: linked.slice(0, now.length), previous };
  }

  /** As history counts them, and in turns: a context may be as large as an entry can be. */
  async #count(assembled: Assembled): Promise<number> {
    const count = await this.#tokens.load();
    const turn = new TimeSlice();
    let tokens = 0;
    for (const part of partsOf(assembled)) {
      tokens += tokensOf(part, count);
      if (turn.isOver) await turn.next();
    }
    return tokens;
  }

  /** Addresses stay, since nothing could be fetched without them. */
  #masked(context: Context): Context {
    const { mask } = this.#parts;
    const { answer, exact, source, tokens, memories, chunks, previous, led_to, messages, ...others } = context;
    const shown = (message: GivenMessage): GivenMessage => {
      const { entry_id, ...said } = message;
      return { ...mask.value(said), ...(entry_id === undefined ? {} : { entry_id }) } as GivenMessage;
    };
    return {
      answer,
      exact,
      source,
      messages: messages.map(shown),
      ...mask.value(others),
      memories: mask.value(memories),
      chunks: mask.value(chunks),
      tokens,
      ...(previous === undefined ? {} : { previous: { ...previous, removed: previous.removed.map(shown) } }),
      led_to: mask.entry(led_to),
    };
  }
}
