// Lists: limits, filters, and cursors that belong to their filters and to nothing else.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { Rejection } from "../model/rejection.js";
import type { EntryListOptions, InteractionListOptions } from "../recorder/recorder.js";
import { cursorAfter, type ListQuery } from "../search/lists/list-query.js";
import { limited } from "../search/parameters.js";
import { listEntries } from "./list-entries.js";
import { listInteractions } from "./list-interactions.js";
import { parseOptions } from "./operation.js";

const nowMs = Date.UTC(2026, 10, 15, 6, 39, 37, 123);
const DAY_MS = 86_400_000;
const after = { created_ms: 1_763_188_777_123, position: 42 };

function parseInteractionQuery(options: InteractionListOptions, atMs: number): ListQuery | Rejection {
  return parseOptions(listInteractions, options, atMs) as ListQuery | Rejection;
}

function parseEntryQuery(options: EntryListOptions, atMs: number): ListQuery | Rejection {
  return parseOptions(listEntries, options, atMs) as ListQuery | Rejection;
}

const parseLimit = (value: unknown): unknown =>
  limited({ default: 50, max: 500 }).parse(value, { name: "limit", nowMs });

describe("limit", () => {
  test.each([
    [undefined, 50],
    [null, 50],
    ["", 50],
    [1, 1],
    ["20", 20],
    [" 20 ", 20],
    [500, 500],
    [501, 500],
    ["1e9", 500],
    [2.9, 2],
    [0, 0],
    [-5, 0],
    ["-1", 0],
  ])("%j gives %i rows at most", (limit, expected) => {
    expect(parseLimit(limit)).toBe(expected);
  });

  test.each(["many", "5 rows", " ", Number.NaN, "NaN", true, {}, [5]])(
    "%j, which is no number, is refused",
    (limit) => {
      expect(parseLimit(limit)).toMatchObject({ code: "limit_invalid", field: "limit" });
    },
  );

  test("is 50 where none is given", () => {
    expect(queryOf({})).toMatchObject({ limit: 50 });
    expect(entryQueryOf({})).toMatchObject({ limit: 50 });
  });
});

describe("filters", () => {
  test("that are empty filter nothing", () => {
    const nothing = {
      project: "",
      session_id: "",
      client: "",
      since: "",
      until: "",
      memory: "",
      chunk: "",
      cursor: "",
    };
    expect(queryOf(nothing).filter).toEqual(queryOf({}).filter);
    expect(entryQueryOf({ kind: "" }).filter).toEqual({});
  });

  test("of labels select exactly, and - selects entries without the label", () => {
    expect(queryOf({ project: "p", session_id: "a/b", client: "-" }).filter).toMatchObject({
      project: "p",
      session_id: "a/b",
      client: "",
    });
  });

  test.each([
    ["project", "a\n", "label_invalid"],
    ["client", "x".repeat(257), "label_invalid"],
    ["session_id", "..", "session_id_invalid"],
    ["session_id", "\ud800", "session_id_invalid"],
  ])("of %s that no entry can have are refused: %j", (name, value, code) => {
    expect(parseInteractionQuery({ [name]: value }, nowMs)).toMatchObject({ code, field: name });
  });

  test("of memory and chunk take any text", () => {
    expect(queryOf({ memory: "m\0\ud800", chunk: "-" }).filter).toMatchObject({
      references: [
        { what: "memory", reference: "m\0\ud800" },
        { what: "chunk", reference: "-" },
      ],
    });
    const wrong = { memory: 5 } as unknown as InteractionListOptions;
    expect(parseInteractionQuery(wrong, nowMs)).toMatchObject({ code: "field_invalid", field: "memory" });
  });

  test("of times are inclusive bounds in milliseconds", () => {
    const { filter } = queryOf({ since: "2026-11-14", until: "2026-11-14" });
    const startMs = Date.UTC(2026, 10, 14);
    expect(filter).toMatchObject({ since_ms: startMs, until_ms: startMs + DAY_MS - 1 });
    expect(queryOf({ since: " 7d " }).filter.since_ms).toBe(nowMs - 7 * DAY_MS);
  });

  test.each(["never", "2026-02-30", "7 days"])("of times that are none are refused: %s", (text) => {
    for (const name of ["since", "until"]) {
      const refused = parseInteractionQuery({ [name]: text }, nowMs);
      expect(refused).toMatchObject({ code: "time_invalid", field: name, hint: expect.stringContaining("7d") });
    }
  });

  test("of kind take every kind there is, and no other", () => {
    expect(entryQueryOf({ kind: "tool_call" }).filter).toEqual({ kinds: ["tool_call"] });
    expect(entryQueryOf({ kind: "audit" }).filter).toEqual({ kinds: ["audit"] });
    for (const kind of ["verdict", "Error", "__proto__"]) {
      expect(parseEntryQuery({ kind }, nowMs)).toMatchObject({ code: "kind_unknown", field: "kind" });
    }
  });
});

