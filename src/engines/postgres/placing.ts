// Placing a batch: which units go in, at which positions and with which hashes, once the taken claims are known.

import type { LogRow } from "../../log/log-row.js";
import type { AppendOutcome, AppendUnit, Head, LogEntry, Placement, TakenClaim } from "../../log/port.js";
import { chainHash, commitmentOf } from "../../model/chain.js";
import { claimsDigest } from "../../model/claims.js";
import type { Session } from "./connection.js";
import type { PlacedEntry } from "./log-statements.js";

/** How entries at given positions are read, to see whether they are those of a batch that was in doubt. */
export interface OwnEntries {
  readonly get: (session: Session, positions: readonly number[]) => Promise<readonly LogRow[]>;
}

export interface PlacedBatch {
  readonly outcomes: readonly AppendOutcome[];
  readonly entries: readonly PlacedEntry[];
}

/** Claims that an earlier unit of the batch takes are taken for the later ones. */
export function placeUnits(
  start: Pick<Head, "position" | "hash">,
  units: readonly AppendUnit[],
  taken: ReadonlyMap<string, number>,
  own: ReadonlyMap<AppendUnit, readonly Placement[]> = new Map(),
): PlacedBatch {
  const positionByClaim = new Map(taken);
  const entries: PlacedEntry[] = [];
  let { position, hash: previous } = start;
  const outcomes = units.map((unit): AppendOutcome => {
    const before = own.get(unit);
    if (before !== undefined) return { placed: before };
    const refused = takenClaims(unit, positionByClaim);
    if (refused.length > 0) return { taken: refused };
    const placed = unit.map((entry): Placement => {
      position += 1;
      const commitment = commitmentOf(entry.salt, entry.body);
      const claims_digest = claimsDigest(entry.claims);
      previous = chainHash({ ...entry, claims_digest, commitment, previous, position });
      entries.push({ ...entry, claims_digest, commitment, hash: previous });
      for (const claim of entry.claims) positionByClaim.set(claim, position);
      return { position, hash: previous };
    });
    return { placed };
  });
  return { outcomes, entries };
}

/** The units that an earlier try has appended after all: every entry is there with its own commitment, which has a salt. */
export async function ownPlacements(
  session: Session,
  own: OwnEntries | undefined,
  units: readonly AppendUnit[],
  taken: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<AppendUnit, readonly Placement[]>> {
  const found = new Map<AppendUnit, readonly Placement[]>();
  if (own === undefined || taken.size === 0) return found;
  const rows = await own.get(session, [...new Set(taken.values())]);
  const rowByPosition = new Map(rows.map((row) => [row.position, row]));
  const placementOf = (entry: LogEntry): Placement | undefined => {
    const row = rowByPosition.get(taken.get(entry.claims[0] as string) ?? 0);
    if (row === undefined) return undefined;
    return Buffer.compare(row.commitment, commitmentOf(entry.salt, entry.body)) === 0 ? row : undefined;
  };
  for (const unit of units) {
    const placed = unit.flatMap((entry) => placementOf(entry) ?? []);
    if (unit.length > 0 && placed.length === unit.length) {
      found.set(
        unit,
        placed.map(({ position, hash }) => ({ position, hash })),
      );
    }
  }
  return found;
}

function takenClaims(unit: AppendUnit, positionByClaim: ReadonlyMap<string, number>): readonly TakenClaim[] {
  const taken: TakenClaim[] = [];
  for (const [item, entry] of unit.entries()) {
    for (const claim of entry.claims) {
      const position = positionByClaim.get(claim);
      if (position !== undefined) taken.push({ item, claim, position });
    }
  }
  return taken;
}
