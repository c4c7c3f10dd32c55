// What tokens cost: rates in US dollars per million tokens, how a call is charged by what its counts include, and the prices that
// the library brings. It also has a function that fetches newer ones, which is never called.

import type { ModelPrice } from "@pydantic/genai-prices";
import type { Counting } from "../model/usage.js";
import type { ModelCall } from "./call-merger.js";

/** One rate, or tiers: another rate for the whole of a call with larger input. */
export type Rate = number | { readonly base: number; readonly tiers: readonly Tier[] };

export interface Tier {
  readonly start: number;
  readonly price: number;
}

/** Without own rates, cache reads and writes cost as much as input. */
export interface Rates {
  readonly input: Rate;
  readonly output: Rate;
  readonly cache_read?: Rate;
  readonly cache_write?: Rate;
}

/** Where prices come from, so a sum can be explained later. */
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

/** Whether cached tokens are part of the input, and reasoning tokens part of the output. */
const inclusions = {
  anthropic: { cached: false, thought: true },
  openai: { cached: true, thought: true },
  gemini: { cached: true, thought: false },
  apart: { cached: false, thought: false },
} as const satisfies {
  readonly [C in Counting | "apart"]: { readonly cached: boolean; readonly thought: boolean };
};

/** How programs whose sessions are imported count, whatever model they call. */
const inclusionByClient = new Map<string, keyof typeof inclusions>([
  ["atif", "openai"],
  ["claude-code", "anthropic"],
  ["cline", "openai"],
  ["codex", "openai"],
  ["copilot-cli", "openai"],
  ["droid", "anthropic"],
  ["gemini-cli", "gemini"],
  ["kimi-cli", "anthropic"],
  ["kimi-code", "anthropic"],
  ["opencode", "apart"],
  ["pi", "anthropic"],
  ["qwen-code", "openai"],
  ["zed", "anthropic"],
]);

type Counted = Pick<ModelCall, "client" | "model" | "tokens" | "counting">;

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

/**
 * The same names for every provider: input is all that the model was given, cached parts included, and output all that it wrote,
 * thoughts included; the others are parts of these.
 */
export function comparableTokens(call: Counted): readonly number[] {
  const [, output = 0, cacheRead = 0, cacheWrite = 0, reasoning = 0] = call.tokens;
  const { thought } = inclusions[inclusionOf(call)];
  const wrote = thought && reasoning <= output ? output : output + reasoning;
  return [givenTokens(call).given, wrote, cacheRead, cacheWrite, reasoning];
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

/** The library does not date its prices: change this with its version. */
const knownPricesFrom: PricesFrom = {
  source: "@pydantic/genai-prices",
  version: "0.1.8",
  date: "2026-09-23",
};

/** Prices change with the date and, for a few models, with the time of day, at the hour or half past. */
const SLOT_MS = 30 * 60_000;

export async function knownPrices(): Promise<Prices> {
  // Loaded when it is first needed: it takes longer than a command may take to start.
  const { calcPrice } = await import("@pydantic/genai-prices");
  const bySlot = new Map<string, Rates | undefined>();
  const steady = new Map<string, Rates | undefined>();
  const look = (model: string, at_ms: number): { readonly rates?: Rates; readonly isSteady: boolean } => {
    const timestamp = new Date(at_ms);
    for (const { name, provider } of spellingsOf(model)) {
      const found = calcPrice({}, name, { timestamp, ...(provider === undefined ? {} : { providerId: provider }) });
      const rates = found === null ? undefined : toRates(found.model_price);
      if (found !== null && rates !== undefined) return { rates, isSteady: !Array.isArray(found.model.prices) };
    }
    return { isSteady: true };
  };
  return {
    from: knownPricesFrom,
    ratesOf(model, at_ms) {
      if (steady.has(model)) return steady.get(model);
      const slot = `${Math.floor(at_ms / SLOT_MS)} ${model}`;
      if (bySlot.has(slot)) return bySlot.get(slot);
      const { rates, isSteady } = look(model, at_ms);
      if (isSteady) steady.set(model, rates);
      else bySlot.set(slot, rates);
      return rates;
    },
  };
}

interface Spelling {
  readonly name: string;
  readonly provider?: string;
}

/** A model is called by its own name, behind that of who serves it, or as Amazon spells it. */
function spellingsOf(model: string): readonly Spelling[] {
  const slash = model.indexOf("/");
  const [maker, name] = [model.slice(0, Math.max(slash, 0)), model.slice(slash + 1)];
  return [
    { name: model },
    ...(slash === -1
      ? [{ name: model, provider: "aws" }]
      : [{ name, provider: maker }, { name }, { name: model, provider: "openrouter" }]),
  ].filter((spelling) => spelling.name !== "");
}

function toRates(price: ModelPrice): Rates | undefined {
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok } = price;
  if (input_mtok === undefined || output_mtok === undefined) return undefined;
  return {
    input: toRate(input_mtok),
    output: toRate(output_mtok),
    ...(cache_read_mtok === undefined ? {} : { cache_read: toRate(cache_read_mtok) }),
    ...(cache_write_mtok === undefined ? {} : { cache_write: toRate(cache_write_mtok) }),
  };
}

function toRate(price: Exclude<ModelPrice[string], undefined>): Rate {
  return typeof price === "number" ? price : { base: price.base, tiers: price.tiers };
}
