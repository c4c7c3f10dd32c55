// Copies a log into another store with the same positions and hashes, and resumes where an earlier copy stopped.
import { parseBody } from "../model/body.js";
import { asRecorded } from "../model/chain.js";
import { claimsOf } from "../model/claims.js";
import { hexOf } from "../model/hex.js";
import type { CopiedEntry, EntryLog, Head, StoredEntry } from "./port.js";
import { ClaimReader, walkLog } from "./walk-log.js";

/** A batch is one commit of the target. */
const BATCH = { entries_max: 1_000, bytes_max: 8 * 1024 * 1024 };

export type CopyOutcome =
  | {
      readonly log_id: string;
      readonly copied: number;
      /** Entries that an earlier copy had brought. */
      readonly existing: number;
      readonly position: number;
      readonly hash: string;
      /** Leftovers of forgotten entries in the target's files, in words. */
      readonly left?: string;
    }
  /** The target has other entries than the source; nothing was changed. */
  | { readonly differs_at: number };

export async function copyLog(parts: {
  readonly from: EntryLog;
  readonly to: EntryLog;
  readonly onProgress?: (progress: { readonly position: number; readonly end: number }) => void;
}): Promise<CopyOutcome> {
  const { from, to, onProgress } = parts;
  const source = await from.head();
  const start = await to.head();
  if (!(await isBeginningOf(start, from, source))) return { differs_at: start.position };
  let position = start.position;
  let hasErased = false;
  const claims = new ClaimReader(from);
  for await (const stored of walkLog(from, { after: position, ...BATCH })) {
    const last = stored.at(-1) as StoredEntry;
    const entries: CopiedEntry[] = [];
    for (const entry of stored)
      entries.push(toCopy(entry, entry.body === undefined ? await claims.of(entry.position) : []));
    const isTaken = await to.restore({ log_id: source.log_id, entries });
    // Another program has written to the target.
    if (!isTaken) return { differs_at: position + 1 };
    position = last.position;
    hasErased ||= stored.some(({ kind }) => kind === "redaction");
    onProgress?.({ position, end: Math.max(source.position, position) });
  }
  // Entries from an earlier copy that were forgotten in the source have just been erased here too.
  const left = hasErased ? await to.purge() : undefined;
  const { log_id, hash } = await to.head();
  return {
    log_id,
    copied: position - start.position,
    existing: start.position,
    position,
    hash: hexOf(hash),
    ...(left === undefined ? {} : { left }),
  };
}

async function isBeginningOf(target: Head, from: EntryLog, source: Head): Promise<boolean> {
  if (target.position === 0) return true;
  if (target.log_id !== source.log_id) return false;
  const [same] = await from.get([target.position]);
  return same !== undefined && Buffer.compare(same.hash, target.hash) === 0;
}

/**
 * A body that does not match its commitment is damage, which a copy must not spread. An erased entry keeps its claims.
 */
function toCopy(stored: StoredEntry, kept: readonly string[]): CopiedEntry {
  const { position, kind, salt, body } = asRecorded(stored);
  if (salt === undefined || body === undefined) return { ...stored, claims: kept };
  return { ...stored, claims: claimsOf(kind, parseBody(position, body)) };
}
