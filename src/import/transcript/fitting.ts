// Texts that are longer than an entry may be: their beginning is kept, and how long they were.

import { isJsonObject, type JsonValue } from "../../model/json.js";
import { limits } from "../../model/limits.js";

/** The rest of the entry has room, too. */
const TEXT_BYTES_MAX = limits.entry_bytes - 1024 * 1024;
/** The most bytes of a character in JSON. */
const JSON_BYTES_PER_CHAR = 6;
const NEXT_TRY = 0.95;

export interface Fitted {
  readonly value: unknown;
  /** The bytes of the whole text; undefined where it fits. */
  readonly truncated: number | undefined;
}

/** A content or a result whose longest text is cut where it does not fit. */
export function fitted(value: unknown): Fitted {
  if (typeof value === "string") return cut(value);
  if (!Array.isArray(value)) return { value, truncated: undefined };
  let truncated: number | undefined;
  const blocks = (value as readonly JsonValue[]).map((block) => {
    if (!isJsonObject(block) || typeof block.text !== "string") return block;
    const text = cut(block.text);
    if (text.truncated === undefined) return block;
    truncated = (truncated ?? 0) + text.truncated;
    return { ...block, text: text.value as string };
  });
  return truncated === undefined ? { value, truncated } : { value: blocks, truncated };
}

function cut(text: string): Fitted {
  if (text.length * JSON_BYTES_PER_CHAR <= TEXT_BYTES_MAX || jsonBytes(text) <= TEXT_BYTES_MAX) {
    return { value: text, truncated: undefined };
  }
  let kept = text;
  while (jsonBytes(kept) > TEXT_BYTES_MAX) {
    const share = (TEXT_BYTES_MAX / jsonBytes(kept)) * NEXT_TRY;
    // Never inside a surrogate pair.
    kept = kept.slice(0, Math.floor(kept.length * share)).replace(/[\ud800-\udbff]$/, "");
  }
  return { value: kept, truncated: Buffer.byteLength(text) };
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
