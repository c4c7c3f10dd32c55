// Verify: walks the chain from the first entry and reports the first position that is not as recorded. Claims, noted
// erasures, triggers, and heads known from index and seals are checked as well.

import { erasedBy } from "../model/body.js";
import { ChainWalk, type Flaw, isWhole, missingAt } from "../model/chain.js";
import { claimKey } from "../model/claims.js";
import { hexOf } from "../model/hex.js";
import type { Contradiction, KnownHead, Verification } from "../model/verification.js";
import type { EntryLog, Erasure, Guards } from "./port.js";
import { ClaimReader, walkLog } from "./walk-log.js";

export interface VerifyOptions {
  readonly onProgress?: (through: number) => void;
}

const BATCH_BYTES = 8 * 1024 * 1024;
const ERASURES = 10_000;
const BODIES_AT_ONCE = 200;

export async function verify(log: EntryLog, options: VerifyOptions = {}): Promise<Verification> {
  const walk = new ChainWalk();
  let broken: Flaw | undefined;
  for (let end = (await log.head()).position; walk.position < end && broken === undefined; ) {
    broken = await walkTo(end, { log, walk, ...options });
    // Entries erased during the walk are named by a redaction behind its initial end.
    if (walk.lostBefore(end + 1) !== undefined) end = (await log.head()).position;
  }
  if (broken !== undefined) await redactBehind(log, walk, broken);
  const warnings = warningsOf(await log.guards());
  const flaws = [
    broken,
    walk.lostBefore(broken?.position ?? Number.POSITIVE_INFINITY),
    await firstPutBack(log, walk),
    await erasureFlaw(log, walk),
    broken === undefined ? await log.findOrphan() : undefined,
  ].filter((flaw) => flaw !== undefined);
  const [first] = flaws.toSorted((left, right) => left.position - right.position);
  if (first !== undefined) return { ok: false, ...first, ...(await holdersOf(log, first)), ...warnings.told };
  if (warnings.foreign !== undefined) return { ok: false, ...warnings.foreign, ...warnings.told };
  const { position, erased } = walk;
  return { ok: true, entries: position, erased, position, hash: hexOf(walk.hash), ...warnings.told };
}

async function walkTo(
  end: number,
  { log, walk, onProgress }: VerifyOptions & { readonly log: EntryLog; readonly walk: ChainWalk },
): Promise<Flaw | undefined> {
  const claims = new ClaimReader(log);
  for await (const batch of walkLog(log, { after: walk.position, through: end, bytes_max: BATCH_BYTES })) {
    for (const stored of batch) {
      const flaw = walk.step(stored, (await claims.of(stored.position)).map(claimKey));
      if (flaw !== undefined) return flaw;
    }
    onProgress?.(walk.position);
  }
  return walk.position < end ? missingAt(walk.position + 1) : undefined;
}

/**
 * A body missing without a redaction may come before the flaw. The redaction that names it may follow it, where the
 * chain no longer holds; one that is intact and fits its neighbour still distinguishes erased from lost.
 */
async function redactBehind(log: EntryLog, walk: ChainWalk, flaw: Flaw): Promise<void> {
  if (walk.lostBefore(flaw.position) === undefined) return;
  let previous: Uint8Array | undefined;
  for await (const batch of walkLog(log, { after: flaw.position - 1, bytes_max: BATCH_BYTES })) {
    for (const stored of batch) {
      if (previous !== undefined && stored.kind === "redaction" && isWhole(stored, previous)) walk.redact(stored);
      previous = stored.hash;
    }
    if (walk.lostBefore(flaw.position) === undefined) return;
  }
}

/** Bodies may have been erased since the walk passed them; those that still exist were restored. */
async function firstPutBack(log: EntryLog, walk: ChainWalk): Promise<Flaw | undefined> {
  const positions = [...walk.named].filter((position) => position <= walk.position).toSorted((a, b) => a - b);
  for (let used = 0; used < positions.length; used += BODIES_AT_ONCE) {
    const stored = await log.get(positions.slice(used, used + BODIES_AT_ONCE));
    const back = stored.find((one) => one?.body !== undefined || one?.flaw !== undefined);
    if (back !== undefined)
      return { position: back.position, reason: "a redaction erased the body, but it exists again" };
  }
  return undefined;
}

