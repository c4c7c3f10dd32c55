// What tokens cost: rates in US dollars for a million of them, and how a call is charged by what its counts include.
import type { Counting } from "../model/usage.js";
import type { Call } from "./calls.js";

/** One rate, or another for the whole of a call whose input is larger than that. */
export type Rate = number | { readonly base: number; readonly tiers: readonly Tier[] };

export interface Tier {
  readonly start: number;
  readonly price: number;
}

/** What was not given costs as much as other input; without input and output there are no rates. */
export interface Rates {
  readonly input: Rate;
  readonly output: Rate;
  readonly cache_read?: Rate;
  readonly cache_write?: Rate;
}

/** Where prices come from, so that a sum can be understood later. */
export interface PricesFrom {
  readonly source: string;
  readonly version?: string;
  /** The day they are of. */
  readonly date: string;
}

export interface Prices {
  readonly from: PricesFrom;
  /** The rates of a model at a time; undefined where they are not known. */
  ratesOf(model: string, at_ms: number): Rates | undefined;
}

/** Whether what came from the cache or went there is part of the input, and what was thought part of the output. */
const inclusions = {
  anthropic: { cached: false, thought: true },
  openai: { cached: true, thought: true },
  gemini: { cached: true, thought: false },
  apart: { cached: false, thought: false },
} as const satisfies {
  readonly [C in Counting | "apart"]: { readonly cached: boolean; readonly thought: boolean };
};

/** Of programs whose sessions are imported: how they count, whichever model they called. */
const inclusionByClient = new Map<string, keyof typeof inclusions>([
  ["atif", "openai"],
  ["claude-code", "anthropic"],
  ["codex", "openai"],
  ["gemini-cli", "gemini"],
  ["opencode", "apart"],
  ["pi", "anthropic"],
]);

type Counted = Pick<Call, "client" | "model" | "tokens" | "counting">;

function inclusionOf({ counting, client, model }: Counted): keyof typeof inclusions {
  const known = counting ?? inclusionByClient.get(client);
  if (known !== undefined) return known;
  if (/claude/i.test(model)) return "anthropic";
  return /gemini/i.test(model) ? "gemini" : "openai";
}

/** The tokens of all that a model was given, whatever the provider counts as input, and those that were not cached. */
export function givenTokens(call: Counted): { readonly given: number; readonly plain: number } {
  const [input = 0, , cacheRead = 0, cacheWrite = 0] = call.tokens;
  const cache = cacheRead + cacheWrite;
  // A part cannot be larger than the whole: where it is, the input cannot have held it.
  const plain = inclusions[inclusionOf(call)].cached && cache <= input ? input - cache : input;
  return { given: plain + cache, plain };
}

/** In US dollars. */
export function costOf(call: Counted, rates: Rates): number {
  const [, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0] = call.tokens;
  const { thought } = inclusions[inclusionOf(call)];
  const { given, plain } = givenTokens(call);
  const said = thought ? output : output + reasoning;
  const price = (rate: Rate): number => priceAt(rate, given);
  return (
    (plain * price(rates.input) +
      cacheRead * price(rates.cache_read ?? rates.input) +
      cacheWrite * price(rates.cache_write ?? rates.input) +
      said * price(rates.output)) /
    1_000_000
  );
}

function priceAt(rate: Rate, given: number): number {
  if (typeof rate === "number") return rate;
  let price = rate.base;
  for (const tier of rate.tiers) if (given > tier.start) price = tier.price;
  return price;
}
