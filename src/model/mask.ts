// What showing recorded text needs: secrets replaced by a marker, wherever a surface shows more than the record itself.
import type { EntrySummary } from "./entry.js";

/** A part of a text that is a secret; offsets count UTF-16 units. */
export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  /** The name of the rule that found it, such as `github_token`, or `value` for one that the user registered. */
  readonly rule: string;
}

/** A part of a masked text, with ranges that still point at what they pointed at before. */
export interface MaskedCut {
  readonly text: string;
  readonly matches: readonly (readonly [start: number, end: number])[];
}

export interface Cut {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Ranges of the text to be marked. */
  readonly matches?: readonly (readonly [start: number, end: number])[];
}

export interface Mask {
  /** The secrets in a text, in order, none overlapping another. */
  find(text: string): readonly SecretSpan[];
  /** The text with a marker in place of each secret. */
  text(text: string): string;
  /** The same for every string and key of a JSON value; the value itself where there is nothing to mask. */
  value<T>(value: T): T;
  /** An entry as it is listed. Its addresses (ids and session) stay, since nothing could be fetched without them. */
  entry<E extends object = EntrySummary>(entry: E): E;
  /** A part of a text, masked like the whole: a secret across the border shows as its marker. */
  cut(cut: Cut): MaskedCut;
}

/** Hides nothing: for what hands the record itself on. */
export const noMask: Mask = {
  find: () => [],
  text: (text) => text,
  value: (value) => value,
  entry: (entry) => entry,
  cut: ({ text, start, end, matches = [] }) => ({
    text: text.slice(start, end),
    matches: matches.map(([from, to]) => [from - start, to - start]),
  }),
};