/** All entries damaged by the same shared part. */
async function holdersOf(log: EntryLog, { position }: Flaw): Promise<{ readonly holders?: readonly number[] }> {
  const sharing = position === 0 ? [] : ((await log.positionsSharing?.(position)) ?? []);
  const holders: number[] = [];
  for (const one of sharing) {
    const [stored] = await log.getBodies([one]);
    if (stored?.flaw !== undefined) holders.push(one);
  }
  return holders.length < 2 ? {} : { holders };
}

/** Noted erasures that contradict the redactions of the chain, as far as it was walked. */
async function erasureFlaw(log: EntryLog, walk: ChainWalk): Promise<Flaw | undefined> {
  const open = new Map(walk.redactions);
  for (let after = 0; ; ) {
    const noted = await log.erasures({ after, limit: ERASURES });
    for (const erasure of noted) {
      const { position, redaction } = erasure;
      if (open.get(position) === redaction) open.delete(position);
      else if (position <= walk.position && !(await isBehind(log, walk, erasure))) {
        return { position, reason: "the note of its erasure contradicts the redactions" };
      }
    }
    const last = noted.at(-1);
    if (last === undefined || noted.length < ERASURES) break;
    after = last.position;
  }
  const unnoted = [...open.keys()].filter((position) => position <= walk.position);
  if (unnoted.length === 0) return undefined;
  const position = unnoted.reduce((least, one) => Math.min(least, one));
  return { position, reason: "a redaction erased the entry, but the note of that is missing" };
}

/** Whether a later redaction names the entry: just appended, or behind a flaw. */
async function isBehind(log: EntryLog, walk: ChainWalk, { position, redaction }: Erasure): Promise<boolean> {
  if (redaction <= walk.position || walk.redactions.has(position)) return false;
  const [stored] = await log.get([redaction]);
  return stored !== undefined && erasedBy(stored).includes(position);
}

function warningsOf({ missing, foreign }: Guards): {
  readonly told: { readonly warnings?: readonly ["trigger_missing"] };
  readonly foreign: Flaw | undefined;
} {
  const reason = `triggers or tables that protect the log were changed: ${foreign.join(", ")}`;
  return {
    told: missing.length === 0 ? {} : { warnings: ["trigger_missing"] },
    foreign: foreign.length === 0 ? undefined : { position: 0, reason },
  };
}

/** The first position that contradicts a known head; undefined if the log contains all. */
export async function contradictionOf(log: EntryLog, known: readonly KnownHead[]): Promise<Contradiction | undefined> {
  if (known.length === 0) return undefined;
  const head = await log.head();
  const stored = await log.get(known.map(({ position }) => position));
  const contradictions = known.flatMap((one, nth): readonly Contradiction[] => {
    if (one.log_id !== head.log_id) return [{ position: 1, known: one }];
    if (one.position > head.position) return [{ position: head.position + 1, known: one }];
    const found = stored[nth];
    const isHeld = found !== undefined && hexOf(found.hash) === one.hash;
    return isHeld || one.position === 0 ? [] : [{ position: one.position, known: one }];
  });
  return contradictions.toSorted((left, right) => left.position - right.position)[0];
}

/** The contradiction in a sentence. */
export function contradictionText(
  { known }: Contradiction,
  log: { readonly log_id: string; readonly position: number },
): string {
  const by = { index: "its index", seal: "its newest seal" }[known.by];
  if (known.log_id !== log.log_id) return `the log was replaced: ${by} knows a log with the id ${known.log_id}`;
  if (log.position < known.position) {
    return `the log was truncated: ${by} knows entries through ${known.position}, and it ends at ${log.position}`;
  }
  return `the log was rewritten: ${by} knows another entry at position ${known.position}`;
}
