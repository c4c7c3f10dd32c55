// Searches: what is refused and how it is said, and how typed and given filters come together.
import { describe, expect, test } from "vitest";
import { memoryKinds } from "../model/entry.js";
import { Rejection } from "../model/rejection.js";
import type { SearchOptions } from "../recorder/recorder.js";
import { cursorAfter } from "../search/lists/list-query.js";
import { type SearchQuery, type TypedQuery, toSearchQuery } from "../search/search-query.js";
import { type AnyOperation, parseOptions } from "./operation.js";
import { search } from "./search.js";
import { sessionHistory } from "./session-history.js";

type Asked = Parameters<typeof toSearchQuery>[0];

function parsed(operation: AnyOperation, options: object, typed: (query: never) => TypedQuery, nowMs: number) {
  const query = parseOptions(operation, options as { readonly [name: string]: unknown }, nowMs);
  return query instanceof Rejection ? query : toSearchQuery(query as Asked, typed(query as never));
}

function parseSearchQuery(q: string, options: object, nowMs: number): SearchQuery | Rejection {
  return parsed(search, { ...options, q }, (query: { readonly q: TypedQuery }) => query.q, nowMs);
}

function parseSessionHistory(options: object, nowMs: number): SearchQuery | Rejection {
  return parsed(sessionHistory, options, ({ query }: { readonly query: TypedQuery }) => query, nowMs);
}

const NOW = Date.UTC(2026, 10, 15, 12);
const DAY = 86_400_000;

function parse(text: string, options: SearchOptions = {}): SearchQuery {
  const query = parseSearchQuery(text, options, NOW);
  if (query instanceof Rejection) throw new Error(query.message);
  return query;
}

function refusal(text: unknown, options: object = {}): unknown {
  const query = parseSearchQuery(text as string, options, NOW);
  return query instanceof Rejection ? { ...query } : undefined;
}

test("terms come in the form that texts are compared in, each once", () => {
  expect(parse('CAFE\u0301 Café "ONE two" -NO')).toMatchObject({ terms: ["café", "one two"], excluded: ["no"] });
});

test("without kind the conversation is searched, and all else only when it is asked for", () => {
  expect(parse("x").filter.kinds?.toSorted()).toEqual([
    ...["consolidation", "decision", "error", "feedback", "interaction", "message", "response", "tool_call"],
  ]);
  expect(parse("kind:raw").filter.kinds).toEqual(["raw"]);
  expect(parse("x", { kind: "raw" }).filter.kinds).toEqual(["raw"]);
  expect(parse("kind:memory").filter.kinds).toEqual([...memoryKinds]);
  expect(parse("kind:error,raw kind:raw,message").filter.kinds).toEqual(["raw"]);
});

test("the limit is 10 unless another is given, and 500 at most", () => {
  expect(parse("x").limit).toBe(10);
  expect(parse("x", { limit: "20" }).limit).toBe(20);
  expect(parse("x", { limit: 9_999 }).limit).toBe(500);
  expect(parse("x", { limit: -1 }).limit).toBe(0);
});

describe("typed and given filters must both hold:", () => {
  test.each<[string, SearchOptions]>([
    ["project:a", { project: "b" }],
    ["kind:error kind:message", {}],
    ["kind:error", { kind: "decision" }],
    ["role:user", { role: "assistant" }],
    ["session_id:a session_id:-", {}],
  ])("%j with %j finds nothing", (text, options) => {
    expect(parse(text, options).filter.kinds).toEqual([]);
  });

  test.each<[string, SearchOptions, object]>([
    ["project:a", { project: "a" }, { project: "a" }],
    ["role:timmy", { role: "assistant" }, { role: "assistant" }],
    ["kind:error", { kind: "error" }, { kinds: ["error"] }],
    ["project:-", {}, { project: "" }],
    ["since:1d since:3d", { since: "2d" }, { since_ms: NOW - DAY }],
    ["until:1d until:3d", { until: "2d" }, { until_ms: NOW - 3 * DAY }],
    [
      "since:2026-11-01",
      { until: "2026-11-02" },
      { since_ms: Date.UTC(2026, 10, 1), until_ms: Date.UTC(2026, 10, 3) - 1 },
    ],
  ])("%j with %j is %j", (text, options, filter) => {
    expect(parse(text, options).filter).toMatchObject(filter);
  });
});

