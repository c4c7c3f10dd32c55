// What a log engine must be able to do: append batches with their claims, read by position, and say where it ends.
import type { Fault } from "../model/fault.js";

/** What the log takes of an entry, before it has a place; the commitment to salt and body it makes itself. */
export interface LogEntry {
  readonly kind: string;
  readonly recorded_at: string;
  /** The id of the key it came in with; `""` where there are none. */
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

/** A claim of the unit that was taken before: by which entry, and which item of the unit asked for it. */
export interface TakenClaim {
  readonly item: number;
  readonly claim: string;
  readonly position: number;
}

export type AppendOutcome = { readonly placed: readonly Placement[] } | { readonly taken: readonly TakenClaim[] };

/** An entry at its place. Salt and body are absent once they were erased. */
export interface StoredEntry {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  /** Both are absent in entries of the first format, and only there. */
  readonly recorded_by?: string | undefined;
  readonly claims_digest?: Uint8Array | undefined;
  readonly commitment: Uint8Array;
  readonly hash: Uint8Array;
  readonly salt?: Uint8Array;
  readonly body?: Uint8Array;
  /**
   * Why the body that is there cannot be read, or is not the one that was recorded: then salt and body are absent. Damage must
   * not look like erasure, nor an altered text like a recorded one.
   */
  readonly flaw?: string;
}

/** An entry's body as text, without what only the chain needs: the quick way for whoever reads many. */
export interface StoredBody {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  /** Absent in entries of the first format. */
  readonly recorded_by?: string | undefined;
  /** As hexadecimal text. */
  readonly hash: string;
  /** JSON; absent once it was erased. */
  readonly body?: string;
  /** As in `StoredEntry`. */
  readonly flaw?: string;
}

/** An entry of another log, to be put at the place it had there. */
export interface CopiedEntry extends StoredEntry {
  /** Unique keys that the entry takes, those of an erased one too. */
  readonly claims: readonly string[];
}

export type KeptClaims = ReadonlyMap<number, readonly string[]>;

/** A body that is noted as erased, and the redaction that is said to name it. */
export interface Erasure {
  readonly position: number;
  readonly redaction: number;
}

/** Triggers and whatever else keeps rows as they are, by name. */
export interface Guards {
  /** Ours that are not there, or were not when this log was opened and put them back. */
  readonly missing: readonly string[];
  /** What is there and is not ours, ours in a changed form included. */
  readonly foreign: readonly string[];
}

/** The redactions of the log's end: all there are after the position that was asked for, through this one. */
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

/** Entries after a position, up to a limit, or until so many bytes of bodies were read. */
export interface ReadRange {
  readonly after: number;
  readonly limit: number;
  readonly bytes_max?: number;
}

/** What those need of a log who show entries that an index led them to. */
export type EntrySource = Pick<EntryLog, "find" | "get" | "getBodies" | "redactionsAfter">;

/** Every body that a log hands out was compared with its commitment: one that does not fit has a flaw, and no body. */
export interface EntryLog {
  /** Which engine this is, so that a test can tell that it talks to the one it means. */
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
  /** Word that very much will be appended soon; a log for which that makes no difference does not listen. */
  hintBulk?(): void;
  /**
   * Puts entries of another log at the places they had there. They must go on where this log ends and fit its chain, and
   * the log must be empty or carry the same id; an empty log takes over the id. Their claims must be those that their hashes
   * cover, and none of the first format may follow one of the second. Answers false, and changes nothing, where that is not
   * so. Where the entries are taken, they are durable. A redaction among them erases here as well.
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
  /** The position that took each claim, or undefined. */
  find(claims: readonly string[]): Promise<readonly (number | undefined)[]>;
  /**
   * What leads to the entries of a range, whoever put it there: keys of claims, by position. For whoever copies erased
   * entries or checks claims against the chain. It may look at every claim there is, so that wide ranges are better than many.
   */
  keptClaims(range: { readonly after: number; readonly through: number }): Promise<KeptClaims>;
  /** Which bodies are noted as erased, by position; for whoever checks that against the redactions of the chain. */
  erasures(range: { readonly after: number; readonly limit: number }): Promise<readonly Erasure[]>;
  /** How what protects the log's rows from being changed differs from what a log of this engine has. */
  guards(): Promise<Guards>;
  /**
   * The redactions after a position, in order, and the head through which these are all. For whoever keeps what was read
   * for a while: it has to obey them, whichever process appended them, and asks often.
   */
  redactionsAfter(position: number): Promise<NewRedactions>;
  /**
   * The first position at which something lies that no append has put there, beside the entries from the first to the
   * head: a row before or behind them, or a head that is not the last one's.
   */
  findOrphan(): Promise<Orphan | undefined>;
  /** Where bodies share what they hold: the positions of those that share something with this one, itself included. */
  positionsSharing?(position: number): Promise<readonly number[]>;
  /**
   * Removes what erased bodies left behind where the store keeps its bytes: unused pages, a WAL. Answers with what is still
   * left, in words, where others are in the way just now; undefined where nothing is.
   */
  purge(): Promise<string | undefined>;
  /** Why nothing could be recorded at this moment, as far as an engine can tell without trying. */
  fault?(): Fault | undefined;
  close(): Promise<void>;
}
