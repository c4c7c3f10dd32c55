// The interface of an importer: it reads one source and yields entries. It never sees storage.
import type { JsonObject, JsonValue } from "../model/json.js";
import type { WallClock } from "../model/time.js";
import type { UnpackBudget } from "./zstd.js";

/** One line of a source: its JSON object, or why there is none. Blank lines are skipped. */
export type SourceRecord =
  | { readonly line: number; readonly record: JsonObject; readonly bytes: number }
  | { readonly line: number; readonly reason: string };

/** One line of a source that is text, or why it is left out. */
export type SourceText =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly reason: string };

/** One value of a document, or why it cannot be read further. */
export type SourceValue =
  | { readonly line: number; readonly value: JsonValue }
  | { readonly line: number; readonly reason: string };

/** An entry in capture's form. Its id decides whether it was imported before. */
export type ImportedEntry = { readonly kind: string; readonly id: string } & { readonly [field: string]: unknown };

/** An entry of another log with its position, time and hash there. */
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

/** The position of the entry with an id; undefined if there is none. */
export type FindEntry = (id: string) => Promise<number | undefined>;

/** What is stored at a position; undefined if it was erased. */
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

/** Formats by name; or all but exports of records, which a person has to name: what was only found has no authority. */
export type FormatsRead = readonly string[] | "no_exports";

/** A memory of another log: proposed here, whatever its status was there. */
export interface ExportedMemory {
  readonly content: string;
  readonly type: string;
  readonly project: string;
  readonly tags: readonly string[];
  readonly valid_until: string;
  readonly evidence: readonly { readonly entry_id: string; readonly quote: string }[];
}

type DeferredEntries = readonly ImportedEntry[] | string;

export type ImportStep =
  /**
   * An entry to append. `onPlaced` is called with its position, whether it is new or not. `onExisting` gets what is
   * already stored under its id (undefined if that was erased), and may return a step to do instead: the rest of a
   * message that was recorded while it was being written, another id, or the reason of a refusal. Without it, the id
   * alone decides.
   */
  | EntryStep
  /**
   * Entries that depend on the positions of earlier ones or on what is stored: built once everything before them is in
   * the log. A text instead of entries is the reason of a refusal.
   */
  | {
      readonly line: number;
      /** The session of all of them, where they are of one. */
      readonly session_id?: string;
      readonly deferred: (find: FindEntry, read: ReadStored) => DeferredEntries | Promise<DeferredEntries>;
      /** It looks for what others recorded: entries of this import that wait need not be written first. */
      readonly looks_for_others?: true;
    }
  /**
   * An entry to restore at its old position. If that is impossible, the step that `onRefused` returns is done instead.
   */
  | {
      readonly line: number;
      readonly copy: EntryCopy;
      readonly log_id: string;
      readonly session_id: string;
      readonly onPlaced: (position: number) => void;
      readonly onRefused: () => ImportStep;
    }
  | { readonly line: number; readonly memory: ExportedMemory }
  /** An entry that the log already has at this very position. */
  | { readonly line: number; readonly present: true; readonly session_id: string }
  | RejectedStep;

/** The beginning of a source, which identifies its format. */
export interface Opening {
  /** The file's name, for formats that content alone does not identify. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The JSON objects of its complete lines; empty if it is one document over several lines. */
  readonly records: readonly JsonObject[];
  /** The first JSON value, as far as the opening contains it; undefined if there is none. */
  readonly document: JsonValue | undefined;
  /** Whether the first value spans several lines. */
  readonly is_one_value: boolean;
  /** The columns of each table, if the source is a database. */
  readonly tables: TableColumns | undefined;
}

export type TableColumns = { readonly [table: string]: readonly string[] };

