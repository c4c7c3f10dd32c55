// The table of filters: every row is whole, and refuses what it says it refuses.
import { describe, expect, test } from "vitest";
import { filterValues } from "../../test/support/filter-values.js";
import { bothHold, type RowFilter } from "../index/row-filter.js";
import { captureKinds } from "../model/kinds.js";
import { Rejection } from "../model/rejection.js";
import { operations } from "../operations/index.js";
import { type Filter, type FilterName, filters, parseFilters, typedFilterNames } from "./filters.js";

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
  expect(Object.keys(operations.search.input)).toEqual(expect.arrayContaining([...typedFilterNames]));
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
