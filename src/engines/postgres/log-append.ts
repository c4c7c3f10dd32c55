// Appending on PostgreSQL: one batch after the other, where its entries go, and the partitions that hold their bodies.

import type { LogRow } from "../../log/log-row.js";
import type { AppendOutcome, AppendUnit, Head, LogEntry, Placement, TakenClaim } from "../../log/port.js";
import { chainHash, commitmentOf } from "../../model/chain.js";
import { claimsDigest } from "../../model/claims.js";
import type { Connections, Session } from "./driver.js";
import type { PlacedEntry } from "./log-rows.js";
import { createPartition, PARTITION_POSITIONS } from "./log-schema.js";

/** Reads entries at positions, to tell whether they are those of an uncertain batch. */
export interface OwnEntries {
  readonly get: (session: Session, positions: readonly number[]) => Promise<readonly LogRow[]>;
}

export interface PlacedBatch {
  readonly outcomes: readonly AppendOutcome[];
  readonly entries: readonly PlacedEntry[];
}

/** Claims of an earlier unit of the batch count as taken for later ones. */
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

/** Units that an earlier attempt did append: every entry is there with our commitment, which includes a salt. */
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

const LOCK_SQL = "SELECT pg_advisory_xact_lock(hashtextextended('hansard partitions ' || current_schema(), 0))";

export class Partitions {
  readonly #connections: Connections;
  readonly #positions: number;
  #through = 0;
  #making: Promise<void> | undefined;

  constructor(connections: Connections, positions = PARTITION_POSITIONS) {
    this.#connections = connections;
    this.#positions = positions;
  }

  /**
   * Returns once there are partitions for all positions up to this one; creates the next one half a partition ahead.
   */
  async cover(position: number): Promise<void> {
    while (position > this.#through) await this.#make();
    // Not awaited yet; a failure shows again when it is needed.
    if (position + this.#positions / 2 > this.#through) void this.#make().catch(() => undefined);
  }

  #make(): Promise<void> {
    this.#making ??= this.#makeNext().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #makeNext(): Promise<void> {
    const through = await this.#connections.transact(async (session) => {
      await session.query({ text: LOCK_SQL });
      const [last] = await session.query<{ readonly through: number }>({ text: LAST_SQL });
      const known = last?.through ?? 0;
      // Another server may have created it.
      if (known > this.#through) return known;
      await session.query({ text: createPartition(known, this.#positions) });
      return known + this.#positions;
    });
    this.#through = Math.max(this.#through, through);
  }
}

/** The end of the last partition, as PostgreSQL prints it. */
const LAST_SQL = `
  SELECT max(substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \\(''?(\\d+)''?\\)')::bigint) - 1 AS through
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'hansard_bodies'::regclass
`;

// Writes batches one after the other: what arrives during a write forms the next batch, since the head row admits one
// writer and a commit costs the same for many entries.
const UNITS_MAX = 2_000;
const BYTES_MAX = 16 * 1024 * 1024;
/** Event loop turns between two batches; together they take microseconds. */
const TURNS = 3;

interface Waiting {
  readonly units: readonly AppendUnit[];
  readonly bytes: number;
  readonly resolve: (outcomes: readonly AppendOutcome[]) => void;
  readonly reject: (reason: unknown) => void;
}

export class AppendQueue {
  readonly #write: (units: readonly AppendUnit[]) => Promise<readonly AppendOutcome[]>;
  readonly #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;

  constructor(write: (units: readonly AppendUnit[]) => Promise<readonly AppendOutcome[]>) {
    this.#write = write;
  }

  append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ units, bytes: bytesOf(units), resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Resolves once all requests so far have been answered. */
  async drained(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#writeTogether(this.#take());
      // Callers that were just answered often come back at once. Waiting a moment gets them into the next batch, which
      // takes hardly longer.
      for (let turns = 0; turns < TURNS; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    this.#writing = undefined;
  }

  async #writeTogether(together: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.#write(together.flatMap((waiting) => waiting.units));
      let used = 0;
      for (const { units, resolve } of together) {
        resolve(outcomes.slice(used, used + units.length));
        used += units.length;
      }
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }

  #take(): readonly Waiting[] {
    let count = 0;
    let units = 0;
    let bytes = 0;
    for (const waiting of this.#waiting) {
      if (count > 0 && (units + waiting.units.length > UNITS_MAX || bytes + waiting.bytes > BYTES_MAX)) break;
      count += 1;
      units += waiting.units.length;
      bytes += waiting.bytes;
    }
    return this.#waiting.splice(0, count);
  }
}

function bytesOf(units: readonly AppendUnit[]): number {
  let bytes = 0;
  for (const unit of units) for (const entry of unit) bytes += entry.body.byteLength;
  return bytes;
}
