// What an index engine must be able to do, in parts: rows, sessions, texts, documents, and the life of the whole.
import type { DocumentIndex } from "./port/documents.js";
import type { IndexLife } from "./port/life.js";
import type { RowIndex } from "./port/rows.js";
import type { SessionIndex } from "./port/sessions.js";
import type { TextIndex } from "./port/texts.js";

export type { ChangeQuery, DocumentName, DocumentPlace, DocumentQuery, IndexDocument } from "./port/documents.js";
export type { IndexBatch, IndexSource, IndexStanding } from "./port/life.js";
export type {
  EntryCounts,
  EntryRow,
  RowCounts,
  RowKey,
  RowQuery,
} from "./port/rows.js";
export type { SessionPlace, SessionPlacesQuery, SessionRange } from "./port/sessions.js";
export type { CandidateQuery, EntryTexts, NewestCandidates, NewestQuery, TextBatch } from "./port/texts.js";
export type { Reference, ReferenceCondition } from "./references.js";
export type { RowFilter } from "./row-filter.js";

export interface EntryIndex extends RowIndex, SessionIndex, TextIndex, DocumentIndex, IndexLife {
  /** Begins an empty index beside this one, which goes on answering. What cannot do that is reset instead. */
  draft?(): Promise<IndexDraft>;
}

/** An index that is filled beside the one in use, to take its place. */
export interface IndexDraft {
  readonly index: EntryIndex;
  /** False once it was adopted or removed, by whichever process. */
  isThere(): Promise<boolean>;
  /**
   * Puts it in the place of the index in use, at once and for every process. Behind means that the one in use knows more
   * as yet; gone, that it was removed and never took its place, since forgetting removes drafts.
   */
  adopt(): Promise<"adopted" | "behind" | "gone">;
  remove(): Promise<void>;
}
