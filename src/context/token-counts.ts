// How many tokens texts have: counting takes long, and the same messages are given again and again, so counts are kept.
import { countTokensIn, loadTokenCounter, TOKENS_PER_MESSAGE, type TokenCounter } from "../sessions/history/tokens.js";

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
