// The door for searches: a query as it was typed and filters as they were given, parsed into what the searcher needs.
import { reservedKinds } from "../../model/entry.js";
import { captureKinds } from "../../model/kinds.js";
import { limits } from "../../model/limits.js";
import { normalise } from "../../model/normalise.js";
import { Rejection, reject } from "../../model/rejection.js";
import type { RowFilter, RowKey } from "../../ports/entry-index.js";
import { fingerprintOf } from "../cursor.js";
import { type EntryListOptions, parseEntryFilter, parseLimit, parsePlace } from "../list-query.js";
import { filterNames, type ParsedQuery, parseQueryText, type TypedFilter } from "./query-language.js";

/** Filters of a search; the same can be typed into the query, and then both must hold. */
export interface SearchOptions extends EntryListOptions {
  /** Whether to count all hits by kind, project and session: true, or `"1"` and `"true"`. */
  readonly facets?: boolean | string | undefined;
}

/** As the agent asks: the query is one phrase, whatever it contains. */
export interface SessionHistoryOptions extends Omit<EntryListOptions, "cursor"> {
  readonly query: string;
}

/** A parsed search. Terms are in the form that texts are compared in. */
export interface SearchQuery {
  readonly terms: readonly string[];
  readonly excluded: readonly string[];
  readonly filter: RowFilter;
  readonly limit: number;
  readonly after?: RowKey;
  readonly facets: boolean;
  readonly fingerprint: string;
}

const LIMIT_DEFAULT = 10;

/** What a search looks through where no kind is asked for: raw records only when they are. */
const searchedKinds: readonly string[] = [...captureKinds.filter((kind) => kind !== "raw"), ...reservedKinds];

export function parseSearchQuery(
  text: string | null | undefined,
  options: SearchOptions,
  nowMs: number,
): SearchQuery | Rejection {
  const given = parseText(text, "q");
  if (given instanceof Rejection) return given;
  const facets = parseSwitch(options.facets);
  if (facets instanceof Rejection) return facets;
  return toQuery(parseQueryText(given), { ...options, facets, field: "q", nowMs });
}

export function parseSessionHistory(options: SessionHistoryOptions, nowMs: number): SearchQuery | Rejection {
  const phrase = parseText(options.query, "query");
  if (phrase instanceof Rejection) return phrase;
  const terms = phrase.trim() === "" ? [] : [phrase];
  return toQuery({ terms, excluded: [], filters: [] }, { ...options, facets: false, field: "query", nowMs });
}

function toQuery(
  parsed: ParsedQuery,
  options: EntryListOptions & { readonly facets: boolean; readonly field: string; readonly nowMs: number },
): SearchQuery | Rejection {
  const { facets, field, nowMs } = options;
  const limit = parseLimit(options.limit, LIMIT_DEFAULT);
  if (limit instanceof Rejection) return limit;
  const terms = distinct(parsed.terms);
  const excluded = distinct(parsed.excluded);
  if (terms.length + excluded.length > limits.query_terms) return tooManyTerms(field);
  let filter = parseEntryFilter(options, nowMs);
  if (filter instanceof Rejection) return filter;
  for (const typed of parsed.filters) {
    const own = parseEntryFilter({ [typed.name]: typed.value }, nowMs);
    if (own instanceof Rejection) return pointAt(own, typed, field);
    filter = bothHold(filter, own);
  }
  if (terms.length + excluded.length + Object.keys(filter).length === 0) return queryEmpty(field);
  const asked = filterNames.map((name) => options[name] ?? "");
  const typed = parsed.filters.map(({ name, value }) => [name, value]);
  const fingerprint = fingerprintOf(["search", terms, excluded, asked, typed]);
  const searched = { ...filter, kinds: filter.kinds ?? searchedKinds };
  const place = parsePlace(options.cursor, { filter: searched, fingerprint });
  if (place instanceof Rejection) return place;
  return { terms, excluded, limit, facets, fingerprint, ...place };
}

/** What passes both filters; where they contradict each other, that is no kind of entry at all. */
function bothHold(one: RowFilter, other: RowFilter): RowFilter {
  const both: { -readonly [N in keyof RowFilter]: RowFilter[N] } = { ...one, ...other };
  for (const name of ["project", "session_id", "client", "role"] as const) {
    const isContradicted = one[name] !== undefined && other[name] !== undefined && one[name] !== other[name];
    if (isContradicted) both.kinds = [];
  }
  const { kinds } = one;
  if (kinds !== undefined) both.kinds = kinds.filter((kind) => (both.kinds ?? kinds).includes(kind));
  if (one.since_ms !== undefined) both.since_ms = Math.max(one.since_ms, both.since_ms ?? one.since_ms);
  if (one.until_ms !== undefined) both.until_ms = Math.min(one.until_ms, both.until_ms ?? one.until_ms);
  return both;
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

function parseSwitch(value: unknown): boolean | Rejection {
  if (value === true || value === "1" || value === "true") return true;
  if (value === undefined || value === null || value === false) return false;
  if (value === "" || value === "0" || value === "false") return false;
  return reject({ code: "field_invalid", field: "facets", message: "facets must be 1 or 0" });
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

function queryEmpty(field: string): Rejection {
  return reject({
    code: "query_empty",
    field,
    message: "there is nothing to search for",
    hint: "Give a word, or a filter such as kind:error.",
  });
}
