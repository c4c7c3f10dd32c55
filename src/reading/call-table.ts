// Calls of the reading side, by name. The composition of a recorder supplies the tables: this folder knows none of them.
import type { EntryLog } from "../log/port.js";
import type { Mask } from "../model/mask.js";
import type { EntryReader } from "../search/lists/entry-reader.js";
import type { ResilientIndex } from "./local-reading.js";
import type { SharedRebuild } from "./rebuild.js";

/** A function for each call. */
export type CallTable<P> = { readonly [name: string]: (parts: P, query: never) => Promise<unknown> };

/** The calls of a table as callers see them, whether from this thread, another one or another machine. */
export type CallsOf<T> = {
  readonly [N in keyof T]: T[N] extends (parts: never, ...query: infer Q) => infer A ? (...query: Q) => A : never;
};

/** An answer as JSON is bytes in UTF-8, written where it is read: a large one crosses to another thread without a copy. */
export type AnswerForm = "value" | "json";

/** Asks by name, wherever the answer comes from. */
export type Ask = (name: string, query: unknown, form?: AnswerForm) => Promise<unknown>;

/** Turns a table into functions that ask by name. */
export function bindCalls<T extends object>(table: T, ask: Ask): CallsOf<T> {
  const bound = Object.keys(table).map((name) => [name, (query?: unknown) => ask(name, query)]);
  return Object.fromEntries(bound) as CallsOf<T>;
}

/** The reading side of a store. */
export interface Reading {
  readonly ask: Ask;
  /** Call it when the log has grown, so the index follows soon. Answers do not depend on it. */
  grown(): void;
  close(): Promise<void>;
}

/** `R` is what reads an index: the readers of every subject, which this folder need not know. */
export interface AnswerContext<R> {
  readonly log: EntryLog;
  readonly mask: Mask;
  /** Single entries, read from the log. */
  readonly entries: EntryReader;
  readonly index: ResilientIndex<R>;
  readonly rebuilding: SharedRebuild;
  /** Removes leftovers of deleted rows from the index's files. */
  readonly purge: () => Promise<string | undefined>;
}
