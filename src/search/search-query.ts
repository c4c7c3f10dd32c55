// What is searched for: a query as it was typed, and how its filters and those that were given come together.

import { distance } from "fastest-levenshtein";
import { bothHold, type RowFilter } from "../index/row-filter.js";
import { searchedKinds } from "../model/kinds.js";
import { limits } from "../model/limits.js";
import { normalise } from "../model/normalise.js";
import { Rejection, reject } from "../model/rejection.js";
import { type FilterName, type GivenFilters, parseFilters, typedFilterNames } from "./filters.js";
import type { ListPlace } from "./lists/list-query.js";

/** A query as it was typed, and what is in it. Terms are in the form that texts are compared in. */
export interface TypedQuery {
  readonly text: string;
  readonly terms: readonly string[];
  readonly excluded: readonly string[];
  readonly filters: readonly TypedFilter[];
  /** A word that is nearly a filter, and was taken as text. */
  readonly notice?: string;
}

/** A search as the searcher needs it. */
export interface SearchQuery {
  readonly terms: readonly string[];
  readonly excluded: readonly string[];
  readonly filter: RowFilter;
  readonly limit: number;
  /** Whether what models were given is looked through, and nothing else. */
  readonly in_context: boolean;
  readonly after?: ListPlace;
  readonly facets: boolean;
  /** Whether what only `kind:` finds is counted: on the first page where no kind is asked for. */
  readonly counts_elsewhere: boolean;
  readonly fingerprint: string;
}

export function parseTypedQuery(text: unknown, field: string): TypedQuery | Rejection {
  const typed = parseText(text, field);
  if (typed instanceof Rejection) return typed;
  const parsed = parseQueryText(typed);
  const terms = distinct(parsed.terms);
  const excluded = distinct(parsed.excluded);
  if (terms.length + excluded.length > limits.query_terms) return tooManyTerms(field);
  const { filters, near } = parsed;
  return { text: typed, terms, excluded, filters, ...(near === undefined ? {} : { notice: noticeOf(near) }) };
}

/** A query that is one phrase, whatever it contains. */
export function parsePhraseQuery(text: unknown, field: string): TypedQuery | Rejection {
  const phrase = parseText(text, field);
  if (phrase instanceof Rejection) return phrase;
  return { text: phrase, terms: phrase.trim() === "" ? [] : distinct([phrase]), excluded: [], filters: [] };
}

/** A search with its typed filters among the given ones: both must hold. One that asks for nothing is refused. */
export function withTypedFilters<Q extends { readonly filter: RowFilter; readonly now_ms: number }>(
  query: Q,
  typed: TypedQuery,
  field: string,
): Q | Rejection {
  let filter: RowFilter = query.filter;
  for (const one of typed.filters) {
    const own = parseFilters([one.name], { [one.name]: one.value }, query.now_ms);
    if (own instanceof Rejection) return pointAt(own, one, field);
    filter = bothHold(filter, own.filter);
  }
  if (typed.terms.length + typed.excluded.length + Object.keys(filter).length > 0) return { ...query, filter };
  return queryEmpty(field, "Give a word, or a filter such as kind:error.");
}

/** Without a kind the conversation is looked through. */
export function toSearchQuery(
  query: {
    readonly filter: RowFilter;
    readonly given: GivenFilters;
    readonly limit: number;
    readonly facets?: boolean;
    readonly after?: ListPlace;
    readonly fingerprint: string;
  },
  { terms, excluded, filters }: TypedQuery,
): SearchQuery {
  const { filter, given, limit, facets = false, after, fingerprint } = query;
  const in_context = given.in !== undefined || filters.some(({ name }) => name === "in");
  return {
    terms,
    excluded,
    filter: { ...filter, kinds: filter.kinds ?? searchedKinds },
    limit,
    in_context,
    facets,
    counts_elsewhere: filter.kinds === undefined && !in_context && after === undefined,
    fingerprint,
    ...(after === undefined ? {} : { after }),
  };
}

/** One phrase, whatever it contains, in the form that searches compare. */
export function parsePhrase(text: unknown, field: string): string | Rejection {
  const phrase = parseText(text, field);
  if (phrase instanceof Rejection) return phrase;
  return phrase.trim() === "" ? queryEmpty(field, "Give a word or a phrase.") : normalise(phrase);
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
  return reject({ code: "query_empty", field, message: "the query is empty", hint });
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
  /** The first word whose name is nearly that of a filter. */
  readonly near?: NearFilter | undefined;
}

interface NearFilter {
  readonly word: string;
  readonly name: string;
}

const SPACE = /\s/;
/** What is typed for a filter: its name, or a shorter one. */
const typedNames: ReadonlyMap<string, FilterName> = new Map([
  ...typedFilterNames.map((name) => [name, name] as const),
  ["user", "user_id"],
]);
/** Names are exact: `Kind:error` and `foo:bar` are text. */
const FILTER = new RegExp(`^(${[...typedNames.keys()].join("|")}):`);

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
  let near: NearFilter | undefined;
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
    if (!isExclusion && text.charAt(at) !== '"') near ??= nearFilter(word.value);
    if (word.value !== "") (isExclusion ? excluded : terms).push(word.value);
    at = word.end;
  }
  return { terms, excluded, filters, ...(near === undefined ? {} : { near }) };
}

/** A name, a colon and a value, where the name is one letter away from that of a filter. */
function nearFilter(word: string): NearFilter | undefined {
  const typed = /^(\w+):./su.exec(word.slice(0, NAME_CHARS_MAX + 2))?.[1];
  if (typed === undefined) return undefined;
  const name = [...typedNames.keys()].find((one) => distance(typed, one) === 1);
  return name === undefined ? undefined : { word, name };
}

function noticeOf({ word, name }: NearFilter): string {
  const shown = word.length > NOTICE_CHARS_MAX ? `${word.slice(0, NOTICE_CHARS_MAX).toWellFormed()}…` : word;
  return `${JSON.stringify(shown)} was searched as text; the filter is called ${name}.`;
}

const NOTICE_CHARS_MAX = 60;

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
  const typed = FILTER.exec(text.slice(at, at + NAME_CHARS_MAX))?.[1] ?? "";
  const name = typedNames.get(typed);
  if (name === undefined) return undefined;
  const start = at + typed.length + 1;
  if (start >= text.length || SPACE.test(text.charAt(start))) return undefined;
  const { value, end } = readWord(text, start);
  return { typed: { name, value, word: text.slice(at, end) }, end };
}

const NAME_CHARS_MAX = Math.max(...typedFilterNames.map((name) => name.length)) + 1;
