// A line of Hansard's own export taken apart: what the chain knows of an entry, and its body where that is not gone.
import { commitmentOf, HASH_BYTES, SALT_BYTES } from "../model/chain.js";
import { claimFromKey, claimsDigest, claimsOf } from "../model/claims.js";
import type { JsonObject } from "../model/json.js";
import { isCaptureKind, isReservedKind } from "../model/kinds.js";

/**
 * The form that is written, and the newest that is read; the first one knows neither who brought an entry nor what an erased
 * one had claimed.
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
  /** The body as it parses, and as its bytes were. */
  readonly fields: JsonObject | undefined;
  readonly body: Uint8Array | undefined;
  readonly claims: readonly string[];
  /** Why there is no body, where it was not erased. */
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
