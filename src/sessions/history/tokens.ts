// Tokens of texts, and of a history as it is returned.
import { itemAt } from "../../model/item-at.js";

/** What a message costs beside its text, as OpenAI counts it. */
export const TOKENS_PER_MESSAGE = 4;

/** The time to count a run without a break grows with its square, so texts are counted piece by piece. */
const PIECE_CHARS_MAX = 1_000;

/** Counts what a history returns; what was counted once is not counted again. */
export class HistoryTokens {
  readonly #count: TokenCounter;
  readonly #known = new Map<string, number>();

  constructor(count: TokenCounter) {
    this.#count = count;
  }

  /** From the newest message backwards, and no further than `max`: what is above it may be counted in part. */
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
    for (const part of pieces(text)) {
      // A text that is too long is not counted to its end.
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
  for (const piece of pieces(text)) tokens += count(piece);
  return tokens;
}

export async function loadTokenCounter(): Promise<TokenCounter> {
  // Loaded only when asked for: the table of tokens is larger than the rest of the program.
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  // Recorded text may name special tokens, as text.
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, options);
}

/** The text in pieces, cut at spaces where there are any. */
function* pieces(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const piece = text.slice(start, start + PIECE_CHARS_MAX);
    const space = start + piece.length < text.length ? piece.lastIndexOf(" ") : -1;
    const taken = space > 0 ? piece.slice(0, space) : piece;
    yield taken;
    start += taken.length;
  }
}

// How many tokens texts have: counting takes long, and the same messages are given again and again, so counts are kept.
/** So many characters are kept with their counts. */
const CHARS_MAX = 16 * 1024 * 1024;
/** Longer texts are counted each time: they would leave no room for others. */
const TEXT_CHARS_MAX = 64 * 1024;

export class TokenCounts {
  readonly #known = new Map<string, number>();
  #chars = 0;
  #counter: Promise<TokenCounter> | undefined;

  /** The table of tokens is loaded when it is first needed. */
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

/** What a part of a context has, as history counts it. */
export function tokensOf({ value }: { readonly value: unknown }, count: (text: string) => number): number {
  return TOKENS_PER_MESSAGE + count(JSON.stringify(value));
}
