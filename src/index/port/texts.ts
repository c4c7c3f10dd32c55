// Texts in the index: what a search looks through, applied behind the rows, and which entries may hold what it looks for.
import type { RowFilter } from "../row-filter.js";
import type { RowKey, RowQuery } from "./rows.js";

/** What a search looks through in one entry: each text of its own, in the form that searches compare. */
export interface EntryTexts {
  readonly position: number;
  readonly texts: readonly string[];
}

export interface TextBatch {
  readonly texts: readonly EntryTexts[];
  /** The position that the batch continues; an index that has not come that far passes it over, which would leave a gap. */
  readonly after?: number;
  readonly through: number;
}

export interface CandidateQuery extends RowQuery {
  /** Each a piece of one text, in the form of the texts. */
  readonly needles: readonly string[];
}

/** A look at the newest rows of one kind, which costs no more however large the index is. */
export interface NewestQuery {
  readonly kind: string;
  /** What else has to hold. */
  readonly filter: Omit<RowFilter, "kinds">;
  readonly needles: readonly string[];
  /** So many rows of the kind, within the times of the filter, are looked at. */
  readonly rows_max: number;
}

export interface NewestCandidates {
  readonly keys: readonly RowKey[];
  /** False where rows of the kind were left out, which may be candidates, too. */
  readonly is_all: boolean;
}

export interface TextIndex {
  /** The position through which texts were applied; at most that of the rows. */
  textCheckpoint(): Promise<number>;
  /**
   * Applies the texts that follow the text checkpoint, in order. An engine may keep them back until enough has come
   * together: its checkpoint then stays where it is, and after a restart they are given again. Answers with the position
   * after which texts are to be given next, which goes back to the checkpoint where another process got ahead.
   */
  applyTexts(batch: TextBatch): Promise<number>;
  /**
   * Called when no more texts are to be given for now: writes what was kept back, or does one merge of what is written,
   * which may take a tenth of a second. False once nothing is left to do. No answer depends on it.
   */
  mergeTexts?(): Promise<boolean>;
  /**
   * As `list`, but only what may hold all of the needles: every entry that does, those whose texts are not applied yet,
   * and perhaps some that do not. Whoever asks looks at the entries themselves.
   */
  candidates(query: CandidateQuery): Promise<readonly RowKey[]>;
  /** The candidates among the newest rows of a kind, newest first; all of them where the engine finds those as quickly. */
  newestCandidates(query: NewestQuery): Promise<NewestCandidates>;
}
