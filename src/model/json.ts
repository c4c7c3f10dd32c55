// JSON values as types, and the two checks that hostile JSON needs before anything else touches it.

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Whether lists and objects are nested at most `levels` deep, `value` itself being the first level.
 * The recursion is bounded by `levels`, so that a hostile depth cannot exhaust the stack.
 */
export function isNestedWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels <= 0) return false;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === "object" && item !== null && !isNestedWithin(item, levels - 1)) return false;
    }
    return true;
  }
  for (const key in value) {
    const item = (value as { readonly [key: string]: unknown })[key];
    if (typeof item === "object" && item !== null && !isNestedWithin(item, levels - 1)) return false;
  }
  return true;
}

/** Equality of JSON values; the order of an object's keys carries no meaning in JSON and is ignored. */
export function jsonEquals(left: unknown, right: unknown): boolean {
  if (Object.is(left, right)) return true;
  // JSON has no negative zero worth telling apart: it is written as 0.
  if (typeof left === "number" && typeof right === "number") return left === right;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, i) => jsonEquals(item, right[i]));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && jsonEquals(left[key], right[key]));
}
