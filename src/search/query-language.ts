// The language of searches: terms, phrases, exclusions and typed filters. All that is no filter is plain text.
import { type FilterName, typedFilterNames } from "./filters.js";

export interface TypedFilter {
  readonly name: FilterName;
  readonly value: string;
  /** The word as it was typed, and which character of the query it begins at, from 1. */
  readonly word: string;
  readonly at: number;
}

export interface ParsedQuery {
  /** What must occur, as it was typed. */
  readonly terms: readonly string[];
  /** What must not occur. */
  readonly excluded: readonly string[];
  readonly filters: readonly TypedFilter[];
}

const SPACE = /\s/;
/** Names are exact: `Kind:error` and `foo:bar` are text. */
const FILTER = new RegExp(`^(${typedFilterNames.join("|")}):`);

/** Never fails: whatever a person types means something. */
export function parseQueryText(text: string): ParsedQuery {
  const terms: string[] = [];
  const excluded: string[] = [];
  const filters: TypedFilter[] = [];
  let [before, counted] = [0, 0];
  let at = 0;
  while (at < text.length) {
    if (SPACE.test(text.charAt(at))) {
      at += 1;
      continue;
    }
    const filter = readFilter(text, at);
    if (filter !== undefined) {
      // As a person counts: an emoji is one character, although it is two units.
      before += Array.from(text.slice(counted, at)).length;
      counted = at;
      filters.push({ ...filter.typed, at: before + 1 });
      at = filter.end;
      continue;
    }
    // A hyphen excludes what it stands in front of; alone it is a character like any other.
    const isExclusion = text.charAt(at) === "-" && at + 1 < text.length && !SPACE.test(text.charAt(at + 1));
    const word = readWord(text, isExclusion ? at + 1 : at);
    if (word.value !== "") (isExclusion ? excluded : terms).push(word.value);
    at = word.end;
  }
  return { terms, excluded, filters };
}

interface Word {
  readonly value: string;
  readonly end: number;
}

/** A phrase where a quote stands in front, which runs to the next quote or the end; else all up to the next space. */
function readWord(text: string, at: number): Word {
  if (text.charAt(at) === '"') {
    const close = text.indexOf('"', at + 1);
    return close === -1
      ? { value: text.slice(at + 1), end: text.length }
      : { value: text.slice(at + 1, close), end: close + 1 };
  }
  let end = at;
  while (end < text.length && !SPACE.test(text.charAt(end))) end += 1;
  return { value: text.slice(at, end), end };
}

/** A name, a colon and a value, which may be quoted to hold spaces. A name without a value is text. */
function readFilter(
  text: string,
  at: number,
): { readonly typed: Omit<TypedFilter, "at">; readonly end: number } | undefined {
  const name = FILTER.exec(text.slice(at, at + NAME_CHARS_MAX))?.[1] as FilterName | undefined;
  if (name === undefined) return undefined;
  const start = at + name.length + 1;
  if (start >= text.length || SPACE.test(text.charAt(start))) return undefined;
  const { value, end } = readWord(text, start);
  return { typed: { name, value, word: text.slice(at, end) }, end };
}

const NAME_CHARS_MAX = Math.max(...typedFilterNames.map((name) => name.length)) + 1;
