// The log on SQLite: entries and their chain in one table, salted bodies in another, claims in a third.

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
  Placement,
  ReadRange,
  StoredBody,
  StoredEntry,
  TakenClaim,
} from "../../log/port.js";
import { erasedBy } from "../../model/body.js";
import { chainHash, commitmentOf, GENESIS_HASH, isChained } from "../../model/chain.js";
import { type ClaimRow, claimKey, claimsByPosition, keysDigest } from "../../model/claims.js";
import { Fault } from "../../model/fault.js";
import { itemAt } from "../../model/item-at.js";
import { checkpoint } from "./connections.js";
import type { Database, Statement } from "./driver.js";
import { codeOf, toFault } from "./faults.js";
import { LogBodies } from "./log-bodies.js";
import { LOCK_WAIT_MS, openLog } from "./log-opening.js";
import {
  bodyRow,
  erasuresAfter,
  keptClaims,
  type LogStatements,
  orphanQuery,
  prepareArrival,
  prepareCopied,
  prepareLog,
  RowReader,
  wholeRow,
} from "./log-rows.js";
import { inspectGuards } from "./log-schema.js";
import type { OpenFiles, UnchangedFile } from "./open-files.js";
import { isPurgeDue, purgeLog } from "./purge.js";

const READ_BYTES_MAX = 32 * 1024 * 1024;

interface OpenOptions {
  readonly path: string;
  readonly mode: "create" | "write" | "read";
  /** From how many bytes on bodies are stored in parts. */
  readonly parted_bytes_min?: number;
}

interface Tip {
  readonly position: number;
  readonly hash: Buffer;
}

interface Appended {
  readonly outcomes: readonly AppendOutcome[];
  readonly tip: Tip;
}

/** Runs synchronously on the calling thread, so a log that is written to belongs in a thread of its own. */
export class SqliteLog implements EntryLog {
  readonly engine = "sqlite";
  readonly #db: Database;
  readonly #path: string;
  /** Fixed once there are entries; an empty log may still take over another log's id. */
  #logId: string | undefined;
  readonly #sql: LogStatements;
  readonly #bodies: LogBodies;
  readonly #rows: RowReader;
  /** Only for writers. */
  readonly #openFiles: OpenFiles | undefined;
  readonly #unchanged: UnchangedFile | undefined;
  #arrival: Statement | undefined;
  #lastTip: Tip | undefined;
  #waits = true;
  /** Triggers that were missing when the file was opened, and have been restored. */
  readonly #restored: readonly string[];

  protected constructor(options: OpenOptions) {
    const { path, parted_bytes_min } = options;
    const { db, openFiles, unchanged, restored } = openLog(options);
    this.#db = db;
    this.#path = path;
    this.#bodies = new LogBodies(db, parted_bytes_min);
    this.#rows = new RowReader({ guard: (work) => this.#guard(work), join: (...taken) => this.#bodies.join(...taken) });
    this.#openFiles = openFiles;
    this.#unchanged = unchanged;
    this.#restored = restored;
    this.#sql = prepareLog(db);
  }

  static open(options: OpenOptions): SqliteLog {
    return new SqliteLog(options);
  }