describe("a cursor", () => {
  const filters: InteractionListOptions = { project: "p", since: "7d", memory: "m" };
  const cursor = cursorAfter(queryOf(filters), after);

  test("leads on after the place that it was made for, with any limit", () => {
    expect(queryOf({ ...filters, cursor, limit: 3 })).toMatchObject({ after, limit: 3 });
  });

  test("keeps relative times as they were on the first page", () => {
    const later = parseInteractionQuery({ ...filters, cursor }, nowMs + DAY_MS) as ListQuery;
    expect(later.filter).toEqual(queryOf(filters).filter);
    expect(later.filter.since_ms).toBe(nowMs - 7 * DAY_MS);
  });

  test("leads from page to page", () => {
    const second = queryOf({ ...filters, cursor });
    const next = { created_ms: after.created_ms - 1, position: 7 };
    const third = queryOf({ ...filters, cursor: cursorAfter(second, next) });
    expect(third).toEqual({ ...second, after: next });
  });

  test("survives being put into a URL", () => {
    expect(encodeURIComponent(cursor)).toBe(cursor);
  });

  test.each<InteractionListOptions>([
    {},
    { ...filters, project: "q" },
    { ...filters, session_id: "s" },
    { ...filters, client: "-" },
    { ...filters, since: "8d" },
    { ...filters, until: "2026-11-15" },
    { ...filters, memory: "M" },
    { project: "p", since: "7d", chunk: "m" },
  ])("of other filters is refused: %j", (others) => {
    expect(parseInteractionQuery({ ...others, cursor }, nowMs)).toMatchObject({
      code: "cursor_invalid",
      field: "cursor",
      message: expect.stringContaining("other filters"),
    });
  });

  test("of interactions is none of entries, nor of another kind", () => {
    const ofEntries = cursorAfter(entryQueryOf({}), after);
    const ofErrors = cursorAfter(entryQueryOf({ kind: "error" }), after);
    expect(parseInteractionQuery({ cursor: ofEntries }, nowMs)).toMatchObject({ code: "cursor_invalid" });
    expect(parseEntryQuery({ cursor: ofErrors }, nowMs)).toMatchObject({ code: "cursor_invalid" });
    expect(parseEntryQuery({ kind: "raw", cursor: ofErrors }, nowMs)).toMatchObject({ code: "cursor_invalid" });
  });

  test.each([
    "x",
    "null",
    "W10",
    "e30",
    Buffer.from("[]").toString("base64url"),
    Buffer.from('["x",1,2,3,4,5]').toString("base64url"),
    Buffer.from('["x","1",2,null,null]').toString("base64url"),
    Buffer.from('["x",1.5,2,null,null]').toString("base64url"),
    Buffer.from('["x",1,1e400,null,null]').toString("base64url"),
    "A".repeat(10_000),
    5 as unknown as string,
  ])("that no list gave is refused: %j", (broken) => {
    expect(parseInteractionQuery({ ...filters, cursor: broken }, nowMs)).toMatchObject({
      code: "cursor_invalid",
      hint: expect.any(String),
    });
  });

  test.each(["x", "=", "==", "!", ".", " "])("that gained %j is refused", (more) => {
    for (const given of [cursor + more, more + cursor]) {
      expect(parseInteractionQuery({ ...filters, cursor: given }, nowMs)).toMatchObject({ code: "cursor_invalid" });
    }
  });

  test("that lost its end or its beginning is refused", () => {
    for (let length = 1; length < cursor.length; length += 1) {
      for (const part of [cursor.slice(0, length), cursor.slice(-length)]) {
        expect(parseInteractionQuery({ ...filters, cursor: part }, nowMs)).toMatchObject({ code: "cursor_invalid" });
      }
    }
  });

  test("that was altered in one character is refused, and never leads elsewhere", () => {
    const alphabet = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"];
    fc.assert(
      fc.property(fc.nat(cursor.length - 1), fc.constantFrom(...alphabet), (at, letter) => {
        const altered = cursor.slice(0, at) + letter + cursor.slice(at + 1);
        const query = parseInteractionQuery({ ...filters, cursor: altered }, nowMs);
        if (altered === cursor) expect(query).toEqual(queryOf({ ...filters, cursor }));
        else expect(query).toMatchObject({ code: "cursor_invalid" });
      }),
      fuzz(500),
    );
  });

  test("of any text is a query or a refusal, never an error", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.base64String()), (text) => {
        parseInteractionQuery({ cursor: text }, nowMs);
      }),
      fuzz(300),
    );
  });
});

function queryOf(options: InteractionListOptions): ListQuery {
  return accepted(parseInteractionQuery(options, nowMs));
}

function entryQueryOf(options: EntryListOptions): ListQuery {
  return accepted(parseEntryQuery(options, nowMs));
}

function accepted(query: ListQuery | Rejection): ListQuery {
  if (query instanceof Rejection) throw new Error(`refused: ${query.message}`);
  return query;
}

test("filters as they were given in other words ask for the same", () => {
  const options = { project: "web", since: "7d", role: "timmy", kind: "", client: null };
  const query = entryQueryOf(options as object) as ListQuery & { readonly given: EntryListOptions };
  expect(query.given).toEqual({ project: "web", role: "assistant", since: "7d" });
  expect(entryQueryOf(query.given)).toEqual(query);
});
