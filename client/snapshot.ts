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
  if (typeof value === "function") return `[function ${value.name}]`;
  if (typeof value === "symbol") return `[${value.toString()}]`;
  if (parents.includes(value)) return "[circular]";
  if (parents.length > LEVELS_MAX) return "[too deep]";
  parents.push(value);
  try {
    return copyOfObject(value as object, parents);
  } catch (error) {
    return `[not serialisable: ${error instanceof Error ? error.message : String(error)}]`;
  } finally {
    parents.pop();
  }
}

function isOneWord(value: unknown): boolean {
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" || value === null || value === undefined;
}

function copyOfObject(value: object, parents: unknown[]): unknown {
  const { toJSON } = value as { readonly toJSON?: unknown };
  const written: unknown = typeof toJSON === "function" ? toJSON.call(value, "") : value;
  if (written !== value) return copyOf(written, parents);
  if (Array.isArray(value)) return value.map((item) => copyOf(item, parents));
  const prototype: unknown = Object.getPrototypeOf(value);
  const plain = prototype === Object.prototype || prototype === null ? value : inPlainWords(value);
  if (plain !== value) return copyOf(plain, parents);
  const copy: { [name: string]: unknown } = { ...value };
  for (const name in copy) {
    const item = copy[name];
    if (isOneWord(item) || !Object.hasOwn(copy, name)) continue;
    // A key called __proto__ is a key like any other.
    if (name !== "__proto__") copy[name] = copyOf(item, parents);
    else Object.defineProperty(copy, name, { ...OWN, value: copyOf(item, parents) });
  }
  return copy;
}

/** How a key called `__proto__` is set, and nothing else with it. */
export const OWN = { enumerable: true, writable: true, configurable: true } as const;

/** What JSON would keep nothing of. */
function inPlainWords(value: object): unknown {
  if (value instanceof Error) return String(value);
  if (value instanceof Map || value instanceof Set) return [...value];
  if (value instanceof String || value instanceof Number || value instanceof Boolean) return value.valueOf();
  return value;
}
