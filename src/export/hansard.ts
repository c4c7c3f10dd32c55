// Hansard's own form: a line about the log, then a line for each entry, with all that its hash was made from.
import { isUtf8 } from "node:buffer";
import { parseBody } from "../model/body.js";
import { hexOf } from "../model/hex.js";
import type { Head, StoredEntry } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import type { ExportFilter } from "./export-query.js";
import { type ExportParts, readable, selectEntries } from "./selection.js";

const VERSION = 1;

export async function* exportHansard(
  parts: ExportParts,
  options: { readonly filter: ExportFilter; readonly masked: boolean; readonly head: Head },
): AsyncGenerator<string> {
  const { filter, masked, head } = options;
  const whole = Object.keys(filter).length === 0 && !masked;
  const { log_id, position, hash } = head;
  yield `${JSON.stringify({ hansard: VERSION, log_id, position, hash: hexOf(hash), whole, ...(masked ? { masked } : {}) })}\n`;
  for await (const stored of selectEntries(parts, options)) {
    yield masked ? maskedLine(stored, parts.mask) : hansardLine(stored);
  }
}

/** What is masked has another hash than what was recorded, so that it carries the commitment in place of the salt. */
function maskedLine(stored: StoredEntry, mask: Mask): string {
  if (stored.body === undefined || readable(stored) === undefined) return hansardLine(stored);
  const { position, kind, recorded_at } = stored;
  const chained = { position, kind, recorded_at, hash: hexOf(stored.hash), commitment: hexOf(stored.commitment) };
  return `${JSON.stringify({ ...chained, ...mask.entry(parseBody(position, stored.body)) })}\n`;
}

/** The body's text stands on the line as it is stored, its keys beside those of the chain. */
function hansardLine(stored: StoredEntry): string {
  const { position, kind, recorded_at, salt, body } = stored;
  const chained = { position, kind, recorded_at, hash: hexOf(stored.hash) };
  if (salt === undefined || body === undefined) {
    const { flaw } = stored;
    const left = { ...chained, commitment: hexOf(stored.commitment) };
    return `${JSON.stringify(flaw === undefined ? { ...left, erased: true } : { ...left, flaw })}\n`;
  }
  const text = isUtf8(body) && readable(stored) !== undefined ? Buffer.from(body).toString("utf8") : undefined;
  if (text === undefined || !text.startsWith('{"') || text.includes("\n")) {
    const flaw = "its body is damaged and was left out";
    return `${JSON.stringify({ ...chained, commitment: hexOf(stored.commitment), flaw })}\n`;
  }
  return `${JSON.stringify({ ...chained, salt: hexOf(salt) }).slice(0, -1)},${text.slice(1)}\n`;
}
