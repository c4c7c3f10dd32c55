// What an engine can tell about one file of a store, also where it cannot be opened as a store.
import type { IndexSource } from "../index/port.js";

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
