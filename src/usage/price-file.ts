// A file of prices in LiteLLM's form, in the place of those that come with the program: an object of models, each with
// dollars for one token, and more for what is above so many thousand tokens of input.
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { isJsonObject, type JsonObject } from "../model/json.js";
import { Rejection, reject } from "../model/rejection.js";
import { formatTime } from "../model/time.js";
import type { Prices, PricesFrom, Rate, Rates, Tier } from "./price-table.js";

/** As it is sent to the read thread. */
export interface PriceFile {
  readonly from: PricesFrom;
  readonly rates: ReadonlyMap<string, Rates>;
}

/** What the tokens of each kind are called in the file. */
const names = {
  input: "input_cost_per_token",
  output: "output_cost_per_token",
  cache_read: "cache_read_input_token_cost",
  cache_write: "cache_creation_input_token_cost",
} as const satisfies { readonly [N in keyof Rates]-?: string };

const HINT = "It must be JSON as LiteLLM's model_prices_and_context_window.json has it.";
const FILE_BYTES_MAX = 64 * 1024 * 1024;
/** What explains the form in LiteLLM's own file. */
const SAMPLE = "sample_spec";

export async function readPriceFile(path: unknown): Promise<PriceFile | Rejection> {
  if (typeof path !== "string" || path === "") return refuse("prices must be the path of a file");
  let text: string;
  let mtime: Date;
  try {
    const found = await stat(path);
    if (found.size > FILE_BYTES_MAX) return refuse(`${path} is too large for a price file`);
    mtime = found.mtime;
    text = await readFile(path, "utf8");
  } catch (error) {
    return refuse(`${path} cannot be read (${(error as Error).message})`);
  }
  const rates = parsePrices(text);
  if (rates instanceof Rejection) return refuse(`${path} ${rates.message}`);
  return { from: { source: basename(path), date: formatTime(mtime.getTime()).slice(0, 10) }, rates };
}

/** The names as they stand, and without who serves the model where that gives no other model's. */
export function pricesOfFile({ from, rates }: PriceFile): Prices {
  const byTail = new Map([...rates].map(([name, own]) => [tailOf(name), own] as const).reverse());
  return {
    from,
    ratesOf: (model) => rates.get(model) ?? rates.get(tailOf(model)) ?? byTail.get(tailOf(model)),
  };
}

function tailOf(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).replace(/\[1m\]$/, "");
}

function parsePrices(text: string): ReadonlyMap<string, Rates> | Rejection {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    return refuse(`is not JSON (${(error as Error).message})`);
  }
  if (!isJsonObject(parsed)) return refuse("is not an object of models");
  const found = new Map<string, Rates>();
  for (const [model, prices] of Object.entries(parsed)) {
    if (model === SAMPLE) continue;
    if (!isJsonObject(prices)) return refuse(`has no object of prices for ${shown(model)}`);
    const rates = toRates(model, prices);
    if (rates instanceof Rejection) return rates;
    if (rates !== undefined) found.set(model, rates);
  }
  return found.size === 0 ? refuse("contains no token price") : found;
}

/** Undefined for models that are paid for by something else than tokens. */
function toRates(model: string, prices: JsonObject): Rates | undefined | Rejection {
  const rates: { -readonly [N in keyof Rates]?: Rate } = {};
  for (const kind of Object.keys(names) as readonly (keyof Rates)[]) {
    const rate = toRate(model, prices, names[kind]);
    if (rate instanceof Rejection) return rate;
    if (rate !== undefined) rates[kind] = rate;
  }
  const { input, output } = rates;
  return input === undefined && output === undefined ? undefined : { ...rates, input: input ?? 0, output: output ?? 0 };
}

/** `input_cost_per_token`, and `input_cost_per_token_above_200k_tokens`. */
function toRate(model: string, prices: JsonObject, name: string): Rate | undefined | Rejection {
  const tiers: Tier[] = [];
  let base: number | undefined;
  for (const [field, value] of Object.entries(prices)) {
    const above = field.startsWith(name) ? /^(?:_above_(\d{1,6})k_tokens)?$/.exec(field.slice(name.length)) : null;
    if (above === null || value === null) continue;
    if (typeof value !== "number" || value < 0) {
      return refuse(`has ${shown(String(value))} as ${field} of ${shown(model)}, which is not a price`);
    }
    const price = value * 1_000_000;
    if (above[1] === undefined) base = price;
    else tiers.push({ start: Number(above[1]) * 1_000, price });
  }
  if (base === undefined || tiers.length === 0) return base;
  return { base, tiers: tiers.sort((left, right) => left.start - right.start) };
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

function refuse(message: string): Rejection {
  return reject({ code: "field_invalid", field: "prices", message, hint: HINT });
}
