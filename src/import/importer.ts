// What an importer is: it reads one source and yields entries. It never sees storage.
import type { JsonObject } from "../model/json.js";
import type { WallClock } from "../model/zoned-time.js";

/** One line of a source: the JSON object on it, or why there is none. Blank lines are passed over. */
export type SourceRecord =
  | { readonly line: number; readonly record: JsonObject }
  | { readonly line: number; readonly reason: string };

/** An entry as capture takes it. Its id decides whether it was imported before. */
export type ImportedEntry = { readonly kind: string; readonly id: string } & { readonly [field: string]: unknown };

/** An entry of another log with the place, the time and the hash that it had there. */
export interface EntryCopy {
  readonly position: number;
  readonly kind: string;
  readonly recorded_at: string;
  readonly recorded_by?: string | undefined;
  readonly claims_digest?: Uint8Array | undefined;
  readonly commitment: Uint8Array;
  readonly hash: Uint8Array;
  readonly salt?: Uint8Array;
  readonly body?: Uint8Array;
  readonly claims: readonly string[];
}

export type ImportStep =
  /**
   * An entry to append. `placed` hears where it is, also where it was there before. `flawOf` looks at the body that is
   * stored under its id already, and may say why that is another entry; without it the id alone decides.
   */
  | {
      readonly line: number;
      readonly entry: ImportedEntry;
      readonly placed?: (position: number) => void;
      readonly flawOf?: (stored: Uint8Array | undefined) => string | undefined;
    }
  /** An entry that can be made only once all before it have their places; undefined where there is none to make. */
  | { readonly line: number; readonly later: () => ImportedEntry | string | undefined }
  /** An entry to put at its old place. Where that cannot be, `refused` is told, and what it gives is done instead. */
  | {
      readonly line: number;
      readonly copy: EntryCopy;
      readonly log_id: string;
      readonly session_id: string;
      readonly placed: (position: number) => void;
      readonly refused: () => ImportStep;
    }
  /** An entry that needs nothing done, because the log has it at this very place. */
  | { readonly line: number; readonly present: true; readonly session_id: string }
  /** A line that was left out. */
  | { readonly line: number; readonly reason: string };

/** The beginning of a source, by which its format is found. */
export interface Opening {
  readonly bytes: Uint8Array;
  /** The JSON objects on the whole lines of it. */
  readonly records: readonly JsonObject[];
  /** Whether the lines are parts of one JSON value, although some of them may look like lines of a format. */
  readonly is_one_value: boolean;
}

export interface ImportSource {
  /** The file's name without folder and ending. */
  readonly stem: string;
  /** When the file was last written; undefined for a stream. */
  readonly modified_ms: number | undefined;
  readonly opening: Opening;
  /** Reads times, naive ones in the zone that the user named. */
  readonly clock: WallClock;
  /** The log that is imported into, as far as a copy of a log has to know it. */
  readonly log: LogState;
  /** Whether a copy of a log is placed anew like any other source, whatever its chain says. */
  readonly as_new: boolean;
  /** The lines, nested at most so many levels deep; as deep as an entry may be where nothing is said. */
  records(levels?: number): AsyncIterable<SourceRecord>;
}

export interface LogState {
  head(): Promise<{ readonly log_id: string; readonly position: number }>;
  hashAt(position: number): Promise<Uint8Array | undefined>;
}

export interface Importer {
  /** The format's name, which is also what the ids of its entries begin with. */
  readonly format: string;
  /** Whether a source that begins like this is one of its own. */
  recognises(opening: Opening): boolean;
  /** Looks through all of it before anything is taken, and says why nothing may be, where that is so. */
  check?(records: AsyncIterable<SourceRecord>): Promise<string | undefined>;
  read(source: ImportSource): AsyncIterable<ImportStep>;
}
