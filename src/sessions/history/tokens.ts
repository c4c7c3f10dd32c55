// Counting tokens, of texts and of histories. Counting is slow, so counts are cached.
import { itemAt } from "../../model/item-at.js";

/** What a message costs besides its text, as OpenAI counts it. */
const TOKENS_PER_MESSAGE = 4;

/** Counting a run without a break takes quadratic time, so texts are counted in chunks. */
const CHUNK_CHARS_MAX = 1_000;

/** Counts the tokens of a history. */
export class HistoryTokens {
  readonly #count: TokenCounter;
  readonly #known = new Map<string, number>();

  constructor(count: TokenCounter) {
    this.#count = count;
  }

  /** From the newest message backwards, until the count exceeds `max`. */
  of(history: { readonly system?: string; readonly messages: readonly object[] }, max: number): number {
    const { system = "", messages } = history;
    let tokens = system === "" ? 0 : this.#countMessage(system, max);
    for (let at = messages.length - 1; at >= 0 && tokens <= max; at -= 1) {
      tokens += this.#countMessage(itemAt(messages, at), max - tokens);
    }
    return tokens;
  }

  #countMessage(message: object | string, max: number): number {
    const text = JSON.stringify(message);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    let tokens = TOKENS_PER_MESSAGE;
    for (const part of chunksOf(text)) {
      if (tokens > max) return tokens;
      tokens += this.#count(part);
    }
    this.#known.set(text, tokens);
    return tokens;
  }
}

export type TokenCounter = (text: string) => number;

/** The tokens of a text, counted to its end. */
export function countTokensIn(text: string, count: TokenCounter): number {
  let tokens = 0;
  for (const chunk of chunksOf(text)) tokens += count(chunk);
  return tokens;
}

export async function loadTokenCounter(): Promise<TokenCounter> {
  // Loaded only when needed: the table of tokens is larger than the rest of the program.
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  // Recorded text may contain the names of special tokens.
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, options);
}

/** The text in chunks, cut at spaces if there are any. */
function* chunksOf(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const chunk = text.slice(start, start + CHUNK_CHARS_MAX);
    const space = start + chunk.length < text.length ? chunk.lastIndexOf(" ") : -1;
    const taken = space > 0 ? chunk.slice(0, space) : chunk;
    yield taken;
    start += taken.length;
  }
}

/** Size of the cache, in characters. */
const CHARS_MAX = 16 * 1024 * 1024;
/** Longer texts are not cached: they would leave no room for others. */
const TEXT_CHARS_MAX = 64 * 1024;

export class TokenCounts {
  readonly #known = new Map<string, number>();
  #chars = 0;
  #counter: Promise<TokenCounter> | undefined;

  async load(): Promise<(text: string) => number> {
    this.#counter ??= loadTokenCounter();
    const counter = await this.#counter;
    return (text) => this.#count(text, counter);
  }

  #count(text: string, counter: TokenCounter): number {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const tokens = countTokensIn(text, counter);
    if (text.length > TEXT_CHARS_MAX) return tokens;
    if (this.#chars + text.length > CHARS_MAX) {
      this.#known.clear();
      this.#chars = 0;
    }
    this.#known.set(text, tokens);
    this.#chars += text.length;
    return tokens;
  }
}

/** The tokens of a part of a context, as history counts them. */
export function tokensOf({ value }: { readonly value: unknown }, count: (text: string) => number): number {
  return TOKENS_PER_MESSAGE + count(JSON.stringify(value));
}
