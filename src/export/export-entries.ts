// Export: the chosen entries in the chosen format, as a stream, so the size of the log does not matter.

import { EXPORT_VERSION } from "../import/export-check.js";
import type { Head, StoredEntry } from "../log/port.js";
import { ClaimReader } from "../log/walk-log.js";
import { parseBody } from "../model/body.js";
import { claimKey } from "../model/claims.js";
import { hexOf } from "../model/hex.js";
import type { Mask } from "../model/mask.js";
import { exportAtif } from "./atif.js";
import type { ExportFilter, ExportQuery } from "./exports.js";
import { exportMarkdown } from "./markdown.js";
import { type ExportParts, selectEntries } from "./selection.js";
import { exportNanobot, exportTimmy } from "./session-files.js";

export async function* exportEntries(parts: ExportParts, query: ExportQuery): AsyncGenerator<string> {
  // What arrives from here on is not part of it.
  const head = await parts.log.head();
  switch (query.format) {
    case "hansard":
      return yield* exportHansard(parts, { filter: query.filter, masked: query.masked, head });
    case "nanobot":
      return yield* exportNanobot(parts, { query, head });
    case "timmy":
      return yield* exportTimmy(parts, { query, head });
    case "markdown":
      return yield* exportMarkdown(parts, { query, head });
    case "atif":
      return yield* exportAtif(parts, { query, head });
    default:
      return query.format satisfies never;
  }
}

/** Hansard's own format: a line about the log, then a line for each entry with everything that its hash covers. */

async function* exportHansard(
  parts: ExportParts,
  options: { readonly filter: ExportFilter; readonly masked: boolean; readonly head: Head },
): AsyncGenerator<string> {
  const { filter, masked, head } = options;
  const whole = Object.keys(filter).length === 0 && !masked;
  const { log_id, position, hash } = head;
  yield `${JSON.stringify({ hansard: EXPORT_VERSION, log_id, position, hash: hexOf(hash), whole, ...(masked ? { masked } : {}) })}\n`;
  const claims = new ClaimReader(parts.log);
  for await (const stored of selectEntries(parts, options)) {
    if (stored.body === undefined) yield bodilessLine(stored, await claims.of(stored.position));
    else yield masked ? maskedLine(stored, parts.mask) : hansardLine(stored);
  }
}

/** What the chain holds of an entry, except its body; entries of the first format do not name their recorder. */
function chainedOf({ position, kind, recorded_at, recorded_by, hash }: StoredEntry): object {
  return { position, kind, recorded_at, ...(recorded_by === undefined ? {} : { recorded_by }), hash: hexOf(hash) };
}

/** An erased entry carries the keys of its claims, which its hash covers and which stay taken wherever it goes. */
function bodilessLine(stored: StoredEntry, claims: readonly string[]): string {
  const { flaw } = stored;
  const left = { ...chainedOf(stored), commitment: hexOf(stored.commitment) };
  const keys = claims.map((claim) => hexOf(claimKey(claim)));
  return `${JSON.stringify(flaw === undefined ? { ...left, erased: true, claims: keys } : { ...left, flaw })}\n`;
}

/** A masked body has another hash than the recorded one, so the line has the commitment in place of the salt. */
function maskedLine(stored: StoredEntry, mask: Mask): string {
  const body = mask.entry(parseBody(stored.position, stored.body as Uint8Array));
  return `${JSON.stringify({ ...chainedOf(stored), commitment: hexOf(stored.commitment), ...body })}\n`;
}

/** A line has the body's text as it is stored; its keys come next to those of the chain. */
function hansardLine(stored: StoredEntry): string {
  const { salt, body } = stored as StoredEntry & { readonly salt: Uint8Array; readonly body: Uint8Array };
  const text = Buffer.from(body).toString("utf8");
  return `${JSON.stringify({ ...chainedOf(stored), salt: hexOf(salt) }).slice(0, -1)},${text.slice(1)}\n`;
}
