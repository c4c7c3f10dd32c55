// What several dialects write in the same way.
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { shortHash } from "../../model/telemetry.js";
import { type TokenName, tokenNames } from "../../model/usage.js";
import { type Attributes, fromText, numberAt } from "../attributes.js";

/** Counts under our own names; input includes what was cached, as OpenTelemetry defines it. */
export function usageOf(
  attributes: Attributes,
  places: { readonly [N in TokenName]?: readonly string[] },
): JsonObject | undefined {
  const usage: { [name: string]: number } = {};
  for (const name of tokenNames) {
    const count = numberAt(attributes, ...(places[name] ?? []));
    if (count !== undefined && count >= 0) usage[name] = count;
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}

/** Settings of a request: all attributes with a prefix, but for those that have a place of their own. */
export function settingsOf(
  attributes: Attributes,
  prefix: string,
  others: readonly string[] = [],
): JsonObject | undefined {
  const settings: { [name: string]: JsonValue } = {};
  for (const [key, value] of Object.entries(attributes)) {
    const name = key.startsWith(prefix) ? key.slice(prefix.length) : "";
    if (name !== "" && !others.includes(name) && value !== null) settings[name] = value;
  }
  return Object.keys(settings).length === 0 ? undefined : settings;
}

/** Longer names of documents are their hash. */
const ID_CHARS_MAX = 256;
const DOCUMENTS_MAX = 1_000;

/** What documents are known by: their id, where they are from, or a hash of their text. */
export function documentsIn(value: JsonValue | undefined): readonly string[] {
  const given = typeof value === "string" ? fromText(value) : value;
  const list = isJsonObject(given) && Array.isArray(given.documents) ? given.documents : given;
  if (!Array.isArray(list)) return [];
  const ids = (list as readonly JsonValue[]).slice(0, DOCUMENTS_MAX).flatMap((item) => documentId(item) ?? []);
  return [...new Set(ids)];
}

function documentId(item: JsonValue): string | undefined {
  const document = typeof item === "string" ? fromText(item) : item;
  if (!isJsonObject(document)) {
    return document === null || document === "" ? undefined : shortened(String(document));
  }
  const inner = isJsonObject(document.document) ? document.document : document;
  const metadata = isJsonObject(inner.metadata) ? inner.metadata : {};
  const id = [inner.id, inner.document_id, metadata.id, metadata.source].find(isName);
  if (id !== undefined) return shortened(String(id));
  const text = inner.content ?? inner.pageContent ?? inner.page_content ?? inner.text;
  return text === undefined || text === null ? undefined : `sha256:${shortHash(JSON.stringify(text))}`;
}

function isName(value: JsonValue | undefined): value is string | number {
  return (typeof value === "string" && value !== "") || typeof value === "number";
}

function shortened(name: string): string {
  return name.length > ID_CHARS_MAX ? `sha256:${shortHash(name)}` : name;
}

/** The most items that a flattened list may have. */
const ITEMS_MAX = 10_000;

/** A list that was flattened into attributes: `NAME.0.role`, `NAME.0.content`, `NAME.1.role` … */
export function flattenedList(attributes: Attributes, name: string): readonly JsonObject[] {
  const items = new Map<number, { [key: string]: JsonValue }>();
  const prefix = `${name}.`;
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(prefix)) continue;
    const dot = key.indexOf(".", prefix.length);
    const digits = key.slice(prefix.length, dot === -1 ? undefined : dot);
    const nth = /^\d{1,5}$/.test(digits) ? Number(digits) : -1;
    if (nth < 0 || dot === -1 || (items.size >= ITEMS_MAX && !items.has(nth))) continue;
    const item = items.get(nth) ?? {};
    items.set(nth, item);
    Object.defineProperty(item, key.slice(dot + 1), { value, enumerable: true, configurable: true });
  }
  return [...items].sort(([one], [other]) => one - other).map(([, item]) => item);
}
