// Whether an entry matches a search, and which of its texts holds the first term. A pre-filter on the JSON text rejects most entries
// before they are parsed, and never one that matches.
import { type FieldText, textsOf } from "../index/derivation.js";
import type { StoredBody } from "../log/port.js";
import { parseBodyText } from "../model/body.js";
import type { JsonObject } from "../model/json.js";
import { type Mask, noMask } from "../model/mask.js";
import {
  boundaryFrom,
  detached,
  isBoundary,
  normalise,
  originalRange,
  splitsPair,
  type TextRange,
} from "../model/normalise.js";

export interface Match {
  /** Undefined where the entry was altered: whether it matches is unknown. */
  readonly body: JsonObject | undefined;
  /** Where the first term was found; without terms the beginning of its texts, undefined where it has none. */
  readonly found: FieldText | undefined;
  /** Which of the entry's texts that is; undefined where it is the beginning of several. */
  readonly foundAt: number | undefined;
}

export class Matcher {
  readonly #terms: readonly string[];
  readonly #excluded: readonly string[];
  readonly #preFilters: readonly PreFilter[];

  constructor(query: { readonly terms: readonly string[]; readonly excluded: readonly string[] }) {
    this.#terms = query.terms;
    this.#excluded = query.excluded;
    this.#preFilters = preFiltersOf(query.terms);
  }

  /** Undefined where the entry does not match, or is erased. */
  match(stored: StoredBody): Match | undefined {
    if (stored.flaw !== undefined) return { body: undefined, found: undefined, foundAt: undefined };
    if (stored.body === undefined) return undefined;
    if (!mayHold(stored.body, this.#preFilters)) return undefined;
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

/** More than a snippet shows, so no secret is cut in two before it is recognised. */
const BEGINNING_UNITS = 2_000;

/** The texts joined, because the first may be only the name of a tool. */
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

/** As `indexOf`, but never inside of a surrogate pair. */
export function indexOfText(text: string, needle: string, from = 0): number {
  let at = text.indexOf(needle, from);
  while (at !== -1 && (splitsPair(text, at) || splitsPair(text, at + needle.length))) at = text.indexOf(needle, at + 1);
  return at;
}

/** A term that can be looked for in the JSON text of a body. */
export interface PreFilter {
  readonly term: string;
  /** For terms of plain ASCII; other terms need the text's normal form, which is slower. */
  readonly pattern: RegExp | undefined;
}

/**
 * The terms that occur in the JSON of every text that holds them. Excluded are characters that JSON escapes; a combining mark at
 * the front, which joins an escape's letter; a sigma, whose lower case depends on its neighbours; lone surrogates; and
 * numbers, which can be written in several ways.
 */
export function preFiltersOf(terms: readonly string[]): readonly PreFilter[] {
  return terms
    .filter((term) => term.isWellFormed() && !ESCAPED.test(term) && !JOINS.test(term) && !NUMERIC.test(term))
    .map((term) => ({ term, pattern: PLAIN.test(term) ? new RegExp(term.replace(SYNTAX, "\\$&"), "i") : undefined }));
}

/** False only if the body certainly lacks one of the terms. */
export function mayHold(body: string, preFilters: readonly PreFilter[]): boolean {
  let normal: string | undefined;
  for (const { term, pattern } of preFilters) {
    if (pattern?.test(body)) continue;
    if (pattern === undefined) {
      normal ??= normalise(body);
      if (normal.includes(term)) continue;
    }
    // These may stand for other characters; bodies that have one are parsed.
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
/** Without `;` and the grave accent: Greek variants of both become equal only in the normal form. */
const PLAIN = /^[ -:<-_a-~]+$/;
/** Special characters of patterns. */
const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

// The part of a text that a hit shows: some words around the first match, and where in it the terms stand.

/** UTF-16 units of the snippet, the end not included; in order, never overlapping. */
export type MatchRange = readonly [start: number, end: number];

export interface Snippet {
  readonly snippet: string;
  readonly matches: readonly MatchRange[];
}

const SNIPPET_UNITS = 180;
const BEFORE_UNITS = 60;
/** How far an end may move to fall between two words. */
const WORD_UNITS = 20;

/** A part of the text as it was recorded, around the first term; without terms the beginning. */
export function snippetOf(text: string, terms: readonly string[], mask: Mask = noMask): Snippet {
  const [first] = terms;
  const at = first === undefined ? -1 : indexOfText(normalise(text), first);
  if (first === undefined || at === -1) return masked(text, rangeAround(text, { start: 0, end: 0 }), [], mask);
  const match = originalRange(text, { start: at, end: at + first.length });
  const shown = rangeAround(text, match);
  const matches = matchesIn(text.slice(shown.start, shown.end), terms);
  // At an edge a letter may lose the neighbour that gave it its form; what was found is shown all the same.
  const places = matches.length === 0 ? [[match.start - shown.start, match.end - shown.start] as const] : matches;
  return masked(text, shown, places, mask);
}

/** The same of a text that was masked already. A term that was masked is marked at the mask. */
export function snippetOfMasked(text: string, terms: readonly string[]): Snippet {
  const shown = snippetOf(text, terms);
  const marker = /\[masked:\w+\]/.exec(shown.snippet);
  if (terms.length === 0 || shown.matches.length > 0 || marker === null) return shown;
  return { ...shown, matches: [[marker.index, marker.index + marker[0].length]] };
}

/** The whole text is masked before it is cut: a part of a token does not look like one. */
function masked(text: string, shown: TextRange, matches: readonly MatchRange[], mask: Mask): Snippet {
  const places = matches.map(([start, end]) => [start + shown.start, end + shown.start] as const);
  const part = mask.cut({ text, ...shown, matches: places });
  return { snippet: detached(part.text), matches: part.matches };
}

function rangeAround(text: string, match: TextRange): TextRange {
  const start = startBefore(text, match.start);
  return { start, end: endAfter(text, { start, end: match.end }) };
}

function startBefore(text: string, match: number): number {
  const wanted = match - BEFORE_UNITS;
  if (wanted <= WORD_UNITS) return 0;
  const space = text.slice(wanted, wanted + WORD_UNITS).search(/\s/);
  return Math.min(boundaryFrom(text, space === -1 ? wanted : wanted + space + 1), match);
}

function endAfter(text: string, shown: TextRange): number {
  const wanted = Math.max(shown.start + SNIPPET_UNITS, shown.end);
  if (wanted >= text.length) return text.length;
  const earliest = Math.max(wanted - WORD_UNITS, shown.end);
  const words = /^.*(?=\s)/s.exec(text.slice(earliest, wanted + 1))?.[0];
  let end = words === undefined || words === "" ? wanted : earliest + words.length;
  while (end > shown.end && !isBoundary(text, end)) end -= 1;
  return end;
}

/** All places where a term stands; where two overlap, the one that begins first, and of those the longest. */
function matchesIn(snippet: string, terms: readonly string[]): readonly MatchRange[] {
  const normal = normalise(snippet);
  const places: TextRange[] = [];
  for (const term of terms) {
    for (let at = indexOfText(normal, term); at !== -1; at = indexOfText(normal, term, at + 1)) {
      places.push({ start: at, end: at + term.length });
    }
  }
  places.sort((left, right) => left.start - right.start || right.end - left.end);
  const matches: MatchRange[] = [];
  let normalEnd = 0;
  let end = 0;
  for (const place of places) {
    if (place.start < normalEnd) continue;
    const range = originalRange(snippet, place);
    if (range.start < end) continue;
    matches.push([range.start, range.end]);
    normalEnd = place.end;
    end = range.end;
  }
  return matches;
}
