// Whether an entry is what a search looks for, and which of its texts holds the first term.
import { type FieldText, textsOf } from "../index/texts.js";
import type { StoredBody } from "../log/port.js";
import { parseBodyText } from "../model/body.js";
import type { JsonObject } from "../model/json.js";
import { normalise, splitsPair } from "../model/normalise.js";

export interface Match {
  /** Undefined where the entry was altered: nobody can say whether it holds what is looked for. */
  readonly body: JsonObject | undefined;
  /** Where the first term was found; without terms the beginning of its texts, undefined where it has none. */
  readonly found: FieldText | undefined;
  /** Which of the entry's texts that is; undefined where it is the beginning of several. */
  readonly foundAt: number | undefined;
}

export class Matcher {
  readonly #terms: readonly string[];
  readonly #excluded: readonly string[];
  readonly #sieves: readonly Sieve[];

  constructor(query: { readonly terms: readonly string[]; readonly excluded: readonly string[] }) {
    this.#terms = query.terms;
    this.#excluded = query.excluded;
    this.#sieves = sieveOf(query.terms);
  }

  /** Undefined where the entry is not meant, or is erased. */
  match(stored: StoredBody): Match | undefined {
    if (stored.flaw !== undefined) return { body: undefined, found: undefined, foundAt: undefined };
    if (stored.body === undefined) return undefined;
    if (!mayHold(stored.body, this.#sieves)) return undefined;
    const body = parseBodyText(stored.position, stored.body);
    const texts = textsOf(stored.kind, body);
    const normals = texts.map((one) => normalise(one.text));
    const holds = (needle: string): number => normals.findIndex((normal) => indexOfText(normal, needle) !== -1);
    const [first, ...rest] = this.#terms;
    const at = first === undefined ? undefined : holds(first);
    if (at === -1 || rest.some((term) => holds(term) === -1)) return undefined;
    if (this.#excluded.some((term) => holds(term) !== -1)) return undefined;
    return { body, found: at === undefined ? beginningOf(texts) : texts[at], foundAt: at };
  }
}

/** More than a snippet shows, so that no secret is cut in two before it can be told. */
const BEGINNING_UNITS = 2_000;

/** The texts one after the other, since the first may be no more than the name of a tool. */
export function beginningOf(texts: readonly FieldText[]): FieldText | undefined {
  const [first] = texts;
  if (first === undefined) return undefined;
  let text = "";
  for (const one of texts) {
    text = text === "" ? one.text : `${text} ${one.text}`;
    if (text.length >= BEGINNING_UNITS) break;
  }
  return { field: first.field, text };
}

/** As `indexOf`, but half of a surrogate pair is no character, and is not found in one. */
export function indexOfText(text: string, needle: string, from = 0): number {
  let at = text.indexOf(needle, from);
  while (at !== -1 && (splitsPair(text, at) || splitsPair(text, at + needle.length))) at = text.indexOf(needle, at + 1);
  return at;
}

// A quick look at the bytes of a body that rejects most entries before they are parsed, and never one that matches.

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
