// The log on SQLite: entries and their chain in one table, salted bodies in another, claims in a third.
import type Database from "better-sqlite3";
import { chainHash, commitmentOf, GENESIS_HASH, isChained } from "../../model/chain.js";
import { type ClaimRow, claimKey, claimsByPosition, keysDigest } from "../../model/claims.js";
import { Fault } from "../../model/fault.js";
import { erasedBy } from "../../model/redaction.js";
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
  Placement,
  StoredBody,
  StoredEntry,
  Stray,
  TakenClaim,
} from "../../ports/entry-log.js";
import { checkpoint } from "./checkpointer.js";
import { isImmutable } from "./connect.js";
import { BUSY_TIMEOUT_MS, openFile, toFault } from "./file.js";
import { HeldFiles } from "./held-files.js";
import { inspectGuards, putBackGuards } from "./log-guards.js";
import { type BodyRow, given, inOrder, PLAIN, type Row, rowToBody, rowToEntry } from "./log-rows.js";
import { logMigrations } from "./log-schema.js";
import {
  erasuresAfter,
  findStray,
  keptClaims,
  type LogStatements,
  prepareArrival,
  prepareCopied,
  prepareLog,
} from "./log-statements.js";
import { isForeign, migrate, refuseUnknown, versionOf } from "./migrations.js";
import { isPurgeDue, purgeLog } from "./purge.js";
import { StillFile } from "./still-file.js";

/** A checkpointer keeps the WAL far below this; it is the limit for when there is none. */
const WAL_PAGES_MAX = 16_000;
const CREATION_TRIES = 10;
const CREATION_WAIT_MS = 20;
const READ_BYTES_MAX = 32 * 1024 * 1024;

interface Tip {
  readonly position: number;
  readonly hash: Buffer;
}

interface Appended {
  readonly outcomes: readonly AppendOutcome[];
  readonly tip: Tip;
}

/** Everything runs synchronously where it is called, so a log that is written to belongs in a thread of its own. */
export class SqliteLog implements EntryLog {
  readonly engine = "sqlite";
  readonly #db: Database.Database;
  readonly #path: string;
  /** Known for good once there are entries; an empty log may still take over another one's. */
  #logId: string | undefined;
  readonly #sql: LogStatements;
  /** Only who writes has to know that it is found again. */
  readonly #held: HeldFiles | undefined;
  readonly #still: StillFile | undefined;
  #arrival: Database.Statement | undefined;
  #lastTip: Tip | undefined;
  #waits = true;
  /** Triggers that were missing when the file was opened, and are there again. */
  readonly #putBack: readonly string[];

  private constructor(
    db: Database.Database,
    path: string,
    { held, putBack }: { readonly held: HeldFiles | undefined; readonly putBack: readonly string[] },
  ) {
    this.#db = db;
    this.#path = path;
    this.#held = held;
    this.#still = isImmutable(db) ? new StillFile(path) : undefined;
    this.#putBack = putBack;
    this.#sql = prepareLog(db);
  }

