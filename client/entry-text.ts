// An entry as one line of JSON, taken as it is at this moment: what the agent changes afterwards is not what happened.

export type Fields = { readonly [name: string]: unknown };

/**
 * Never throws: what JSON cannot write is written in words, since an argument that does not serialise is no reason to lose
 * the call that it was given to.
 */
export function entryText(fields: Fields): string {
  try {
    return JSON.stringify(fields);
  } catch {
    return JSON.stringify(writable(fields, []));
  }
}

function writable(value: unknown, parents: readonly unknown[]): unknown {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function") return `[function ${value.name}]`;
  if (typeof value === "symbol") return `[${value.toString()}]`;
  if (typeof value !== "object" || value === null) return value;
  if (parents.includes(value)) return "[circular]";
  if (parents.length > LEVELS_MAX) return "[too deep]";
  const within = [...parents, value];
  try {
    const { toJSON } = value as { readonly toJSON?: unknown };
    if (typeof toJSON === "function") return writable(toJSON.call(value), within);
    if (Array.isArray(value)) return value.map((item) => writable(item, within));
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, writable(item, within)]));
  } catch (error) {
    return `[not serialisable: ${error instanceof Error ? error.message : String(error)}]`;
  }
}

/** The server takes 200. */
const LEVELS_MAX = 190;