  async head(): Promise<Head> {
    return this.#guard(() => {
      const tip = this.#tip();
      const log_id = this.#logId ?? this.#readLogId();
      if (tip.position > 0) this.#logId = log_id;
      return { log_id, ...tip };
    });
  }

  async append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    return this.appendNow(units);
  }

  /**
   * One transaction for all units. Taken claims and other writers are rare, so the first attempt checks neither: it
   * continues from the last tip this connection wrote. If a claim or position turns out to be taken, the transaction is
   * rolled back and retried with a fresh tip and every claim looked up first.
   */
  appendNow(
    units: readonly AppendUnit[],
    options: { readonly waits: boolean } = { waits: true },
  ): readonly AppendOutcome[] {
    this.#waitForLocks(options.waits);
    return this.#guard(() => this.#commitInPlace(() => this.#appendTogether(units)));
  }

  async restore(copy: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): Promise<boolean> {
    this.#waitForLocks(true);
    return this.#guard(() =>
      this.#commitInPlace(() => {
        this.#lastTip = undefined;
        this.#sql.begin.run();
        try {
          const isTaken = this.#restoreEntries(copy);
          this.#db.exec(isTaken ? "COMMIT" : "ROLLBACK");
          return isTaken;
        } catch (error) {
          this.#bodies.forgetErased();
          if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
          if (codeOf(error).startsWith("SQLITE_CONSTRAINT")) return false;
          throw error;
        }
      }),
    );
  }

  async read(range: ReadRange): Promise<readonly StoredEntry[]> {
    return this.#rows.read(this.#sql.readAfter, [range.after, range.limit], wholeRow, range.bytes_max ?? READ_BYTES_MAX)
      .found;
  }

  async get(positions: readonly number[], bytes_max?: number): Promise<readonly (StoredEntry | undefined)[]> {
    return this.#rows.readAt(this.#sql.get, positions, wholeRow, bytes_max);
  }

  async readBodies(range: ReadRange): Promise<readonly StoredBody[]> {
    const bytes_max = range.bytes_max ?? READ_BYTES_MAX;
    return this.#rows.read(this.#sql.readBodiesAfter, [range.after, range.limit], bodyRow, bytes_max).found;
  }

  async getBodies(positions: readonly number[], bytes_max?: number): Promise<readonly (StoredBody | undefined)[]> {
    const { getTogether: together, getBodies: each } = this.#sql;
    return this.#rows.readBodiesAt({ together, each }, positions, bytes_max);
  }

  async find(claims: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.#guard(() => claims.map((claim) => this.#find(claim)));
  }

  async keptClaims({ after, through }: { readonly after: number; readonly through: number }): Promise<KeptClaims> {
    const rows = this.#guard(() => this.#db.prepare(keptClaims).all(after, through));
    return claimsByPosition(rows as readonly ClaimRow[]);
  }

  async erasures({ after, limit }: { readonly after: number; readonly limit: number }): Promise<readonly Erasure[]> {
    return this.#guard(() => this.#db.prepare(erasuresAfter).all(after, limit) as readonly Erasure[]);
  }

  async guards(): Promise<Guards> {
    const { missing, foreign } = this.#guard(() => inspectGuards(this.#db));
    return { missing: [...new Set([...missing, ...this.#restored])], foreign };
  }

  async redactionsAfter(position: number): Promise<NewRedactions> {
    return this.#guard(() => {
      const found = this.#sql.redactionsAfter.get(position) as { readonly through: number; readonly positions: string };
      return { through: found.through, positions: JSON.parse(found.positions) as readonly number[] };
    });
  }

  async findOrphan(): Promise<Orphan | undefined> {
    return this.#guard(() => (this.#db.prepare(orphanQuery).get() as Orphan | undefined) ?? this.#bodies.findOrphan());
  }

  async positionsSharing(position: number): Promise<readonly number[]> {
    return this.#guard(() => this.#bodies.positionsSharing(position));
  }

  /** Finishes a checkpoint, so the WAL starts over with the next commit. */
  finishCheckpoint(): void {
    this.#guard(() => checkpoint(this.#db));
  }

  async purge(): Promise<string | undefined> {
    return purgeLog(this.#path);
  }

  /** Whether any process began a purge and did not finish it. */
  isPurgeDue(): boolean {
    return this.#guard(() => isPurgeDue(this.#db));
  }

  fault(): Fault | undefined {
    return this.#openFiles?.fault();
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  /** Whether to wait for other writers or to fail at once. */
  #waitForLocks(waits: boolean): void {
    if (this.#waits === waits) return;
    this.#db.pragma(`busy_timeout = ${waits ? LOCK_WAIT_MS : 0}`);
    this.#waits = waits;
  }

  #commitInPlace<T>(commit: () => T): T {
    return this.#openFiles === undefined
      ? commit()
      : this.#openFiles.commitInPlace({ commit, checkpoint: () => checkpoint(this.#db) });
  }

  #appendTogether(units: readonly AppendUnit[]): readonly AppendOutcome[] {
    this.#arrival ??= prepareArrival(this.#db);
    try {
      return this.#transact(() => this.#appendUnits(units, this.#lastTip ?? this.#tip(), false), {
        isOneStatement: isOneStatement(units) && !this.#bodies.areParted(units),
      });
    } catch (error) {
      if (!codeOf(error).startsWith("SQLITE_CONSTRAINT")) throw error;
      return this.#transact(() => this.#appendUnits(units, this.#tip(), true));
    }
  }

  #find(claim: string): number | undefined {
    const row = this.#sql.findClaim.get(claimKey(claim)) as { readonly position: number } | undefined;
    return row?.position;
  }

  #tip(): Tip {
    return (this.#sql.readTip.get() as Tip | undefined) ?? { position: 0, hash: Buffer.from(GENESIS_HASH) };
  }

  #appendUnits(units: readonly AppendUnit[], start: Tip, lookFirst: boolean): Appended {
    let tip = start;
    const arrival = this.#arrival as Statement;
    const outcomes: AppendOutcome[] = [];
    for (const unit of units) {
      const taken = lookFirst ? this.#takenClaims(unit) : [];
      if (taken.length > 0) {
        outcomes.push({ taken });
        continue;
      }
      const placed: Placement[] = [];
      for (const entry of unit) {
        const { kind, recorded_at, recorded_by, salt, body } = entry;
        const position = tip.position + 1;
        const commitment = commitmentOf(salt, body);
        const keys = entry.claims.map(claimKey);
        const digest = keysDigest(keys);
        const link = {
          previous: tip.hash,
          position,
          kind,
          recorded_at,
          recorded_by,
          claims_digest: digest,
          commitment,
        };
        const hash = chainHash(link);
        const [encoding, kept] = this.#bodies.encode(body);
        arrival.run(
          position,
          kind,
          recorded_at,
          recorded_by,
          digest,
          commitment,
          hash,
          salt,
          encoding,
          kept,
          itemAt(keys, 0),
        );
        for (const key of keys.slice(1)) this.#sql.insertClaim.run(key, position);
        if (kind === "redaction") this.#erase(position, entry);
        tip = { position, hash };
        placed.push(tip);
      }
      outcomes.push({ placed });
    }
    this.#bodies.release();
    return { outcomes, tip };
  }

  #restoreEntries({ log_id, entries }: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): boolean {
    const tip = this.#tip();
    const value = this.#readLogId();
    if ((tip.position > 0 && value !== log_id) || !isChained(tip, entries)) return false;
    if (entries.length > 0) this.#sql.writeLogId.run(log_id);
    const copied = prepareCopied(this.#db);
    for (const { position, kind, recorded_at, commitment, hash, salt, body, claims, ...covered } of entries) {
      const { recorded_by = null, claims_digest = null } = covered;
      copied.run(position, kind, recorded_at, recorded_by, claims_digest, commitment, hash);
      if (salt !== undefined && body !== undefined)
        this.#sql.insertBody.run(position, salt, ...this.#bodies.encode(body));
      for (const claim of claims) this.#sql.insertClaim.run(claimKey(claim), position);
      if (kind === "redaction" && body !== undefined) this.#erase(position, { kind, body });
    }
    this.#bodies.release();
    return true;
  }

  #readLogId(): string {
    const row = this.#sql.readLogId.get() as { readonly value: string } | undefined;
    if (row !== undefined) return row.value;
    throw new Fault("store_corrupt", "the log has lost its id", { hint: "Restore the store from a backup." });
  }

  /**
   * Overwrites the bodies that a redaction names, in the transaction that appends it. It depends on whether a body
   * exists, not on a note of its erasure: such a note may be forged, or the body restored.
   */
  #erase(redaction: number, entry: { readonly kind: string; readonly body: Uint8Array }): void {
    this.#sql.markForPurge.run();
    for (const position of erasedBy({ ...entry, position: redaction })) {
      if (this.#sql.isErasable.get(position) === undefined) continue;
      this.#sql.insertErasure.run({ position, redaction });
      this.#bodies.erase(position);
    }
  }

  #takenClaims(unit: AppendUnit): readonly TakenClaim[] {
    const taken: TakenClaim[] = [];
    for (const [item, entry] of unit.entries()) {
      for (const claim of entry.claims) {
        const position = this.#find(claim);
        if (position !== undefined) taken.push({ item, claim, position });
      }
    }
    return taken;
  }

  #transact(work: () => Appended, options = { isOneStatement: false }): readonly AppendOutcome[] {
    if (!options.isOneStatement) this.#sql.begin.run();
    try {
      const { outcomes, tip } = work();
      if (!options.isOneStatement) this.#sql.commit.run();
      this.#lastTip = tip;
      return outcomes;
    } catch (error) {
      this.#lastTip = undefined;
      // Some failures, such as a full disk, have already rolled back.
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      this.#bodies.forgetErased();
      throw error;
    }
  }

  #guard<T>(work: () => T): T {
    try {
      const result = work();
      this.#unchanged?.assertUnchanged();
      return result;
    } catch (error) {
      throw toFault(error, this.#path);
    }
  }
}

/** A single entry with a single claim needs no explicit transaction. */
function isOneStatement(units: readonly AppendUnit[]): boolean {
  const [unit] = units;
  const [entry] = unit ?? [];
  return units.length === 1 && unit?.length === 1 && entry?.claims.length === 1 && entry.kind !== "redaction";
}
