// An engine's interface: the parts of a store, each opened when it is needed.

import type { KeyStore } from "../guard/keys.js";
import type { IndexHolder } from "../index/index-holder.js";
import type { IndexSource } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import type { Fault } from "../model/fault.js";
import type { Leases } from "../model/lease.js";
import type { StoreFiles } from "../model/store-location.js";

/** Whether a missing store is created, must exist, or is only read. */
export type LogMode = "create" | "write" | "read";

/** Notifications from other processes on the same store that its log has grown. */
export interface Growth {
  listen(onGrown: () => void): void;
  close(): void;
}

/** The version of a recreated index, and its version now. */
export interface ReplacedIndex {
  readonly version: number;
  readonly version_known: number;
}

export interface Store {
  /** For file stores: each thread opens its own, since every call blocks its thread. */
  readonly files?: StoreFiles;
  log(mode: LogMode): Promise<EntryLog>;
  index(): Promise<IndexHolder>;
  /** Set if opening the store recreated an index of an older version. */
  readonly replacedIndex?: ReplacedIndex | undefined;
  keys(): Promise<KeyStore>;
  /** Set if others share the store without sharing its files. */
  growth?(): Growth;
  /** Which of all processes on the store does the work that only one should do. */
  leases(): Leases;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly address: string;
  readonly mode: LogMode;
  /** Whether to wait for a server that is not up yet; otherwise that is a fault at once. */
  readonly waits?: boolean;
  /** Called once with the reason, if it has to wait. */
  readonly onWait?: ((fault: Fault) => void) | undefined;
}

/** An engine, by the addresses that it serves. */
export interface StoreEngine {
  readonly engine: string;
  open(options: StoreOptions): Promise<Store>;
}

/** What is known about one file of a store, even if it cannot be opened as a store. */
export interface FileFacts {
  readonly path: string;
  /** `current` is the only state in which nothing is wrong with the file. */
  readonly state:
    | "missing"
    | "unreadable"
    | "empty"
    | "not_a_database"
    | "foreign"
    | "newer"
    | "older"
    | "damaged"
    | "current";
  /** The message of the system or of SQLite, if any. */
  readonly reason: string;
  readonly bytes: number;
  readonly wal_bytes: number;
  /** Permission bits; 0 if there is no file. */
  readonly mode: number;
  readonly is_writable: boolean;
  /** Another process holds the lock for writing. */
  readonly is_locked: boolean;
  readonly version: number;
  readonly version_known: number;
  /** Newest position of a log, indexed position of an index; 0 if unknown. */
  readonly position: number;
  /** The log heads that an index remembers; empty for a log, or if unknown. */
  readonly heads: readonly IndexSource[];
}
