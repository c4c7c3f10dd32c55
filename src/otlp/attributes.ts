// Attributes as OTLP's JSON has them, as plain values.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";

export type Attributes = { readonly [key: string]: JsonValue };

/** Deeper values are left out; what is stored keeps them. */
const LEVELS_MAX = 64;

/** The first of equal keys counts. Some exporters write an object in place of the list. */
export function attributesOf(list: JsonValue | undefined): Attributes {
  if (isJsonObject(list)) return list;
  const attributes: { [key: string]: JsonValue } = {};
  for (const item of Array.isArray(list) ? (list as readonly JsonValue[]) : []) {
    if (!isJsonObject(item) || typeof item.key !== "string" || Object.hasOwn(attributes, item.key)) continue;
    const value = plainValue(item.value, LEVELS_MAX);
    // `__proto__` is a key like any other.
    if (value !== undefined) Object.defineProperty(attributes, item.key, { value, enumerable: true });
  }
  return attributes;
}

/** An AnyValue as a plain one; undefined if it is empty. */
export function plainValue(value: JsonValue | undefined, levels = LEVELS_MAX): JsonValue | undefined {
  if (!isJsonObject(value)) return value;
  if (levels <= 0) return undefined;
  for (const name in value) {
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (read !== undefined) return read(value[name] as JsonValue, levels - 1);
  }
  // A body that was written without OTLP's wrapping.
  return Object.keys(value).length === 0 ? undefined : value;
}

const readers: { readonly [name: string]: (value: JsonValue, levels: number) => JsonValue | undefined } = {
  stringValue: (value) => value,
  boolValue: (value) => value,
  bytesValue: (value) => value,
  doubleValue: (value) => value,
  intValue: (value) => {
    const number = Number(value);
    // Beyond 2^53 only the digits are exact.
    return Number.isSafeInteger(number) ? number : String(value);
  },
  arrayValue: (value, levels) =>
    listIn(value).flatMap((item) => {
      const plain = plainValue(item, levels);
      return plain === undefined ? [] : [plain];
    }),
  kvlistValue: (value, levels) => {
    const members: { [key: string]: JsonValue } = {};
    for (const item of listIn(value)) {
      if (!isJsonObject(item) || typeof item.key !== "string") continue;
      const member = plainValue(item.value, levels);
      if (member !== undefined) Object.defineProperty(members, item.key, { value: member, enumerable: true });
    }
    return members;
  },
};

function listIn(value: JsonValue): readonly JsonValue[] {
  if (!isJsonObject(value)) return [];
  return Array.isArray(value.values) ? value.values : [];
}

/** The first text among these attributes that is not empty; numbers count as text. */
export function textAt(attributes: Attributes, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = attributes[name];
    if (typeof value === "string" && value !== "") return value;
    if (typeof value === "number") return String(value);
  }
  return undefined;
}

/** The first number among these attributes, also where it was written as text. */
export function numberAt(attributes: Attributes, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = attributes[name];
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (typeof number === "number" && Number.isFinite(number)) return number;
  }
  return undefined;
}

/** A structured attribute, which many write as a JSON string; text that is no JSON stays text. */
export function valueAt(attributes: Attributes, ...names: readonly string[]): JsonValue | undefined {
  for (const name of names) {
    const value = attributes[name];
    if (value === undefined || value === null || value === "") continue;
    return typeof value === "string" ? fromText(value) : value;
  }
  return undefined;
}

export function fromText(text: string): JsonValue {
  if (!/^\s*["[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

export function objectAt(attributes: Attributes, ...names: readonly string[]): JsonObject | undefined {
  const value = valueAt(attributes, ...names);
  return isJsonObject(value) ? value : undefined;
}
