// What a log engine must be able to do: append batches with their claims, read by position, and tell its head.
import type { Fault } from "../model/fault.js";

/** An entry before it has a position; the log computes the commitment to salt and body. */
export interface LogEntry {
  readonly kind: string;
  readonly recorded_at: string;
  /** The id of the key it came with; `""` if keys are not required. */
  readonly recorded_by: string;
  readonly salt: Uint8Array;
  readonly body: Uint8Array;
  /** Unique keys taken in the same transaction as the append, distinct within a unit; the first is the entry's id. */
  readonly claims: readonly string[];
}

/** One caller's entries: all of them are appended, or none. */
export type AppendUnit = readonly LogEntry[];

export interface Placement {
  readonly position: number;
  readonly hash: Uint8Array;
}

/** A taken claim: by which entry, and by which item of the unit it was requested. */
export interface TakenClaim {
  readonly item: number;
  readonly claim: string;
  readonly position: number;
}

export type AppendOutcome = { readonly placed: readonly Placement[] } | { readonly taken: readonly TakenClaim[] };

/** An entry with its position. Salt and body are absent once erased. */
export interface StoredEntry {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  /** Absent only in entries of the first format. */
  readonly recorded_by?: string | undefined;
  readonly claims_digest?: Uint8Array | undefined;
  readonly commitment: Uint8Array;
  readonly hash: Uint8Array;
  readonly salt?: Uint8Array;
  readonly body?: Uint8Array;
  /**
   * Why the body cannot be read or is not the recorded one; salt and body are absent then. Damage must not look like
   * erasure, nor an altered text like a recorded one.
   */
  readonly flaw?: string;
}

/** An entry's body as text, without what only the chain needs: the fast way to read many. */
export interface StoredBody {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  /** Absent in entries of the first format. */
  readonly recorded_by?: string | undefined;
  /** In hexadecimal. */
  readonly hash: string;
  /** JSON; absent once it was erased. */
  readonly body?: string;
  /** As in `StoredEntry`. */
  readonly flaw?: string;
}

/** An entry of another log, to be restored at its position. */
export interface CopiedEntry extends StoredEntry {
  /** Its claims, which erased entries keep too. */
  readonly claims: readonly string[];
}

export type KeptClaims = ReadonlyMap<number, readonly string[]>;

/** An erased body, and the redaction noted for it. */
export interface Erasure {
  readonly position: number;
  readonly redaction: number;
}

/** Triggers and other protection of rows, by name. */
export interface Guards {
  /** Missing ones, including those restored when this log was opened. */
  readonly missing: readonly string[];
  /** Unknown or changed ones. */
  readonly foreign: readonly string[];
}

/** The redactions after a position, through this one. */
export interface NewRedactions {
  readonly through: number;
  readonly positions: readonly number[];
}

export interface Orphan {
  readonly position: number;
  readonly reason: string;
}

export interface Head {
  readonly log_id: string;
  /** Position of the newest entry, 0 when there is none. */
  readonly position: number;
  readonly hash: Uint8Array;
}

/** Entries after a position, up to a limit of entries or bytes of bodies. */
export interface ReadRange {
  readonly after: number;
  readonly limit: number;
  readonly bytes_max?: number;
}

/** What is needed to show entries that an index led to. */
export type EntrySource = Pick<EntryLog, "find" | "get" | "getBodies" | "redactionsAfter">;

/**
 * A log compares every body with its commitment before returning it: one that does not match has a flaw, and no body.
 */
export interface EntryLog {
  /** The engine, so tests can check that they use the right one. */
  readonly engine: string;
  head(): Promise<Head>;
  /**
   * Appends each unit whole or not at all; when it returns, what was placed is durable. A unit with a taken claim is
   * not appended, and the outcome names all of its taken claims; the other units of the call are not affected.
   *
   * An entry of the kind `redaction` erases: in the same transaction, the entries whose positions its body names lose
   * salt and body for good, and keep everything else, their claims included. A redaction itself is never erased.
   */
  append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]>;
  /** Hints that a bulk append follows; optional. */
  hintBulk?(): void;
  /**
   * Restores entries of another log at their positions. They must continue this log's chain, the log must be empty (it
   * then takes over the id) or have the same id, claims must match the hashes, and no entry of the first format may
   * follow one of the second. Returns false, and changes nothing, otherwise. Restored entries are durable, and
   * redactions among them erase here too.
   */
  restore(copy: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): Promise<boolean>;
  /** Entries after a position, in order; stops at the limit or once `bytes_max` of bodies are reached. */
  read(range: ReadRange): Promise<readonly StoredEntry[]>;
  /** As `read`, bodies only. */
  readBodies(range: ReadRange): Promise<readonly StoredBody[]>;
  /**
   * The entries at these positions, in the order asked for; undefined where there is none. Once `bytes_max` of bodies are
   * reached, the answer ends: it is then shorter than what was asked for, and has the first in any case.
   */
  get(positions: readonly number[], bytes_max?: number): Promise<readonly (StoredEntry | undefined)[]>;
  /** As `get`, bodies only. */
  getBodies(positions: readonly number[], bytes_max?: number): Promise<readonly (StoredBody | undefined)[]>;
  /** The position of each claim, or undefined. */
  find(claims: readonly string[]): Promise<readonly (number | undefined)[]>;
  /**
   * Claim keys by position for a range, for copying erased entries and for checking claims against the chain. It may
   * scan all claims, so prefer few wide ranges.
   */
  keptClaims(range: { readonly after: number; readonly through: number }): Promise<KeptClaims>;
  /** Noted erasures by position, to be checked against the redactions of the chain. */
  erasures(range: { readonly after: number; readonly limit: number }): Promise<readonly Erasure[]>;
  /** How the protection of rows differs from what this engine creates. */
  guards(): Promise<Guards>;
  /**
   * The redactions after a position, in order, and the head through which these are all. Caches call it often, since
   * they must apply redactions of any process.
   */
  redactionsAfter(position: number): Promise<NewRedactions>;
  /**
   * The first position of something no append has written: a row before the first entry or after the head, or a head
   * that is not the last entry's.
   */
  findOrphan(): Promise<Orphan | undefined>;
  /** Positions of entries that share parts with this one, itself included. */
  positionsSharing?(position: number): Promise<readonly number[]>;
  /**
   * Removes leftovers of erased bodies from storage, such as unused pages and the WAL. Returns what is still left, in
   * words, if others are in the way.
   */
  purge(): Promise<string | undefined>;
  /** What purges have left for later, in words; it goes by itself once others are out of the way. */
  pendingPurges?(): Promise<readonly string[]>;
  /** Why recording would fail right now, if the engine can tell without trying. */
  fault?(): Fault | undefined;
  close(): Promise<void>;
}
