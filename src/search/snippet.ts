// The part of a text that a hit shows: some words around the first match, and where in it the terms stand.

import { type Mask, noMask } from "../model/mask.js";
import { boundaryFrom, isBoundary, normalise, originalRange, type TextRange } from "../model/normalise.js";
import { indexOfText } from "./matching.js";

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
  return { snippet: part.text, matches: part.matches };
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
