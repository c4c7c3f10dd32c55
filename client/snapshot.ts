// A copy of what the agent handed over, taken at once: what it changes afterwards is not what happened. Strings are shared,
// so that this costs by the number of values and not by their length; they are written as JSON later.

export type Fields = { readonly [name: string]: unknown };

/**
 * Never throws, and neither does writing the copy as JSON: what JSON has no words for is put into words, since an argument
 * that does not serialise is no reason to lose the call that it was given to.
 */
export function snapshot(value: unknown): unknown {
  return copyOf(value, []);
}

/** The server takes 200. */
const LEVELS_MAX = 190;

/** `parents` is one list for all of the walk, which is longer on the way down and shorter on the way up. */
function copyOf(value: unknown, parents: unknown[]): unknown {
  if (isOneWord(value)) return value;
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "symbol") return `[${value.toString()}]`;
  if (typeof value === "function") return `[function ${inWords(() => value.name)}]`;
  if (parents.includes(value)) return "[circular]";
  if (parents.length > LEVELS_MAX) return "[too deep]";
  parents.push(value);
  try {
    return copyOfObject(value as object, parents);
  } catch (error) {
    return notSerialisable(error);
  } finally {
    parents.pop();
  }
}

function isOneWord(value: unknown): boolean {
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" || value === null || value === undefined;
}

function copyOfObject(value: object, parents: unknown[]): unknown {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return copyOf(inText(value), parents);
  const { toJSON } = value as { readonly toJSON?: unknown };
  const written: unknown = typeof toJSON === "function" ? toJSON.call(value, "") : value;
  if (written !== value) return copyOf(written, parents);
  if (Array.isArray(value)) return value.map((item) => copyOf(item, parents));
  const prototype: unknown = Object.getPrototypeOf(value);
  const plain = prototype === Object.prototype || prototype === null ? value : inPlainWords(value);
  if (plain !== value) return copyOf(plain, parents);
  const copy = valuesOf(value);
  for (const name in copy) {
    const item = copy[name];
    if (isOneWord(item) || !Object.hasOwn(copy, name)) continue;
    // A key called __proto__ is a key like any other.
    if (name !== "__proto__") copy[name] = copyOf(item, parents);
    else Object.defineProperty(copy, name, { ...OWN, value: copyOf(item, parents) });
  }
  return copy;
}

/** Its own properties; one that cannot be read is put into words, and costs no other. */
function valuesOf(value: object): { [name: string]: unknown } {
  try {
    return { ...value };
  } catch {
    return Object.fromEntries(Object.keys(value).map((name) => [name, readValue(value, name)]));
  }
}

function readValue(value: object, name: string): unknown {
  try {
    return (value as Fields)[name];
  } catch (error) {
    return notSerialisable(error);
  }
}

function notSerialisable(error: unknown): string {
  return `[not serialisable: ${inWords(() => (error instanceof Error ? error.message : error))}]`;
}

/** Names and errors are the agent's too: reading them may fail, and they may be what has no words. */
function inWords(value: () => unknown): string {
  try {
    return String(value());
  } catch {
    return "no words";
  }
}

/** How a key called `__proto__` is set, and nothing else with it. */
export const OWN = { enumerable: true, writable: true, configurable: true } as const;

/** Bytes in base64, as providers take pictures, and other arrays as lists: JSON would name each of their items. */
function inText(value: ArrayBufferView | ArrayBuffer): unknown {
  if (!(value instanceof ArrayBuffer || value instanceof Uint8Array || value instanceof DataView)) {
    return Array.from(value as unknown as ArrayLike<unknown>);
  }
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : viewOf(value);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHARS_AT_ONCE) {
    text += String.fromCharCode(...bytes.subarray(at, at + CHARS_AT_ONCE));
  }
  return btoa(text);
}

const CHARS_AT_ONCE = 8_192;

function viewOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** What JSON would keep nothing of. */
function inPlainWords(value: object): unknown {
  if (value instanceof Error) return String(value);
  if (value instanceof Map || value instanceof Set) return [...value];
  if (value instanceof String || value instanceof Number || value instanceof Boolean) return value.valueOf();
  return value;
}
