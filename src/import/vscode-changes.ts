// The log of changes in which VS Code stores a document: whole states, values that are set, lists that grow or are cut, and values
// that are deleted.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";

/** Kinds of changes, as the log numbers them. */
const INITIAL = 0;
const SET = 1;
const PUSH = 2;
const DELETE = 3;
/** No document has paths as long as this. */
const PATH_MAX = 64;

type Change = JsonObject & { readonly kind: number };
type Mutable = { [name: string]: JsonValue } | JsonValue[];

export function isChange(record: JsonObject): record is Change {
  return [INITIAL, SET, PUSH, DELETE].includes(record.kind as number);
}

/** The state after a change, which is made in place; undefined if its path leads nowhere. */
export function applyChange(state: JsonValue, change: Change): { readonly state: JsonValue } | undefined {
  if (change.kind === INITIAL) return { state: change.v ?? {} };
  const path = pathOf(change.k);
  const last = path?.at(-1);
  if (path === undefined) return undefined;
  if (last === undefined) return change.kind === SET ? { state: change.v ?? {} } : undefined;
  const parent = valueAt(state, path.slice(0, -1));
  if (parent === undefined || !mayHave(parent, last)) return undefined;
  if (change.kind === PUSH) {
    const list = Object.hasOwn(parent, last) ? (parent as { [name: string]: JsonValue })[last] : undefined;
    if (list !== undefined && !Array.isArray(list)) return undefined;
    const kept = typeof change.i === "number" ? (list ?? []).slice(0, Math.max(0, change.i)) : (list ?? []);
    return set(state, parent, last, [...kept, ...(Array.isArray(change.v) ? change.v : [])]);
  }
  if (change.kind === SET && change.v !== undefined) return set(state, parent, last, change.v);
  if (Array.isArray(parent)) return set(state, parent, last, null);
  delete parent[last];
  return { state };
}

function set(
  state: JsonValue,
  parent: Mutable,
  name: string | number,
  value: JsonValue,
): { readonly state: JsonValue } {
  (parent as { [name: string]: JsonValue })[name] = value;
  return { state };
}

function pathOf(path: JsonValue | undefined): readonly (string | number)[] | undefined {
  if (!Array.isArray(path) || path.length > PATH_MAX) return undefined;
  return path.every((name) => typeof name === "string" || typeof name === "number") ? path : undefined;
}

function valueAt(state: JsonValue, path: readonly (string | number)[]): Mutable | undefined {
  let value: JsonValue | undefined = state;
  for (const name of path) {
    if (!isMutable(value) || !Object.hasOwn(value, name)) return undefined;
    value = (value as { [name: string]: JsonValue })[name];
  }
  return isMutable(value) ? value : undefined;
}

function isMutable(value: JsonValue | undefined): value is Mutable & JsonValue {
  return Array.isArray(value) || isJsonObject(value);
}

/** A list has no gaps, and nothing changes what objects are made of. */
function mayHave(parent: Mutable, name: string | number): boolean {
  if (name === "__proto__") return false;
  if (!Array.isArray(parent)) return true;
  return typeof name === "number" && Number.isInteger(name) && name >= 0 && name <= parent.length;
}
