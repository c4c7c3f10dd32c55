// Fitting history into a number of tokens: whole turns are dropped, the oldest first.
import type { Item } from "./items.js";
import { systemToOpenAi, turnToOpenAi } from "./openai.js";
import type { Turn } from "./repair.js";

/** What a message costs beside its text, as OpenAI counts it. */
const TOKENS_PER_MESSAGE = 4;

/** The newest exchanges that fit beside the system messages; an exchange begins with a user's turn. */
export async function fitTokens(
  turns: readonly Turn[],
  systems: readonly (Item & { readonly type: "system" })[],
  maxTokens: number,
): Promise<readonly Turn[]> {
  // Loaded only when asked for: the table of tokens is larger than the rest of the program.
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  const cost = (message: object): number => TOKENS_PER_MESSAGE + countTokens(JSON.stringify(message));
  const costOf = (turn: Turn): number => turnToOpenAi(turn).reduce((sum, message) => sum + cost(message), 0);
  let left = maxTokens - systems.reduce((sum, system) => sum + cost(systemToOpenAi(system)), 0);
  let from = turns.length;
  for (let index = turns.length - 1; index >= 0; index -= 1) {
    left -= costOf(turns[index] as Turn);
    if (left < 0) break;
    if ((turns[index] as Turn).type === "user") from = index;
  }
  return turns.slice(from);
}
