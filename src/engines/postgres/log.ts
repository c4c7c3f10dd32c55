// The log on PostgreSQL: one locked head row assigns positions and carries the chain, across any number of servers.

import type { LogRow } from "../../log/log-row.js";
import type {
  AppendOutcome,
  AppendUnit,
  CopiedEntry,
  EntryLog,
  Erasure,
  Guards,
  Head,
  KeptClaims,
  NewRedactions,
  Orphan,
  ReadRange,
  StoredBody,
  StoredEntry,
} from "../../log/port.js";
import { erasedBy } from "../../model/body.js";
import { isChained } from "../../model/chain.js";
import { type ClaimRow, claimKey, claimsByPosition } from "../../model/claims.js";
import { itemAt } from "../../model/item-at.js";
import type { Connections, Session } from "./driver.js";
import { isAway, isConstraint, isRefusedByRule, toFault } from "./faults.js";
import { AppendQueue, type OwnEntries, ownPlacements, Partitions, placeUnits } from "./log-append.js";
import {
  adoptStatement,
  appendQuery,
  eraseStatement,
  erasuresStatement,
  findStatement,
  getBytesStatement,
  getStatement,
  getTextsStatement,
  headStatement,
  keptClaimsStatement,
  lockHeadStatement,
  noteErasedStatement,
  orphanStatement,
  type PlacedEntry,
  readEntries,
  readStatement,
  readTexts,
  readTextsStatement,
  redactionsAfterStatement,
} from "./log-rows.js";
import { inspectGuards, logMigrations, restoreGuards } from "./log-schema.js";
import { migrate } from "./migrations.js";
import { atOneMoment, findOrphanPart, positionsSharing, releaseParts } from "./part-reading.js";
import { BatchSplitter } from "./part-splitting.js";
import { PurgeRetries, partitionsOf, pendingPurges, purgeTables } from "./purge.js";

const READ_BYTES_MAX = 32 * 1024 * 1024;
/** How long a batch whose connection was lost is retried; a restarting server is back by then. */
const UNCERTAIN_MS_MAX = 4_000;
const UNCERTAIN_PAUSE_MS = 100;

type Tip = Pick<Head, "position" | "hash">;

interface OpenOptions {
  readonly partition_positions?: number;
  readonly reads_only?: boolean;
  /** How often it is looked whether leftovers of deleted rows can go. */
  readonly purge_retry_ms?: number;
  /** From how many bytes on bodies are stored in parts. */
  readonly parted_bytes_min?: number;
}

export class PostgresLog implements EntryLog {
  readonly engine = "postgres";
  readonly #connections: Connections;
  readonly #partitions: Partitions;
  readonly #queue: AppendQueue;
  /** The last tip this server wrote; another one may have continued. */
  #lastTip: Tip | undefined;
  /** Erased by this server since the last purge; after a crash it is left to PostgreSQL's vacuum. */
  readonly #erased: number[] = [];
  /** Whether parts were deleted with it. */
  #hasReleased = false;
  readonly #splitter: BatchSplitter;
  /** Triggers that were missing when the log was opened, and have been restored. */
  readonly #putBack: readonly string[];
  readonly #retries: PurgeRetries | undefined;

  private constructor(connections: Connections, options: OpenOptions, putBack: readonly string[]) {
    this.#connections = connections;
    this.#putBack = putBack;
    this.#retries = options.reads_only === true ? undefined : new PurgeRetries(connections, options.purge_retry_ms);
    this.#partitions = new Partitions(connections, options.partition_positions);
    this.#splitter = new BatchSplitter(options.parted_bytes_min);
    this.#queue = new AppendQueue((units) => this.#append(units));
  }

  /** Creates missing tables. The caller closes the connections. */
  static async open(connections: Connections, options: OpenOptions = {}): Promise<PostgresLog> {
    await migrate(connections, { part: "log", steps: logMigrations });
    const putBack = options.reads_only === true ? [] : await restoreGuards(connections);
    return new PostgresLog(connections, options, putBack);
  }

  async head(): Promise<Head> {
    const [head] = await this.#connections.query<Head>(headStatement);
    return head as Head;
  }

