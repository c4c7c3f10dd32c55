// The door for searches: a query as it was typed and filters as they were given, parsed into what the searcher needs.

import { bothHold, type RowFilter } from "../index/row-filter.js";
import { searchedKinds } from "../model/kinds.js";
import { limits } from "../model/limits.js";
import { normalise } from "../model/normalise.js";
import { Rejection, reject } from "../model/rejection.js";
import { fingerprintOf } from "./cursor.js";
import { type Given, parseFilters } from "./filters.js";
import { type ListPlace, type Page, parsePlace } from "./lists/list-query.js";
import { isGiven, parseLimit, parseSwitch } from "./parameters.js";
import { type ParsedQuery, parseQueryText, type TypedFilter } from "./query-language.js";
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
  readonly given: Given;
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
