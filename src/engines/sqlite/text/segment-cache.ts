// Caches segments for as long as the file is unchanged.
import type { Statements } from "../statements.js";
import { BlockPlaces } from "./blocks.js";
import { Columns, listSegments, newestCounts, readPlaces, type Segment, type SliceCounts } from "./segments.js";

/** At four bytes each, the cached places take some megabytes. */
const BLOCKS_MAX = 2_000_000;

export class SegmentCache {
  readonly #sql: Statements;
  /** Versions of content and tables at the last refresh; undefined if no longer known. */
  #dataVersion: number | undefined;
  #tablesVersion: number | undefined;
  #changes = 0;
  #segments: readonly Segment[] = [];
  #counts: SliceCounts | undefined;
  readonly #places = new Map<string, BlockPlaces>();
  readonly #columns = new Map<string, Columns>();
  #blocks = 0;

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** Call it at the start of each transaction that uses the cache. */
  look(): void {
    const [data, tables] = [dataVersionOf(this.#sql), tablesVersionOf(this.#sql)];
    if (data === this.#dataVersion && tables === this.#tablesVersion) return;
    // Recreated tables number their segments from one again.
    if (tables !== this.#tablesVersion) this.forget();
    [this.#dataVersion, this.#tablesVersion] = [data, tables];
    this.#changes += 1;
    this.#segments = listSegments(this.#sql);
    this.#counts = newestCounts(this.#sql, this.#counts);
    // Changed texts have another name.
    const names = new Set(this.#segments.map(nameOf));
    for (const name of this.#columns.keys()) if (!names.has(name)) this.#columns.delete(name);
  }

  /** Call it after this connection has changed something, which SQLite's version does not tell. */
  changed(): void {
    this.#dataVersion = undefined;
  }

  forget(): void {
    this.changed();
    this.#places.clear();
    this.#columns.clear();
    this.#counts = undefined;
    this.#blocks = 0;
  }

  /** Number of refreshes that may have found changes. */
  get times_changed(): number {
    return this.#changes;
  }

  /** In order of position. */
  get segments(): readonly Segment[] {
    return this.#segments;
  }

  /** How many blocks have each bit, in the newest merged segment; undefined if there is none. */
  get counts(): Uint16Array | undefined {
    return this.#counts?.counts;
  }

  places(segment: Segment): BlockPlaces {
    const known = this.#places.get(nameOf(segment));
    if (known !== undefined) return known;
    const places = new BlockPlaces(segment, readPlaces(this.#sql, segment));
    this.#blocks += segment.blocks;
    if (this.#blocks > BLOCKS_MAX) {
      this.#places.clear();
      this.#blocks = segment.blocks;
    }
    this.#places.set(nameOf(segment), places);
    return places;
  }

  /** For an unmerged segment; there are few enough to cache all. */
  columns(segment: Segment): Columns {
    const known = this.#columns.get(nameOf(segment)) ?? new Columns(this.#sql, segment);
    this.#columns.set(nameOf(segment), known);
    return known;
  }
}

/** Changes when any process recreates or swaps tables. */
export function tablesVersionOf(sql: Statements): number {
  return (sql.get<{ readonly schema_version: number }>("PRAGMA schema_version") as { schema_version: number })
    .schema_version;
}

/** Changes when another connection has written. */
function dataVersionOf(sql: Statements): number {
  return (sql.get<{ readonly data_version: number }>("PRAGMA data_version") as { data_version: number }).data_version;
}

function nameOf({ segment, revision }: Segment): string {
  return `${segment} ${revision}`;
}
