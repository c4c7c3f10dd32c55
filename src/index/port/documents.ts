// Documents of the index: what is folded from many entries, such as a session as a whole. The folds are written once, in
// src/indexing, and hand the documents that changed to the index with the rows that changed them.
import type { JsonObject } from "../../model/json.js";

export interface DocumentName {
  readonly collection: string;
  readonly key: string;
}

export interface IndexDocument extends DocumentName {
  /** Where it stands in its collection: any number that is finite. */
  readonly sort: number;
  /** The position of the newest entry that it was made from: it decides where sorts are equal, and tells what changed. */
  readonly position: number;
  /** What lists select it by, each once. They are given back in this order. */
  readonly labels: readonly string[];
  readonly body: JsonObject;
}

export interface DocumentQuery {
  readonly collection: string;
  /** By `sort`, then by position, then by key (as UTF-8, byte by byte), all in this direction. */
  readonly order: "asc" | "desc";
  /** Only documents that have all of these labels. */
  readonly labels?: readonly string[];
  /** Only documents strictly beyond this place in the given order; what it leaves out, it is beyond all of. */
  readonly beyond?: DocumentPlace;
  /** Only documents that no entry after this position has changed. */
  readonly through?: number;
  readonly limit: number;
}

export interface DocumentPlace {
  readonly sort: number;
  readonly position?: number;
  /** Counts only with a position. */
  readonly key?: string;
}

/** Documents that entries after a position have changed: by their position, then by key, both upwards. */
export interface ChangeQuery {
  readonly collection: string;
  readonly labels?: readonly string[];
  /** Strictly beyond this place; without a key, beyond all of that position. */
  readonly beyond: { readonly position: number; readonly key?: string };
  readonly limit: number;
}

/** All texts are compared exactly. What is answered is of one moment: that of a checkpoint, never of a batch half applied. */
export interface DocumentIndex {
  /** Those of these keys that are there, in no particular order. */
  getDocuments(query: {
    readonly collection: string;
    readonly keys: readonly string[];
  }): Promise<readonly IndexDocument[]>;
  listDocuments(query: DocumentQuery): Promise<readonly IndexDocument[]>;
  changedDocuments(query: ChangeQuery): Promise<readonly IndexDocument[]>;
  countDocuments(collection: string): Promise<number>;
}
