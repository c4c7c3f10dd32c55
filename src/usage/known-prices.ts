// The prices that come with the program, from a library that carries them. It asks nobody for newer ones: that is a function
// of its own there, which is never called.
import type { ModelPrice } from "@pydantic/genai-prices";
import type { Prices, PricesFrom, Rate, Rates } from "./price-table.js";

/** The library does not say of which day its prices are, so that this is changed with its version. */
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
