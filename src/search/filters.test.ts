// The table of filters: every row is whole, refuses what it says it refuses, and is part of every cursor.
import { describe, expect, test } from "vitest";
import { filterValues } from "../../test/support/filter-values.js";
import { bothHold, type RowFilter } from "../index/row-filter.js";
import { captureKinds } from "../model/kinds.js";
import { Rejection } from "../model/rejection.js";
import { type Filter, type FilterName, filters, parseFilters, typedFilterNames } from "./filters.js";
import { parseEntryQuery, parseInteractionQuery } from "./lists/list-query.js";
import { type QuestionName, type QuestionRule, questionNames, questionRules } from "./question-rules.js";
import { parseSearchQuery } from "./search-query.js";

const nowMs = Date.UTC(2026, 10, 15);

function parse(name: FilterName, value: unknown): { readonly filter: RowFilter; readonly given: object } {
  const parsed = parseFilters([name], { [name]: value }, nowMs);
  if (parsed instanceof Rejection) throw new Error(parsed.message);
  return parsed;
}

const filterNames = Object.keys(filters) as readonly FilterName[];

describe.each(filterNames)("%s", (name) => {
  const { description, schema, flag, refusals }: Filter = filters[name];
  const { good, also = good, other, bad } = filterValues[name];

  test("has words for people and programs, and says what it refuses", () => {
    expect(description).toMatch(/^[A-Z].*\.$/);
    expect(schema).toMatchObject({ type: "string" });
    expect(flag).toEqual({ name: expect.stringMatching(/^[a-z-]+$/), value: expect.any(String), says: flag.says });
    expect(flag.says).toMatch(/^[a-z].*[^.]$/);
    expect(refusals.length).toBeGreaterThan(0);
  });

  test("is no filter where it is absent or empty", () => {
    for (const value of [undefined, null, ""]) expect(parse(name, value)).toEqual({ filter: {}, given: {} });
  });

  test("sets the condition that it names, and no other", () => {
    expect(Object.keys(parse(name, good).filter)).toEqual([filters[name].condition]);
    if (other !== undefined) expect(parse(name, other).filter).not.toEqual(parse(name, good).filter);
  });

  test("is kept in one form of words, which asks for the same again", () => {
    const { filter, given } = parse(name, also);
    expect(given).toEqual(parse(name, good).given);
    expect(parseFilters([name], given, nowMs)).toEqual({ filter, given });
  });

  test("refuses by its own name, with a code that it lists", () => {
    for (const value of [...bad, 5, {}, ["a"]]) {
      const refused = parseFilters([name], { [name]: value }, nowMs);
      expect(refused).toBeInstanceOf(Rejection);
      expect(refused).toMatchObject({ field: name });
      expect(refusals).toContain((refused as Rejection).code);
    }
  });
});

test("flags are told apart, and the session's is the short one", () => {
  const flags = filterNames.map((name) => filters[name].flag.name);
  expect(new Set(flags).size).toBe(flags.length);
  expect(filters.session_id.flag.name).toBe("session");
});

test("what is typed can be given to a search too, and is asked together with it", () => {
  expect(questionRules.search.filters).toEqual(expect.arrayContaining([...typedFilterNames]));
  for (const name of typedFilterNames) {
    const { good, other } = filterValues[name];
    expect(bothHold(parse(name, good).filter, parse(name, good).filter)).toEqual(parse(name, good).filter);
    expect(() => bothHold(parse(name, good).filter, parse(name, other).filter)).not.toThrow();
  }
});

test("the words of the log's own kinds and of all others are in the hint about a kind", () => {
  const refused = parseFilters(["kind"], { kind: "gossip" }, nowMs) as Rejection;
  for (const kind of [...captureKinds, "redaction", "audit"]) expect(refused.hint).toContain(kind);
});

describe("a cursor is bound to every filter:", () => {
  const fingerprintOf: { readonly [Q in QuestionName]?: (options: object) => { readonly fingerprint: string } } = {
    interactions: (options) => accepted(parseInteractionQuery(options, nowMs)),
    entries: (options) => accepted(parseEntryQuery(options, nowMs)),
    search: (options) => accepted(parseSearchQuery("x", options, nowMs)),
  };

  test("all questions that have both are tried", () => {
    const rules = questionNames.filter((question) => {
      const rule: QuestionRule = questionRules[question];
      return rule.is_paged === true && rule.filters.length > 0;
    });
    expect(Object.keys(fingerprintOf).toSorted()).toEqual(rules.toSorted());
  });

  test.each(Object.entries(fingerprintOf))("%s", (question, ask) => {
    const seen = new Set([ask({}).fingerprint]);
    let tried = 1;
    const names = questionRules[question as QuestionName].filters;
    for (const name of names) {
      const { good, also = good, other } = filterValues[name];
      const values = other === undefined ? [good] : [good, other];
      for (const value of values) seen.add(ask({ [name]: value }).fingerprint);
      tried += values.length;
      expect(ask({ [name]: also }).fingerprint).toBe(ask({ [name]: good }).fingerprint);
      expect(ask({ [name]: "" }).fingerprint).toBe(ask({}).fingerprint);
    }
    expect(seen.size).toBe(tried);
    const all = names.map((name) => [name, filterValues[name].good] as const);
    const reversed = Object.fromEntries(all.toReversed());
    expect(ask(reversed).fingerprint).toBe(ask(Object.fromEntries(all)).fingerprint);
  });

  test("a search also to its query, in which a filter may be typed", () => {
    const of = (q: string): string => accepted(parseSearchQuery(q, {}, nowMs)).fingerprint;
    expect(new Set(["x", "y", "x kind:error", "x kind:message"].map(of)).size).toBe(4);
    expect(of(" x ")).toBe(of("x"));
  });
});

function accepted<T>(query: T | Rejection): T {
  if (query instanceof Rejection) throw new Error(query.message);
  return query;
}
