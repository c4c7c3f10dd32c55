// Tables that say something about every kind of entry: one that lacks a kind does not compile.
import type { ReadKind } from "./entry.js";

/** What is said of an entry, by its kind; `More` is what it takes beside the entry. */
export type ByKind<E extends { readonly kind: ReadKind }, Said, More extends readonly unknown[] = []> = {
  readonly [K in ReadKind]: (entry: Extract<E, { readonly kind: K }>, ...more: More) => Said;
};

/** What the table says of this entry; undefined where a store holds a kind that this version does not know. */
export function saidByKind<E extends { readonly kind: ReadKind }, Said, More extends readonly unknown[]>(
  table: ByKind<E, Said, More>,
  entry: E,
  ...more: More
): Said | undefined {
  const say = Object.hasOwn(table, entry.kind)
    ? (table[entry.kind] as unknown as (entry: E, ...more: More) => Said)
    : undefined;
  return say?.(entry, ...more);
}