  append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    return this.#queue.append(units);
  }

  async restore(copy: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): Promise<boolean> {
    const { log_id, entries } = copy;
    this.#lastTip = undefined;
    try {
      return await this.#connections.transact(async (session) => {
        const head = await lockHead(session);
        if ((head.position > 0 && head.log_id !== log_id) || !isChained(head, entries)) return false;
        if (entries.length === 0) return true;
        if (head.log_id !== log_id) await session.query(adoptStatement, [log_id]);
        await this.#write(session, head, entries);
        return true;
      });
    } catch (error) {
      if (isConstraint(error) || isRefusedByRule(error)) return false;
      throw toFault(error, this.#connections.address);
    }
  }

  async read(range: ReadRange): Promise<readonly StoredEntry[]> {
    const values = [range.after, range.limit, range.bytes_max ?? READ_BYTES_MAX];
    const found = await readEntries(this.#connections, readStatement, values);
    return found.filter((stored) => stored !== undefined);
  }

  async get(
    positions: readonly number[],
    bytes_max = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly (StoredEntry | undefined)[]> {
    if (positions.length === 0) return [];
    return readEntries(this.#connections, getStatement, [positions, bytes_max]);
  }

  async readBodies(range: ReadRange): Promise<readonly StoredBody[]> {
    const values = [range.after, range.limit, range.bytes_max ?? READ_BYTES_MAX];
    const found = await readTexts(this.#connections, { texts: readTextsStatement, bytes: readStatement, values });
    return found.filter((stored) => stored !== undefined);
  }

  async getBodies(
    positions: readonly number[],
    bytes_max = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly (StoredBody | undefined)[]> {
    if (positions.length === 0) return [];
    const query = { texts: getTextsStatement, bytes: getBytesStatement, values: [positions, bytes_max] };
    return readTexts(this.#connections, query);
  }

  async find(claims: readonly string[]): Promise<readonly (number | undefined)[]> {
    const positionByClaim = await findClaims(this.#connections, claims);
    return claims.map((claim) => positionByClaim.get(claim));
  }

  async keptClaims({ after, through }: { readonly after: number; readonly through: number }): Promise<KeptClaims> {
    return claimsByPosition(await this.#connections.query<ClaimRow>(keptClaimsStatement, [after, through]));
  }

  async erasures({ after, limit }: { readonly after: number; readonly limit: number }): Promise<readonly Erasure[]> {
    return this.#connections.query<Erasure>(erasuresStatement, [after, limit]);
  }

  async guards(): Promise<Guards> {
    const { missing, foreign } = await inspectGuards(this.#connections);
    return { missing: [...new Set([...missing, ...this.#putBack])], foreign };
  }

  async redactionsAfter(position: number): Promise<NewRedactions> {
    type Found = { readonly through: number; readonly positions: string };
    const [found] = await this.#connections.query<Found>(redactionsAfterStatement, [position]);
    const { through, positions } = found as Found;
    return { through, positions: JSON.parse(positions) as readonly number[] };
  }

  async findOrphan(): Promise<Orphan | undefined> {
    const [orphan] = await this.#connections.query<Orphan>(orphanStatement);
    if (orphan !== undefined) return orphan;
    const digests = await this.#splitter.digests(this.#connections);
    return atOneMoment(this.#connections, (session) => findOrphanPart(session, digests));
  }

  async positionsSharing(position: number): Promise<readonly number[]> {
    return atOneMoment(this.#connections, (session) => positionsSharing(session, position));
  }

  async purge(): Promise<string | undefined> {
    const erased = [...this.#erased];
    const parts = this.#hasReleased ? ["hansard_parts"] : [];
    const left = await purgeTables(this.#connections, [...(await partitionsOf(this.#connections, erased)), ...parts]);
    // What is left is noted in the database, and retried from there.
    this.#erased.splice(0, erased.length);
    if (parts.length > 0) this.#hasReleased = false;
    return left;
  }

  async pendingPurges(): Promise<readonly string[]> {
    return pendingPurges(this.#connections);
  }

  async close(): Promise<void> {
    await this.#queue.drained();
    await this.#retries?.close();
    await this.#connections.close();
  }

  /**
   * Taken claims and other servers are rare, so the first attempt checks neither: one statement continues from the last
   * tip. If that fails, the head is locked, every claim looked up, and the batch placed again.
   */
  async #append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    try {
      const outcomes = this.#lastTip === undefined ? undefined : await this.#appendFrom(this.#lastTip, units);
      return outcomes ?? (await this.#appendLocked(units, undefined));
    } catch (error) {
      this.#lastTip = undefined;
      if (isConstraint(error)) return this.#settle(units, undefined);
      if (isAway(error)) return this.#settle(units, error);
      throw toFault(error, this.#connections.address);
    }
  }

  /** Undefined if another server has moved the head; nothing was written then. */
  async #appendFrom(tip: Tip, units: readonly AppendUnit[]): Promise<readonly AppendOutcome[] | undefined> {
    const { outcomes, entries } = placeUnits(tip, units, new Map());
    if (entries.length === 0) return outcomes;
    // Erasing takes more than one statement.
    if (entries.some(({ kind }) => kind === "redaction")) return undefined;
    await this.#partitions.cover(tip.position + entries.length);
    const taken = await this.#splitter.split(this.#connections, entries);
    const moved = await this.#connections.attempt<object>(...appendQuery(tip, entries, taken));
    this.#lastTip = moved.length === 0 ? undefined : tipAfter(tip, entries);
    return moved.length === 0 ? undefined : outcomes;
  }

  async #appendLocked(units: readonly AppendUnit[], own: OwnEntries | undefined): Promise<readonly AppendOutcome[]> {
    const { outcomes, tip } = await this.#connections.transact(async (session) => {
      const head = await lockHead(session);
      const claims = units.flatMap((unit) => unit.flatMap((entry) => entry.claims));
      const taken = await findClaims(session, claims);
      const placed = placeUnits(head, units, taken, await ownPlacements(session, own, units, taken));
      if (placed.entries.length > 0) await this.#write(session, head, placed.entries);
      return { outcomes: placed.outcomes, tip: tipAfter(head, placed.entries) };
    });
    this.#lastTip = tip;
    return outcomes;
  }

  /**
   * After a lost connection it is unknown whether the batch was committed. Its claims tell: if they were taken by an
   * entry with our salt, it is ours and stays; if they are free, the batch is appended again. If it is still running on
   * the lost connection, it holds the head, which is waited for.
   */
  async #settle(units: readonly AppendUnit[], lost: unknown): Promise<readonly AppendOutcome[]> {
    const own: OwnEntries | undefined = lost === undefined ? undefined : { get: getRows };
    const end = performance.now() + UNCERTAIN_MS_MAX;
    for (;;) {
      try {
        return await this.#appendLocked(units, own);
      } catch (error) {
        if (lost === undefined || !isAway(error) || performance.now() > end) {
          throw toFault(error, this.#connections.address);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, UNCERTAIN_PAUSE_MS));
    }
  }

  async #write(session: Session, head: Tip, entries: readonly PlacedEntry[]): Promise<void> {
    await this.#partitions.cover(head.position + entries.length);
    const taken = await this.#splitter.split(session, entries);
    const moved = await session.query<object>(...appendQuery(head, entries, taken));
    if (moved.length === 0) throw new Error("the head moved although it was locked");
    const erased: Buffer[] = [];
    for (const [index, { kind, body }] of entries.entries()) {
      if (kind !== "redaction" || body === undefined) continue;
      const redaction = head.position + index + 1;
      const named = erasedBy({ position: redaction, kind, body });
      await session.query(noteErasedStatement, [named, redaction]);
      type Erased = { readonly taken: Buffer | null };
      for (const { taken: body } of await session.query<Erased>(eraseStatement, [named])) {
        if (body !== null) erased.push(body);
      }
      this.#erased.push(...named);
    }
    if (await releaseParts(session, erased)) this.#hasReleased = true;
  }
}

async function lockHead(session: Session): Promise<Head> {
  return itemAt(await session.query<Head>(lockHeadStatement), 0);
}

async function getRows(session: Session, positions: readonly number[]): Promise<readonly LogRow[]> {
  return session.query<LogRow>(getStatement, [positions, Number.MAX_SAFE_INTEGER]);
}

async function findClaims(session: Session, claims: readonly string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  if (claims.length === 0) return found;
  const keys = claims.map((claim) => claimKey(claim));
  const rows = await session.query<{ readonly claim: Buffer; readonly position: number }>(findStatement, [keys]);
  const positionByKey = new Map(rows.map((row) => [row.claim.toString("latin1"), row.position]));
  for (const [index, claim] of claims.entries()) {
    const position = positionByKey.get(itemAt(keys, index).toString("latin1"));
    if (position !== undefined) found.set(claim, position);
  }
  return found;
}

function tipAfter(start: Tip, entries: readonly PlacedEntry[]): Tip {
  return { position: start.position + entries.length, hash: entries.at(-1)?.hash ?? start.hash };
}
