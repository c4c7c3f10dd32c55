// Fitting history into a number of tokens: whole turns are dropped, the oldest first.
import type { Item } from "./items.js";
import { systemToOpenAi } from "./openai.js";
import type { Turn } from "./repair.js";

/** What a message costs beside its text, as OpenAI counts it. */
export const TOKENS_PER_MESSAGE = 4;

/** The time to count a run without a break grows with its square, so texts are counted piece by piece. */
const PIECE_CHARS_MAX = 1_000;

/** The newest exchanges that fit beside the system messages; an exchange begins with a user's turn. */
export async function fitTokens(
  turns: readonly Turn[],
  systems: readonly (Item & { readonly type: "system" })[],
  wish: { readonly max_tokens: number; readonly toMessages: (turn: Turn) => readonly object[] },
): Promise<readonly Turn[]> {
  const count = await loadTokenCounter();
  const take = (left: number, messages: readonly object[]): number => {
    let rest = left;
    for (const message of messages) {
      if (rest < 0) break;
      rest -= TOKENS_PER_MESSAGE;
      // A text that is too long is not counted to its end.
      for (const piece of pieces(JSON.stringify(message))) {
        if (rest < 0) break;
        rest -= count(piece);
      }
    }
    return rest;
  };
  let left = take(wish.max_tokens, systems.map(systemToOpenAi));
  let from = turns.length;
  for (let index = turns.length - 1; index >= 0 && left >= 0; index -= 1) {
    const turn = turns[index] as Turn;
    left = take(left, wish.toMessages(turn));
    if (left >= 0 && turn.type === "user") from = index;
  }
  return turns.slice(from);
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
