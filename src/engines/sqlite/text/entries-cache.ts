// The entries of segments that searches asked for last, kept until the file is changed by somebody else.
import type Database from "better-sqlite3";
import type { Statements } from "../statements.js";
import { readEntries, type SegmentEntries } from "./text-segments.js";

/** At 24 bytes each this is some megabytes. */
const ENTRIES_MAX = 500_000;

export class EntriesCache {
  readonly #db: Database.Database;
  readonly #sql: Statements;
  readonly #bySegment = new Map<number, SegmentEntries>();
  #entries = 0;
  #version = -1;

  constructor(db: Database.Database, sql: Statements) {
    this.#db = db;
    this.#sql = sql;
  }

  /** Called at the beginning of a search: another process may have made segments anew. */
  check(): void {
    const version = this.#db.pragma("data_version", { simple: true }) as number;
    if (version === this.#version) return;
    this.clear();
    this.#version = version;
  }

  clear(): void {
    this.#bySegment.clear();
    this.#entries = 0;
  }

  get(segment: number): SegmentEntries {
    const known = this.#bySegment.get(segment);
    if (known !== undefined) return known;
    const entries = readEntries(this.#sql, segment);
    this.#entries += entries.positions.length;
    if (this.#entries > ENTRIES_MAX) {
      this.clear();
      this.#entries = entries.positions.length;
    }
    this.#bySegment.set(segment, entries);
    return entries;
  }
}
