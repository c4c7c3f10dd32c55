// A model call that is too large for an entry: its longest texts keep their beginning, and it says what was cut.
import type { InteractionInput } from "./entries.js";
import { isJson, type Json } from "./providers/provider.js";

/** The server takes 16 MiB, 250,000 values and 200 levels; what the log adds needs room as well. */
const BYTES_MAX = 15 * 1024 * 1024;
const VALUES_MAX = 240_000;
const LEVELS_MAX = 180;
/** At most so many bytes are needed in JSON for a UTF-16 unit, and for what surrounds a value. */
const UNIT_BYTES = 6;
const VALUE_BYTES = 32;

/** What is left out if there are too many values; the least useful first. */
const parts = [
  ["extra", "content"],
  ["extra", "request"],
  ["context_pack", "tools"],
  ["context_pack", "system"],
  ["extra", "tool_calls"],
  ["context_pack", "messages"],
] as const;

export function fitted(call: InteractionInput): InteractionInput {
  const { units, values } = sizeOf(call);
  if (hasFewValues(call) && units * UNIT_BYTES + values * VALUE_BYTES <= BYTES_MAX) return call;
  const fields: string[] = [];
  let left = call;
  for (const [part, name] of parts) {
    if (hasFewValues(left)) break;
    if ((left[part] as Json | undefined)?.[name] === undefined) continue;
    left = { ...left, [part]: { ...left[part], [name]: undefined } };
    fields.push(`${part}.${name}`);
  }
  const lengths: number[] = [];
  mapTexts(left, (text) => {
    lengths.push(jsonBytes(text));
    return text;
  });
  const others = jsonBytes(mapTexts(left, () => ""));
  const bytesMax = textBytes(lengths, BYTES_MAX - others);
  let truncated = 0;
  const cut = Object.entries(left).map(([name, value]): [string, unknown] => {
    const before = truncated;
    const kept = mapTexts(value, (text) => {
      const beginning = beginningOf(text, bytesMax);
      truncated += jsonBytes(text.slice(beginning.length)) - 2;
      return beginning;
    });
    if (truncated > before) fields.push(name);
    return [name, kept];
  });
  if (fields.length === 0) return call;
  const { extra, ...fit } = Object.fromEntries(cut) as unknown as InteractionInput;
  return { ...fit, extra: { ...extra, truncated, truncated_fields: fields } };
}

function hasFewValues(call: InteractionInput): boolean {
  const { values, levels } = sizeOf(call);
  return values <= VALUES_MAX && levels <= LEVELS_MAX;
}

function sizeOf(value: unknown): { readonly units: number; readonly values: number; readonly levels: number } {
  if (typeof value === "string") return { units: value.length, values: 1, levels: 0 };
  let [units, values, levels] = [0, 1, 0];
  if (typeof value !== "object" || value === null) return { units, values, levels };
  for (const [name, item] of Object.entries(value)) {
    const size = sizeOf(item);
    units += size.units + name.length;
    values += size.values;
    levels = Math.max(levels, size.levels);
  }
  return { units, values, levels: levels + 1 };
}

/** The size at which texts are cut to make all of them fit: the long ones are cut, the short ones stay whole. */
function textBytes(lengths: readonly number[], bytesMax: number): number {
  const ascending = lengths.toSorted((one, other) => one - other);
  let room = Math.max(0, bytesMax);
  for (const [at, length] of ascending.entries()) {
    const share = room / (ascending.length - at);
    if (length > share) return share;
    room -= length;
  }
  return Number.POSITIVE_INFINITY;
}

function beginningOf(text: string, bytesMax: number): string {
  if (jsonBytes(text) <= bytesMax) return text;
  let [fits, exceeds] = [0, text.length];
  while (exceeds - fits > 1) {
    const middle = (fits + exceeds) >>> 1;
    if (jsonBytes(text.slice(0, middle)) <= bytesMax) fits = middle;
    else exceeds = middle;
  }
  // A pair of surrogates is one character.
  return text.slice(0, /[\ud800-\udbff]/.test(text[fits - 1] ?? "") ? fits - 1 : fits);
}

const encoder = new TextEncoder();

function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value) ?? "").length;
}

/** A copy with other texts; the names of members stay. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  if (typeof value === "string") return change(value) as T;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change)) as T;
  if (!isJson(value)) return value;
  // `__proto__` is an ordinary name.
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, change)])) as T;
}