  static open(options: { readonly path: string; readonly mode: "create" | "write" | "read" }): SqliteLog {
    const db = openFile({ ...options, synchronous: "FULL", or_read: true });
    try {
      if (options.mode !== "create" && staysEmpty(db)) throw emptied(options.path);
      // What is written over is gone: otherwise unused parts of pages would keep copies of bodies.
      const isRead = options.mode === "read" || db.readonly;
      if (!isRead) db.pragma("secure_delete = ON");
      // Who only reads leaves an older format as it is: every one of them is read in the same way.
      if (!isRead || versionOf(db) === 0) migrate(db, logMigrations, options.path);
      else refuseUnknown(db, logMigrations, options.path);
      db.pragma(`wal_autocheckpoint = ${WAL_PAGES_MAX}`);
      if (isRead) return new SqliteLog(db, options.path, { held: undefined, putBack: [] });
      return new SqliteLog(db, options.path, { held: new HeldFiles(options.path), putBack: putBackGuards(db) });
    } catch (error) {
      db.close();
      throw toFault(error, options.path);
    }
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
   * One transaction for all units. Taken claims and other writers are rare, so the first try looks for neither: it goes
   * on from the tip that this connection wrote last. If a claim or the position turns out to be taken, the transaction
   * is undone and repeated with the tip read again and every claim looked up before its unit is written.
   */
  appendNow(
    units: readonly AppendUnit[],
    options: { readonly waits: boolean } = { waits: true },
  ): readonly AppendOutcome[] {
    this.#waitForLocks(options.waits);
    return this.#guard(() => this.#findably(() => this.#appendTogether(units)));
  }

  async restore(copy: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): Promise<boolean> {
    this.#waitForLocks(true);
    return this.#guard(() =>
      this.#findably(() => {
        this.#lastTip = undefined;
        this.#sql.begin.run();
        try {
          const isTaken = this.#restoreEntries(copy);
          this.#db.exec(isTaken ? "COMMIT" : "ROLLBACK");
          return isTaken;
        } catch (error) {
          if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
          if (isConstraint(error)) return false;
          throw error;
        }
      }),
    );
  }

  async read(range: {
    readonly after: number;
    readonly limit: number;
    readonly bytes_max?: number;
  }): Promise<readonly StoredEntry[]> {
    const bytesMax = range.bytes_max ?? READ_BYTES_MAX;
    return this.#guard(() => {
      const found: StoredEntry[] = [];
      let bytes = 0;
      for (const row of this.#sql.readAfter.iterate(range.after, range.limit)) {
        found.push(rowToEntry(row as Row));
        bytes += (row as Row).body?.length ?? 0;
        if (bytes >= bytesMax) break;
      }
      return found;
    });
  }

  async get(positions: readonly number[]): Promise<readonly (StoredEntry | undefined)[]> {
    const rows = this.#guard(() => this.#sql.get.all(given(positions)) as readonly Row[]);
    return inOrder(positions, rows.map(rowToEntry));
  }

  async readBodies(range: {
    readonly after: number;
    readonly limit: number;
    readonly bytes_max?: number;
  }): Promise<readonly StoredBody[]> {
    const bytesMax = range.bytes_max ?? READ_BYTES_MAX;
    return this.#guard(() => {
      const found: StoredBody[] = [];
      let bytes = 0;
      for (const row of this.#sql.readBodiesAfter.iterate(range.after, range.limit)) {
        found.push(rowToBody(row as unknown as BodyRow));
        bytes += (row as unknown as BodyRow)[6]?.length ?? 0;
        if (bytes >= bytesMax) break;
      }
      return found;
    });
  }

  async getBodies(
    positions: readonly number[],
    bytes_max = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly (StoredBody | undefined)[]> {
    const found: StoredBody[] = [];
    let bytes = 0;
    const isCut = this.#guard(() => {
      for (const row of this.#sql.getBodies.iterate(given(positions))) {
        found.push(rowToBody(row as unknown as BodyRow));
        bytes += (row as unknown as BodyRow)[6]?.length ?? 0;
        if (bytes >= bytes_max) return true;
      }
      return false;
    });
    return inOrder(isCut ? positions.slice(0, positions.indexOf(found.at(-1)?.position ?? 0) + 1) : positions, found);
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
    return { missing: [...new Set([...missing, ...this.#putBack])], foreign };
  }

  async redactionsAfter(position: number): Promise<NewRedactions> {
    return this.#guard(() => {
      const found = this.#sql.redactionsAfter.get(position) as { readonly through: number; readonly positions: string };
      return { through: found.through, positions: JSON.parse(found.positions) as readonly number[] };
    });
  }

  async stray(): Promise<Stray | undefined> {
    return this.#guard(() => this.#db.prepare(findStray).get() as Stray | undefined);
  }

  /** Finishes what a checkpointer left, so that the WAL starts over with the next commit. */
  finishCheckpoint(): void {
    this.#guard(() => checkpoint(this.#db));
  }

  async purge(): Promise<string | undefined> {
    return purgeLog(this.#path);
  }

  /** Whether a purge was begun, by whomever, and not finished. */
  isPurgeDue(): boolean {
    return this.#guard(() => isPurgeDue(this.#db));
  }

  fault(): Fault | undefined {
    return this.#held?.fault();
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  /** Whether to wait for another program that is writing, or to give up at once. */
  #waitForLocks(waits: boolean): void {
    if (this.#waits === waits) return;
    this.#db.pragma(`busy_timeout = ${waits ? BUSY_TIMEOUT_MS : 0}`);
    this.#waits = waits;
  }

  #findably<T>(commit: () => T): T {
    return this.#held === undefined ? commit() : this.#held.findably({ commit, carryOver: () => checkpoint(this.#db) });
  }

  #appendTogether(units: readonly AppendUnit[]): readonly AppendOutcome[] {
    this.#arrival ??= prepareArrival(this.#db);
    try {
      return this.#transact(() => this.#appendUnits(units, this.#lastTip ?? this.#tip(), false), {
        isOneStatement: isOneStatement(units),
      });
    } catch (error) {
      if (!isConstraint(error)) throw error;
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
    const arrival = this.#arrival as Database.Statement;
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
        const claims_digest = keysDigest(keys);
        const previous = tip.hash;
        const hash = chainHash({ previous, position, kind, recorded_at, recorded_by, claims_digest, commitment });
        const chained = [position, kind, recorded_at, recorded_by, claims_digest, commitment, hash];
        arrival.run(...chained, salt, PLAIN, body, keys[0]);
        for (const key of keys.slice(1)) this.#sql.insertClaim.run(key, position);
        if (kind === "redaction") this.#erase(position, entry);
        tip = { position, hash };
        placed.push(tip);
      }
      outcomes.push({ placed });
    }
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
      if (salt !== undefined && body !== undefined) this.#sql.insertBody.run(position, salt, PLAIN, body);
      for (const claim of claims) this.#sql.insertClaim.run(claimKey(claim), position);
      if (kind === "redaction" && body !== undefined) this.#erase(position, { kind, body });
    }
    return true;
  }

  #readLogId(): string {
    const row = this.#sql.readLogId.get() as { readonly value: string } | undefined;
    if (row !== undefined) return row.value;
    throw new Fault("store_corrupt", "the log has lost its id", { hint: "Restore the store from a backup." });
  }

  /**
   * Overwrites the bodies that a redaction names, in the transaction that appends it. Whether a body is there decides, not
   * whether its erasure was noted before: such a note may have been planted, or the body put back.
   */
  #erase(redaction: number, entry: { readonly kind: string; readonly body: Uint8Array }): void {
    this.#sql.markForPurge.run();
    for (const position of erasedBy({ ...entry, position: redaction })) {
      if (this.#sql.isErasable.get(position) === undefined) continue;
      this.#sql.insertErasure.run({ position, redaction });
      this.#sql.blankBody.run(position);
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
      // Some failures, a full disk among them, have undone the transaction already.
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }

  #guard<T>(work: () => T): T {
    try {
      const result = work();
      this.#still?.assertStill();
      return result;
    } catch (error) {
      throw toFault(error, this.#path);
    }
  }
}

/** A single entry with a single claim needs no transaction around it. */
function isOneStatement(units: readonly AppendUnit[]): boolean {
  const [unit] = units;
  const [entry] = unit ?? [];
  return units.length === 1 && unit?.length === 1 && entry?.claims.length === 1 && entry.kind !== "redaction";
}

function isConstraint(error: unknown): boolean {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === "string" && code.startsWith("SQLITE_CONSTRAINT");
}

/** Whether there is nothing in it, and nobody else is just about to make it a store. */
function staysEmpty(db: Database.Database): boolean {
  const clock = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < CREATION_TRIES; tries += 1) {
    if (versionOf(db) > 0 || isForeign(db)) return false;
    Atomics.wait(clock, 0, 0, CREATION_WAIT_MS);
  }
  return true;
}

/** Only who may create a store turns an empty file into one; for everybody else it is a log that was lost. */
function emptied(path: string): Fault {
  return new Fault("store_corrupt", `${path} is empty`, {
    hint: "It held a log, or never did: restore it from a copy, or delete it to start a new one.",
  });
}
