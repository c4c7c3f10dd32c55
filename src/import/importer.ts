// What an importer is: it reads one source and yields entries. It never sees storage.
import type { JsonObject, JsonValue } from "../model/json.js";
import type { WallClock } from "../model/time.js";

/** One line of a source: the JSON object on it, or why there is none. Blank lines are passed over. */
export type SourceRecord =
  | { readonly line: number; readonly record: JsonObject; readonly bytes: number }
  | { readonly line: number; readonly reason: string };

/** One value of a document, or why it cannot be read further. */
export type SourceValue =
  | { readonly line: number; readonly value: JsonValue }
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

/** Where the entry with an id is in the log; undefined where there is none. */
export type FindEntry = (id: string) => Promise<number | undefined>;

/** What is stored at a position; undefined where it was erased. */
export type ReadStored = (position: number) => Promise<JsonObject | undefined>;

type Replacement = EntryStep | RejectedStep | undefined;

export interface EntryStep {
  readonly line: number;
  readonly entry: ImportedEntry;
  readonly onPlaced?: ((position: number) => void) | undefined;
  readonly onExisting?:
    | ((stored: JsonObject | undefined, find: FindEntry) => Replacement | Promise<Replacement>)
    | undefined;
}

/** A line that was left out. */
export interface RejectedStep {
  readonly line: number;
  readonly reason: string;
}

type DeferredEntries = readonly ImportedEntry[] | string;

export type ImportStep =
  /**
   * An entry to append. `onPlaced` hears where it is, also where it was there before. `onExisting` looks at what is stored
   * under its id already (undefined where that was erased), and may give a step to be done in its place: the rest of a
   * message that was recorded while it was being written, another id, or the reason why it is refused. Without it the id
   * alone decides.
   */
  | EntryStep
  /**
   * Entries that can be made only once all before them have their places, or by what is stored already, or why there is
   * none to make.
   */
  | {
      readonly line: number;
      readonly deferred: (find: FindEntry, read: ReadStored) => DeferredEntries | Promise<DeferredEntries>;
    }
  /** An entry to put at its old place. Where that cannot be, `onRefused` is told, and what it gives is done instead. */
  | {
      readonly line: number;
      readonly copy: EntryCopy;
      readonly log_id: string;
      readonly session_id: string;
      readonly onPlaced: (position: number) => void;
      readonly onRefused: () => ImportStep;
    }
  /** An entry that needs nothing done, because the log has it at this very place. */
  | { readonly line: number; readonly present: true; readonly session_id: string }
  | RejectedStep;

/** The beginning of a source, by which its format is found. */
export interface Opening {
  /** The file's name, for what its content alone does not tell. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The JSON objects on the whole lines of it; none where it is one document over several lines. */
  readonly records: readonly JsonObject[];
  /** The first JSON value, as far as the opening has it; undefined where there is none. */
  readonly document: JsonValue | undefined;
  /** Whether the first value goes on over several lines, so that no line stands for itself. */
  readonly is_one_value: boolean;
  /** The columns of each table, where the source is a database. */
  readonly tables: TableColumns | undefined;
}

export type TableColumns = { readonly [table: string]: readonly string[] };

export interface SourceFacts {
  /** As the user will recognise it. */
  readonly path: string;
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
  /**
   * Asked by whoever meets something that may not be finished: whether it had better be left out, because somebody is writing
   * to the source. Then it is read again, at the latest when nobody does any more.
   */
  readonly isGrowing: () => boolean;
  readonly siblings: SiblingFiles;
}

/** Files around the one that is read, for formats of several; paths are relative to its folder, at most three levels up. */
export interface SiblingFiles {
  /** The text of a file; undefined where there is none, or one too long to be held. */
  read(path: string): Promise<string | undefined>;
  /** The names in a folder, in order; none where there is no such folder. */
  list(path: string): Promise<readonly string[]>;
}

/**
 * How a source that grows is read on where it was left. What is noted is plain data, as the structured clone takes it, and
 * holds all that lines further on depend on. An importer that notes nothing has its source read whole whenever it changed.
 */
export interface Resumption {
  /** What was noted where reading stopped; undefined at the beginning of a source. */
  readonly state: unknown;
  /** Gives the way to ask what is known behind the last line that was read. */
  onSave(take: () => unknown): void;
}

/** What an importer declares to read decides what it is given. */
interface SourceReaders {
  readonly lines: {
    readonly resume: Resumption;
    /**
     * The lines, piece by piece of the file, nested at most so many levels deep; as deep as an entry may be where nothing is
     * said. A piece has many, and is gone through before the next is asked for.
     */
    records(levels?: number): AsyncIterable<Iterable<SourceRecord>>;
  };
  readonly document: {
    /** The named members of the document's first value, wherever in the file they stand; absent ones are left out. */
    header(names: readonly string[]): Promise<JsonObject>;
    /** The values at a path (`*`, `messages.*`), or whole values where it is empty, in their order. */
    values(path: string): AsyncIterable<SourceValue>;
  };
  readonly tables: {
    readonly tables: TableColumns;
    /** The rows of a query, one after the other; values are text, numbers, bytes or null. */
    rows(query: string, ...values: readonly (string | number)[]): Iterable<TableRow>;
  };
}

export type TableRow = { readonly [column: string]: string | number | Uint8Array | null };

export type Reads = keyof SourceReaders;
export type SourceOf<R extends Reads> = SourceFacts & SourceReaders[R];
export type ImportSource = SourceOf<"lines">;

export interface LogState {
  head(): Promise<{ readonly log_id: string; readonly position: number }>;
  hashAt(position: number): Promise<Uint8Array | undefined>;
}

interface ImporterOf<R extends Reads> {
  /** The format's name, which is also what the ids of its entries begin with. Several importers may share one. */
  readonly format: string;
  readonly reads: R;
  /** Whether a source that begins like this is one of its own. */
  recognises(opening: Opening): boolean;
  /** Looks through all lines before anything is taken, and says why nothing may be, where that is so. */
  check?(records: AsyncIterable<Iterable<SourceRecord>>): Promise<string | undefined>;
  /** Steps, one by one or many at once: where there are many, a promise for each would cost more than the step. */
  read(source: SourceOf<R>): AsyncIterable<ImportStep | Iterable<ImportStep>>;
  /** Whether it goes through the lines more than once, so that a stream has to be kept for it. */
  readonly rereads?: boolean;
}

export type LineImporter = ImporterOf<"lines">;
export type DocumentImporter = ImporterOf<"document">;
export type TableImporter = ImporterOf<"tables">;
export type Importer = LineImporter | DocumentImporter | TableImporter;
