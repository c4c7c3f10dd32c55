// Masking as surfaces use it: replaces secrets by a marker wherever recorded text is shown.
import type { EntrySummary } from "./entry.js";

/** A part of a text that is a secret; offsets count UTF-16 units. */
export interface SecretSpan {
  readonly start: number;
  readonly end: number;
  /** The name of the rule that found it, such as `github_token`, or `value` for a registered one. */
  readonly rule: string;
}

/** A part of a masked text, with ranges that are adjusted to it. */
export interface MaskedCut {
  readonly text: string;
  readonly matches: readonly (readonly [start: number, end: number])[];
}

export interface Cut {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Ranges to highlight in the text. */
  readonly matches?: readonly (readonly [start: number, end: number])[];
}

export interface Mask {
  /** The secrets in a text, in order, without overlaps. */
  find(text: string): readonly SecretSpan[];
  /** The text with a marker in place of each secret. */
  text(text: string): string;
  /** The same for every string and key of a JSON value; returns the value itself if nothing is masked. */
  value<T>(value: T): T;
  /** An entry as it is listed. Its ids and session stay, because callers need them to fetch it. */
  entry<E extends object = EntrySummary>(entry: E): E;
  /** A part of a text, masked as in the whole: a secret across its boundary shows as its marker. */
  cut(cut: Cut): MaskedCut;
}

/** Masks nothing: for exports of the record itself. */
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