export interface SourceFacts {
  /** As the user gave it or will recognise it. */
  readonly path: string;
  /** The file's name without folder and extension. */
  readonly stem: string;
  /** When the file was last written; undefined for a stream. */
  readonly modified_ms: number | undefined;
  readonly opening: Opening;
  /** Parses times; those without a zone are in the zone that the user named. */
  readonly clock: WallClock;
  /** The log that is imported into, for importing a copy of it. */
  readonly log: LogState;
  /**
   * Whether entries of an exported log get new positions, like those of any other source, without checking its chain.
   */
  readonly as_new: boolean;
  /** Whether an exported log is one's own: restored as it was, with its verdicts on memories. */
  readonly restores: boolean;
  /**
   * Whether a program is still writing to the source. An importer then leaves out unfinished records: the source is
   * read again, at the latest when writing has stopped.
   */
  readonly isGrowing: () => boolean;
  /** For values in it that are compressed. */
  readonly unpacking: UnpackBudget;
  readonly siblings: SiblingFiles;
}

/**
 * Files next to the current one, for formats of several files; paths are relative to its folder, at most three levels
 * up.
 */
export interface SiblingFiles {
  /** The text of a file; undefined if there is none, or it is too long. */
  read(path: string): Promise<string | undefined>;
  /** The names in a folder, in order; empty if there is no such folder. */
  list(path: string): Promise<readonly string[]>;
}

/**
 * How reading a growing source resumes. An importer's state is plain data for the structured clone, and contains
 * everything that later lines depend on. If it saves none, its source is read from the start after every change.
 */
export interface Resumption {
  /** The state at the end of the last reading; undefined at the beginning of a source. */
  readonly state: unknown;
  /** `take` returns the state after the last line that was read. */
  onSave(take: () => unknown): void;
}

/** What each kind of importer gets to read. */
interface SourceReaders {
  readonly lines: {
    readonly resume: Resumption;
    /**
     * The lines of the file in batches, each to be consumed before the next. They are nested at most `levels` deep, by default
     * as deep as an entry may be.
     */
    records(levels?: number): AsyncIterable<Iterable<SourceRecord>>;
  };
  readonly text: {
    /** The lines of the file in batches, blank ones included, without their ends. */
    texts(): AsyncIterable<Iterable<SourceText>>;
  };
  readonly document: {
    /** The named members of the document's first value, anywhere in the file; absent ones are left out. */
    header(names: readonly string[]): Promise<JsonObject>;
    /** The values at a path (`*`, `messages.*`), in order; an empty path means whole values. */
    values(path: string): AsyncIterable<SourceValue>;
  };
  readonly tables: {
    readonly tables: TableColumns;
    /** The rows of a query, one by one; values are text, numbers, bytes or null. */
    rows(query: TableQuery): AsyncIterable<TableRow>;
  };
}

/** What is read of a table. It is no SQL: nothing of a foreign file may decide what is computed. */
export interface TableQuery {
  readonly table: string;
  /** One that the table lacks is null in every row. */
  readonly columns: readonly string[];
  /** Only rows that have these values. */
  readonly where?: { readonly [column: string]: string | number | null };
  /** Columns to sort by, ascending; among equals the row that was inserted first. */
  readonly order?: readonly string[];
  /** Equal rows count as one. */
  readonly distinct?: boolean;
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
  /** The format's name, which prefixes the ids of its entries. Several importers may share one. */
  readonly format: string;
  readonly reads: R;
  /** Whether a source that begins like this has this format. */
  recognises(opening: Opening): boolean;
  /** Checks all lines before anything is imported; a text is the reason to import nothing. */
  check?(records: AsyncIterable<Iterable<SourceRecord>>): Promise<string | undefined>;
  /** Steps, one by one or in batches: a promise for each of many would cost more than the step. */
  read(source: SourceOf<R>): AsyncIterable<ImportStep | Iterable<ImportStep>>;
  /** Whether it reads the lines more than once: a stream is then copied to disk first. */
  readonly rereads?: boolean;
}

export type LineImporter = ImporterOf<"lines">;
export type TextImporter = ImporterOf<"text">;
export type DocumentImporter = ImporterOf<"document">;
export type TableImporter = ImporterOf<"tables">;
export type Importer = LineImporter | TextImporter | DocumentImporter | TableImporter;
