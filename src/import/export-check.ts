// Verifies an export against its own chain before anything is imported: every line of a complete export, and each pair
// of consecutive entries of a partial one.
import { ChainWalk, chainHash, commitmentOf, type Flaw, HASH_BYTES, SALT_BYTES } from "../model/chain.js";
import { claimFromKey, claimKey, claimsDigest, claimsOf } from "../model/claims.js";
import { hexOf } from "../model/hex.js";
import type { JsonObject } from "../model/json.js";
import { isCaptureKind, isReservedKind } from "../model/kinds.js";
import type { Verification } from "../model/verification.js";
import type { SourceRecord } from "./importer.js";
import { EXPORTED_LEVELS_MAX, oneByOne, readRecords } from "./lines.js";
import { isReadFailure, openFile, reasonOf } from "./source-files.js";

/** As in verifying a log, with the line of a flaw; line 0 means the file. */
export type ExportVerification = Verification & { readonly line?: number };

export async function verifyExport(
  records: AsyncIterable<Iterable<SourceRecord>>,
  /** Whether unreadable lines of a partial export are skipped, as an import does. */
  options: { readonly skips_bad_lines: boolean },
): Promise<ExportVerification> {
  let part: Part = new PartialSection({ ...options, hasHeader: false });
  let last = 0;
  for await (const item of oneByOne(records)) {
    const flaw = "reason" in item ? part.unreadable(item.reason) : undefined;
    if (flaw !== undefined) return { ok: false, ...flaw, line: item.line };
    if (!("record" in item)) continue;
    if (isHeader(item.record)) {
      // A file may contain several exports in a row.
      const unfinished = last === 0 ? undefined : part.end();
      if (unfinished !== undefined) return { ok: false, ...unfinished, line: last };
      const reason = formFlaw(item.record);
      if (reason !== undefined) return { ok: false, position: 0, reason, line: item.line };
      part =
        item.record.whole === true
          ? new CompleteSection(item.record)
          : new PartialSection({ ...options, hasHeader: true });
    } else {
      const entry = parseLine(item.record);
      const found = entry === undefined ? part.unreadable("the line is not an entry of an export") : part.take(entry);
      if (found !== undefined) return { ok: false, ...found, line: item.line };
    }
    last = item.line;
  }
  const unfinished = part.end();
  return unfinished === undefined ? part.result() : { ok: false, ...unfinished, line: last };
}

/** Why this version cannot read an export with this header. */
export function formFlaw({ hansard }: JsonObject): string | undefined {
  if (Number(hansard) <= EXPORT_VERSION) return undefined;
  return `the export has format version ${hansard}; this version of Hansard reads up to ${EXPORT_VERSION}`;
}

const NO_EXPORT = "it contains no line of a Hansard export";

interface Part {
  take(entry: ExportedEntry): Flaw | undefined;
  unreadable(reason: string): Flaw | undefined;
  end(): Flaw | undefined;
  result(): Verification;
}

/** A complete export: verified like the log itself. */
class CompleteSection implements Part {
  readonly #walk = new ChainWalk();
  readonly #header: JsonObject;

  constructor(header: JsonObject) {
    this.#header = header;
  }

  take(entry: ExportedEntry): Flaw | undefined {
    // The line of an erased entry has its claims; those of others follow from the body.
    const isErased = entry.body === undefined && entry.recorded_by !== undefined;
    return this.#walk.step(entry, isErased ? entry.claims.map(claimKey) : undefined);
  }

  unreadable(reason: string): Flaw {
    return { position: this.#walk.position + 1, reason };
  }

  end(): Flaw | undefined {
    const { position, hash, named } = this.#walk;
    const lost = this.#walk.lostBefore(Number.POSITIVE_INFINITY);
    const [back] = [...named].toSorted((left, right) => left - right);
    if (lost !== undefined) return lost;
    if (back !== undefined) return { position: back, reason: "a redaction erased the body, but it exists again" };
    if (position !== this.#header.position) {
      return {
        position: position + 1,
        reason: `the file ends at position ${position}; the log had ${this.#header.position} entries`,
      };
    }
    return hexOf(hash) === this.#header.hash
      ? undefined
      : { position, reason: "the first line has another hash than the last" };
  }

  result(): Verification {
    const { position, erased, hash } = this.#walk;
    return { ok: true, entries: position, erased, position, hash: hexOf(hash) };
  }
}

/** A partial export: only consecutive entries can be compared. */
class PartialSection implements Part {
  readonly #options: { readonly skips_bad_lines: boolean; readonly hasHeader: boolean };
  #last: ExportedEntry | undefined;
  #entries = 0;
  #erased = 0;

  constructor(options: { readonly skips_bad_lines: boolean; readonly hasHeader: boolean }) {
    this.#options = options;
  }

