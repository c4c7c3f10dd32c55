// An engine's interface: the parts of a store, each opened when it is needed.

import type { KeyStore } from "../guard/keys.js";
import type { IndexHolder } from "../index/index-holder.js";
import type { IndexSource } from "../index/port.js";
import type { EntryLog } from "../log/port.js";
import type { Fault } from "../model/fault.js";
import type { Leases } from "../model/lease.js";
import type { StoreFiles } from "../model/store-location.js";

/** Whether a store that is not there is made, must be there, or is only read. */
export type LogMode = "create" | "write" | "read";

/** Word from others on the same store that its log has grown. */
export interface Growth {
  listen(onGrown: () => void): void;
  close(): void;
}

/** The version of an index that was begun again, and the one that it has now. */
export interface ReplacedIndex {
  readonly version: number;
  readonly version_known: number;
}

export interface Store {
  /** Where it is made of files: these are written and read by threads of their own, since each call holds its thread. */
  readonly files?: StoreFiles;
  log(mode: LogMode): Promise<EntryLog>;
  index(): Promise<IndexHolder>;
  /** Where opening the store began an index again that an older version of Hansard had made. */
  readonly replacedIndex?: ReplacedIndex | undefined;
  keys(): Promise<KeyStore>;
  /** Where others share the store without sharing its files. */
  growth?(): Growth;
  /** Which one of all processes on the store does what only one of them should. */
  leases(): Leases;
  close(): Promise<void>;
}

export interface StoreOptions {
  readonly address: string;
  readonly mode: LogMode;
  /** Whether a server that is not there yet is waited for; without it, that is a fault at once. */
  readonly waits?: boolean;
  /** Hears why, once, if it is waited for. */
  readonly onWait?: ((fault: Fault) => void) | undefined;
}

/** An engine, by the addresses that it serves. */
export interface StoreEngine {
  readonly engine: string;
  open(options: StoreOptions): Promise<Store>;
}

/** What can be told about one file of a store, also where it cannot be opened as a store. */
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
  /** What the system or SQLite said about it, where it said something. */
  readonly reason: string;
  readonly bytes: number;
  readonly wal_bytes: number;
  /** Permission bits; 0 where there is no file. */
  readonly mode: number;
  readonly is_writable: boolean;
  /** Another process holds the lock for writing. */
  readonly is_locked: boolean;
  readonly version: number;
  readonly version_known: number;
  /** Newest position of a log, position reached of an index; 0 where it cannot be told. */
  readonly position: number;
  /** What an index remembers of the log; nothing for a log, or where it cannot be told. */
  readonly heads: readonly IndexSource[];
}
