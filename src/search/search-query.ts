// The door for searches: a query as it was typed and filters as they were given, parsed into what the searcher needs.

import { bothHold, type RowFilter } from "../index/row-filter.js";
import { searchedKinds } from "../model/kinds.js";
import { limits } from "../model/limits.js";
import { normalise } from "../model/normalise.js";
import { Rejection, reject } from "../model/rejection.js";
import { fingerprintOf } from "./cursor.js";
import { type FilterName, type GivenFilters, parseFilters, typedFilterNames } from "./filters.js";
import { type ListPlace, type Page, parsePlace } from "./lists/list-query.js";
import { isGiven, parseLimit, parseSwitch } from "./parameters.js";
import { type FilterOptions, questionRules } from "./question-rules.js";

/** Filters of a search; the same can be typed into the query, and then both must hold. */
export interface SearchOptions extends FilterOptions<"search">, Page {
  /** Whether to count all hits by kind, project and session: true, or `"1"` and `"true"`. */
  readonly facets?: boolean | string | undefined;
}

/** As the agent asks: the query is one phrase, whatever it contains. */
export interface SessionHistoryOptions extends FilterOptions<"session_history">, Omit<Page, "cursor"> {
  readonly query: string;
}

/** A parsed search. Terms are in the form that texts are compared in. */
export interface SearchQuery {
  readonly terms: readonly string[];
  readonly excluded: readonly string[];
  readonly filter: RowFilter;
  readonly given: GivenFilters;
  readonly limit: number;
  /** Whether what models were given is looked through, and nothing else. */
  readonly in_context: boolean;
  readonly after?: ListPlace;
  readonly facets: boolean;
  /** Whether what only `kind:` finds is counted: on the first page where no kind is asked for. */
  readonly counts_elsewhere: boolean;
  readonly fingerprint: string;
}

export function parseSearchQuery(
  text: string | null | undefined,
  options: SearchOptions,
  nowMs: number,
): SearchQuery | Rejection {
  const q = parseText(text, "q");
  if (q instanceof Rejection) return q;
  const facets = parseSwitch("facets", options.facets);
  if (facets instanceof Rejection) return facets;
  return toQuery(parseQueryText(q), options, { question: "search", field: "q", text: q, facets, nowMs });
}

export function parseSessionHistory(options: SessionHistoryOptions, nowMs: number): SearchQuery | Rejection {
  const phrase = parseText(options.query, "query");
  if (phrase instanceof Rejection) return phrase;
  const terms = phrase.trim() === "" ? [] : [phrase];
  const about = { question: "session_history", field: "query", text: phrase, facets: false, nowMs } as const;
  return toQuery({ terms, excluded: [], filters: [] }, options, about);
}

/** One phrase, whatever it contains, in the form that searches compare. */
export function parsePhrase(text: unknown, field: string): string | Rejection {
  const phrase = parseText(text, field);
  if (phrase instanceof Rejection) return phrase;
  return phrase.trim() === "" ? queryEmpty(field, "Give a word or a phrase.") : normalise(phrase);
}

interface About {
  readonly question: "search" | "session_history";
  /** What the query itself is called, and what it was. */
  readonly field: "q" | "query";
  readonly text: string;
  readonly facets: boolean;
  readonly nowMs: number;
}

function toQuery(
  parsed: ParsedQuery,
  options: FilterOptions<"search"> & Page,
  { question, field, text, facets, nowMs }: About,
): SearchQuery | Rejection {
  const rule = questionRules[question];
  const limit = parseLimit(options.limit, rule.limit);
  if (limit instanceof Rejection) return limit;
  const terms = distinct(parsed.terms);
  const excluded = distinct(parsed.excluded);
  if (terms.length + excluded.length > limits.query_terms) return tooManyTerms(field);
  const asked = parseFilters(rule.filters, options, nowMs);
  if (asked instanceof Rejection) return asked;
  let filter: RowFilter = asked.filter;
  for (const typed of parsed.filters) {
    const own = parseFilters([typed.name], { [typed.name]: typed.value }, nowMs);
    if (own instanceof Rejection) return pointAt(own, typed, field);
    filter = bothHold(filter, own.filter);
  }
  if (terms.length + excluded.length + Object.keys(filter).length === 0)
    return queryEmpty(field, "Give a word, or a filter such as kind:error.");
  const given = { ...(isGiven(text.trim()) ? { [field]: text.trim() } : {}), ...asked.given };
  const fingerprint = fingerprintOf([question, given]);
  const searched = { ...filter, kinds: filter.kinds ?? searchedKinds };
  const in_context = asked.given.in !== undefined || parsed.filters.some(({ name }) => name === "in");
  const place = parsePlace(options.cursor, { filter: searched, fingerprint }, { has_texts: in_context });
  if (place instanceof Rejection) return place;
  const counts_elsewhere = filter.kinds === undefined && !in_context && place.after === undefined;
  return { terms, excluded, given, limit, in_context, facets, counts_elsewhere, fingerprint, ...place };
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.map(normalise))].filter((text) => text !== "");
}

function parseText(text: unknown, field: string): string | Rejection {
  if (text === undefined || text === null) return "";
  if (typeof text !== "string") return reject({ code: "field_invalid", field, message: `${field} must be a string` });
  if (text.length <= limits.query_chars) return text;
  const message = `the query has ${text.length} characters, and at most ${limits.query_chars} are allowed`;
  return reject({ code: "query_too_long", field, message });
}

/** The refusal of a typed filter names the word, and where in the query it stands. */
function pointAt(refused: Rejection, typed: TypedFilter, field: string): Rejection {
  const word = JSON.stringify(typed.word.slice(0, 60));
  const hint = refused.hint === undefined ? "" : `${refused.hint} `;
  return reject({
    code: refused.code,
    field,
    message: `${word} at character ${typed.at} of the query: ${refused.message}`,
    hint: `${hint}To search for the text itself, put it in quotes.`,
  });
}

function tooManyTerms(field: string): Rejection {
  return reject({
    code: "query_too_long",
    field,
    message: `the query has more than ${limits.query_terms} different terms`,
    hint: "Put it in quotes to search for it as one phrase.",
  });
}

function queryEmpty(field: string, hint: string): Rejection {
  return reject({ code: "query_empty", field, message: "there is nothing to search for", hint });
}

interface TypedFilter {
  readonly name: FilterName;
  readonly value: string;
  /** The word as it was typed, and which character of the query it begins at, from 1. */
  readonly word: string;
  readonly at: number;
}

interface ParsedQuery {
  /** What must occur, as it was typed. */
  readonly terms: readonly string[];
  /** What must not occur. */
  readonly excluded: readonly string[];
  readonly filters: readonly TypedFilter[];
}

const SPACE = /\s/;
/** Names are exact: `Kind:error` and `foo:bar` are text. */
const FILTER = new RegExp(`^(${typedFilterNames.join("|")}):`);

/**
 * Parses terms, phrases, exclusions and typed filters. Never fails: what is no filter is plain text.
 *
 * @internal Exported for tests.
 */
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
      // In characters as a person counts them: an emoji is one.
      before += Array.from(text.slice(counted, at)).length;
      counted = at;
      filters.push({ ...filter.typed, at: before + 1 });
      at = filter.end;
      continue;
    }
    // A hyphen excludes the word after it; alone it is plain text.
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

/** A quoted phrase up to the next quote or the end; otherwise a word up to the next space. */
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
