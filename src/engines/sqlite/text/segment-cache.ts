// The segments as they were last read, for as long as nobody has changed the file.
import type { Statements } from "../statements.js";
import { BlockPlaces } from "./block-places.js";
import { Columns } from "./columns.js";
import { listSegments, newestCounts, readPlaces, type Segment, type SliceCounts } from "./segments.js";

/** At four bytes each, what is known of them takes some megabytes. */
const BLOCKS_MAX = 2_000_000;

export class SegmentCache {
  readonly #sql: Statements;
  /** Of the content and of the tables, as they were when it was looked; undefined where that is no longer known. */
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

  /** Called at the beginning of each transaction that goes by what is known. */
  look(): void {
    const [data, tables] = [dataVersionOf(this.#sql), tablesVersionOf(this.#sql)];
    if (data === this.#dataVersion && tables === this.#tablesVersion) return;
    // Tables that were made anew number their segments from one again.
    if (tables !== this.#tablesVersion) this.forget();
    [this.#dataVersion, this.#tablesVersion] = [data, tables];
    this.#changes += 1;
    this.#segments = listSegments(this.#sql);
    this.#counts = newestCounts(this.#sql, this.#counts);
    // Texts that were changed have another name since.
    const names = new Set(this.#segments.map(nameOf));
    for (const name of this.#columns.keys()) if (!names.has(name)) this.#columns.delete(name);
  }

  /** Word that this connection has changed something itself, which no version tells. */
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

  /** How often something else was found than before, or may have been. */
  get times_changed(): number {
    return this.#changes;
  }

  /** In order of position. */
  get segments(): readonly Segment[] {
    return this.#segments;
  }

  /** How many blocks have each bit, in a segment that is as good as any; undefined where none is merged. */
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

  /** Of an unmerged segment; there are never so many that they could not all be kept. */
  columns(segment: Segment): Columns {
    const known = this.#columns.get(nameOf(segment)) ?? new Columns(this.#sql, segment);
    this.#columns.set(nameOf(segment), known);
    return known;
  }
}

/** Changes whenever tables are made or put in place of others, by whichever process. */
export function tablesVersionOf(sql: Statements): number {
  return (sql.get<{ readonly schema_version: number }>("PRAGMA schema_version") as { schema_version: number })
    .schema_version;
}

/** Changes whenever another connection has written. */
function dataVersionOf(sql: Statements): number {
  return (sql.get<{ readonly data_version: number }>("PRAGMA data_version") as { data_version: number }).data_version;
}

function nameOf({ segment, revision }: Segment): string {
  return `${segment} ${revision}`;
}