test.each<[string, SearchOptions]>([
  ["", {}],
  [" \n", {}],
  ['""', {}],
  ['-""', {}],
  ['project:""', {}],
  ["", { project: "", kind: "", limit: 5 }],
])("%j with %j is nothing to search for", (text, options) => {
  expect(refusal(text, options)).toMatchObject({ code: "query_empty", field: "q" });
});

test.each<[string, SearchOptions]>([
  ["-word", {}],
  ["kind:error", {}],
  ["", { session_id: "s" }],
  ["", { until: "2026-01-01" }],
])("%j with %j lists", (text, options) => {
  expect(parse(text, options).terms).toEqual([]);
});

test.each([
  ["a role:boss b", "role_unknown", '"role:boss" at character 3 of the query: unknown role "boss"'],
  ["kind:boo", "kind_unknown", '"kind:boo" at character 1 of the query: unknown kind "boo"'],
  ["x since:never", "time_invalid", '"since:never" at character 3 of the query: since is not a time'],
  [
    'until:"2026-02-30 10:00"',
    "time_invalid",
    '"until:\\"2026-02-30 10:00\\"" at character 1 of the query: until is not a time',
  ],
  [
    "session_id:..",
    "session_id_invalid",
    '"session_id:.." at character 1 of the query: session_id must not be "." or ".."',
  ],
])("%j is refused and the word pointed at", (text, code, message) => {
  expect(refusal(text)).toMatchObject({ code, field: "q", message });
});

test.each<[object, string, string]>([
  [{ role: "boss" }, "role_unknown", "role"],
  [{ kind: "boo" }, "kind_unknown", "kind"],
  [{ since: "never" }, "time_invalid", "since"],
  [{ limit: "many" }, "limit_invalid", "limit"],
  [{ cursor: "x" }, "cursor_invalid", "cursor"],
  [{ facets: "maybe" }, "field_invalid", "facets"],
  [{ project: 5 }, "label_invalid", "project"],
])("the filter %j is refused by its name", (options, code, field) => {
  expect(refusal("x", options)).toMatchObject({ code, field });
});

test("long queries are taken up to a stated limit, and so are many terms", () => {
  expect(parse("é".repeat(10_000)).terms).toHaveLength(1);
  expect(parse("ab ".repeat(3_333)).terms).toEqual(["ab"]);
  expect(refusal("x".repeat(32_769))).toMatchObject({ code: "query_too_long", field: "q" });
  expect(refusal(Array.from({ length: 1_001 }, (_, at) => `t${at}`).join(" "))).toMatchObject({
    code: "query_too_long",
  });
  expect(refusal(5)).toMatchObject({ code: "field_invalid", field: "q" });
});

test("a cursor belongs to its query and filters, and keeps the first page's times", () => {
  const first = parse("x since:7d", { project: "p" });
  const after = { created_ms: 5, position: 7 };
  const cursor = cursorAfter(first, after);
  const later = parseSearchQuery("x since:7d", { project: "p", cursor }, NOW + DAY) as SearchQuery;
  expect(later).toMatchObject({ after, filter: first.filter });
  for (const [text, project] of [
    ["y since:7d", "p"],
    ["x since:7d", "q"],
    ["x", "p"],
    ["-x since:7d", "p"],
  ] as const) {
    expect(refusal(text, { project, cursor })).toMatchObject({ code: "cursor_invalid" });
  }
});

describe("session_history", () => {
  test("takes any query as one phrase", () => {
    const query = parseSessionHistory({ query: 'role:user -x "Y' }, NOW) as SearchQuery;
    expect(query).toMatchObject({ terms: ['role:user -x "y'], excluded: [], limit: 10 });
  });

  test("refuses an empty phrase without filters", () => {
    expect(parseSessionHistory({ query: " " }, NOW)).toMatchObject({ code: "query_empty", field: "query" });
    expect(parseSessionHistory({ query: "", role: "user" }, NOW)).toMatchObject({ terms: [] });
    expect(parseSessionHistory({ query: "x", role: "boss" }, NOW)).toMatchObject({
      code: "role_unknown",
      field: "role",
    });
  });
});

test("a cursor is bound to the query, in which a filter may be typed", () => {
  const of = (q: string): string => parse(q).fingerprint;
  expect(new Set(["x", "y", "x kind:error", "x kind:message"].map(of)).size).toBe(4);
  expect(of(" x ")).toBe(of("x"));
});
