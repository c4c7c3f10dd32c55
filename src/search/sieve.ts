// A quick look at the bytes of a body that rejects most entries before they are parsed, and never one that matches.
import { normalise } from "../model/normalise.js";

/** A term that can be looked for in the JSON text of a body. */
export interface Sieve {
  readonly term: string;
  /** Finds a term of plain letters in either case; other terms need the text's normal form, which takes longer. */
  readonly pattern: RegExp | undefined;
}

/**
 * Terms of which each character, wherever it stands in a text, stands in the text's JSON just as well. That is not so for
 * what JSON escapes; for a mark at the front, which joins the letter of an escape before it; for a sigma, whose small
 * form depends on its neighbours; for half a surrogate pair; and for numbers, which can be written in several ways.
 */
export function sieveOf(terms: readonly string[]): readonly Sieve[] {
  return terms
    .filter((term) => term.isWellFormed() && !ESCAPED.test(term) && !JOINS.test(term) && !NUMERIC.test(term))
    .map((term) => ({ term, pattern: PLAIN.test(term) ? new RegExp(term.replace(SYNTAX, "\\$&"), "i") : undefined }));
}

/** False only if the text of the body certainly lacks one of the terms. */
export function mayHold(body: string, sieves: readonly Sieve[]): boolean {
  let normal: string | undefined;
  for (const { term, pattern } of sieves) {
    if (pattern?.test(body)) continue;
    if (pattern === undefined) {
      normal ??= normalise(body);
      if (normal.includes(term)) continue;
    }
    // These may stand for what was looked for; they are rare enough to parse all that have one.
    return STAND_FOR_OTHERS.some((text) => body.includes(text));
  }
  return true;
}

/** Escapes by number may stand for any character, and these two capitals have a small letter of ASCII. */
const STAND_FOR_OTHERS = ["\\u", "\u0130", "\u212a"];

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes control characters.
const ESCAPED = /[\u0000-\u001f"\\/\u007f-\u009f\u2028\u2029]/;
const JOINS = /[σς]|^[\p{M}\u1160-\u11ff\u{16d67}\u{16d68}]/u;
const NUMERIC = /^[0-9e.+-]+$/;
/** Two of these have a twin that only the normal form makes equal: the Greek question mark and the Greek accent. */
const PLAIN = /^[ -:<-_a-~]+$/;
/** What has a meaning in a pattern. */
const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;