  take(entry: ExportedEntry): Flaw | undefined {
    const previous = this.#last;
    const isNext = previous !== undefined && entry.position === previous.position + 1;
    if (isNext && Buffer.compare(chainHash({ ...entry, previous: previous.hash }), entry.hash) !== 0) {
      return { position: entry.position, reason: "the entry does not fit the one before it" };
    }
    this.#last = entry;
    this.#entries += 1;
    if (entry.body === undefined && entry.flaw === undefined) this.#erased += 1;
    return undefined;
  }

  unreadable(reason: string): Flaw | undefined {
    const position = (this.#last?.position ?? 0) + 1;
    this.#last = undefined;
    return this.#options.skips_bad_lines ? undefined : { position, reason };
  }

  end(): Flaw | undefined {
    const isNone = this.#entries === 0 && !this.#options.hasHeader;
    return isNone && !this.#options.skips_bad_lines ? { position: 0, reason: NO_EXPORT } : undefined;
  }

  result(): Verification {
    const position = this.#last?.position ?? 0;
    const hash = hexOf(this.#last?.hash ?? new Uint8Array());
    return { ok: true, entries: this.#entries, erased: this.#erased, position, hash };
  }
}

/** Checks an exported file without a store; `-` is standard input. */
export async function verifyFile(path: string): Promise<ExportVerification | { readonly unreadable: string }> {
  const opened = await openFile(path, process.stdin as AsyncIterable<Buffer>);
  if ("reason" in opened) return { unreadable: opened.reason };
  try {
    return await verifyExport(readRecords(opened.chunks(), EXPORTED_LEVELS_MAX), { skips_bad_lines: false });
  } catch (error) {
    if (!isReadFailure(error)) throw error;
    return { unreadable: reasonOf(error) };
  } finally {
    await opened.close();
  }
}

/**
 * The version that is written, and the newest that is read. The first one has neither the key that recorded an entry nor the
 * claims of an erased one.
 */
export const EXPORT_VERSION = 2;
const KEY_BYTES_MIN = 16;

export interface ExportedEntry {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly recorded_by: string | undefined;
  readonly claims_digest: Uint8Array | undefined;
  readonly hash: Uint8Array;
  readonly commitment: Uint8Array;
  readonly salt: Uint8Array | undefined;
  /** The parsed body, and its original bytes. */
  readonly fields: JsonObject | undefined;
  readonly body: Uint8Array | undefined;
  readonly claims: readonly string[];
  /** Why there is no body although it was not erased. */
  readonly flaw: string | undefined;
}

export function isHeader(record: JsonObject): boolean {
  return typeof record.hansard === "number" && typeof record.log_id === "string";
}

export function parseLine(record: JsonObject): ExportedEntry | undefined {
  const { position, kind, recorded_at, recorded_by, hash, salt, commitment, erased, flaw, claims, ...fields } = record;
  if (!Number.isSafeInteger(position) || typeof kind !== "string" || typeof recorded_at !== "string") return undefined;
  if (recorded_by !== undefined && typeof recorded_by !== "string") return undefined;
  const hashBytes = bytesOf(hash, HASH_BYTES);
  if (hashBytes === undefined || !(isCaptureKind(kind) || isReservedKind(kind))) return undefined;
  const saltBytes = bytesOf(salt, SALT_BYTES);
  const hasBody = saltBytes !== undefined && typeof fields.id === "string";
  const body = hasBody ? Buffer.from(JSON.stringify(fields)) : undefined;
  const bound =
    saltBytes !== undefined && body !== undefined ? commitmentOf(saltBytes, body) : bytesOf(commitment, HASH_BYTES);
  const taken = hasBody ? claimsOf(kind, fields) : keptClaims(claims);
  if (bound === undefined || taken === undefined) return undefined;
  return {
    position: position as number,
    kind,
    recorded_at,
    recorded_by,
    hash: hashBytes,
    commitment: bound,
    claims_digest: recorded_by === undefined ? undefined : claimsDigest(taken),
    salt: hasBody ? saltBytes : undefined,
    body,
    fields: hasBody ? fields : undefined,
    claims: taken,
    flaw: !hasBody && typeof flaw === "string" ? flaw : undefined,
  };
}

function keptClaims(given: unknown): readonly string[] | undefined {
  if (given === undefined) return [];
  if (!Array.isArray(given)) return undefined;
  const keys = given.map((key) => bytesOf(key, KEY_BYTES_MIN) ?? bytesOf(key, HASH_BYTES));
  return keys.every((key) => key !== undefined) ? keys.map(claimFromKey) : undefined;
}

function bytesOf(hex: unknown, count: number): Uint8Array | undefined {
  return typeof hex === "string" && /^[0-9a-f]+$/.test(hex) && hex.length === 2 * count
    ? Buffer.from(hex, "hex")
    : undefined;
}
