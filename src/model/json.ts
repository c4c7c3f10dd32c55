// JSON values as types, and the two checks that hostile JSON needs before it is used.
import { type Rejection, reject } from "./rejection.js";

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value as a JSON object, or why it is none. */
export function jsonObjectOf(value: unknown, what: string): JsonObject | Rejection {
  if (isJsonObject(value)) return value;
  return reject({ code: "field_invalid", field: "body", message: `${what} must be a JSON object` });
}

/** The parsed JSON value; undefined if the text is not JSON. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The parsed object; undefined if the text is not JSON or not an object. */
export function parseJsonObject(text: string | undefined): JsonObject | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  return isJsonObject(value) ? value : undefined;
}

/** Whether lists and objects are nested at most `levels` deep; `value` itself is the first level. */
export function isNestedWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels <= 0) return false;
  if (Array.isArray(value)) return value.every((item) => isNestedWithin(item, levels - 1));
  // `Object.values` takes several times as long.
  for (const name in value) {
    if (!isNestedWithin((value as { readonly [name: string]: unknown })[name], levels - 1)) return false;
  }
  return true;
}

/** Why a value cannot be stored as it is. */
export type JsonFlaw = "too_deep" | "too_wide" | "not_finite" | "not_plain";

/** How many more members and items are allowed; the walk counts it down. */
export interface ValuesLeft {
  values: number;
}

/**
 * Walks a value whose lists and objects may be nested `levels` deep, itself being the first level. Depth is limited, so
 * hostile input cannot exhaust the stack; so is the number of values, also if one object occurs in many places. It
 * refuses what JSON would change: numbers such as 1e999 (Infinity, stored as null), objects that are not plain, and
 * objects with their own `toJSON`.
 */
export function jsonFlaw(value: unknown, levels: number, left: ValuesLeft): JsonFlaw | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "not_finite";
  if (typeof value !== "object" || value === null) return isPlainScalar(value) ? undefined : "not_plain";
  if (levels <= 0) return "too_deep";
  if (!Array.isArray(value) && !isPlainObject(value)) return "not_plain";
  let found: JsonFlaw | undefined;
  if (Array.isArray(value)) {
    for (const item of value) {
      const flaw = memberFlaw(item, levels, left);
      if (flaw === "not_finite") found = flaw;
      else if (flaw !== undefined) return flaw;
    }
    return found;
  }
  // `Object.values` takes ten times as long for few values, and three times for many.
  for (const name in value) {
    const flaw = memberFlaw((value as { readonly [name: string]: unknown })[name], levels, left);
    if (flaw === "not_finite") found = flaw;
    else if (flaw !== undefined) return flaw;
  }
  return found;
}

function memberFlaw(item: unknown, levels: number, left: ValuesLeft): JsonFlaw | undefined {
  left.values -= 1;
  if (left.values < 0) return "too_wide";
  return typeof item === "string" ? undefined : jsonFlaw(item, levels - 1, left);
}

function isPlainScalar(value: unknown): boolean {
  return value === null || value === undefined || typeof value === "string" || typeof value === "boolean";
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return typeof (value as { readonly toJSON?: unknown }).toJSON !== "function";
}

/** Equality of JSON values; the order of an object's keys does not matter. */
export function jsonEquals(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  // JSON writes negative zero as 0.
  if (typeof left === "number" && typeof right === "number") return left === right;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, i) => jsonEquals(item, right[i]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && jsonEquals(left[key], right[key]));
}

/** Whether a text is one JSON value. */
export function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}
