// The list of operations: the description of an operation matches its parameters.
import { describe, expect, test } from "vitest";
import { filterValues } from "../../test/support/filter-values.js";
import { Rejection } from "../model/rejection.js";
import type { FilterName, Input, OptionsOf } from "../search/filters.js";
import type { LimitParameter } from "../search/parameters.js";
import { operationList, operations } from "./index.js";
import { type AnyOperation, parseOptions } from "./operation.js";
import { streams } from "./streams.js";

const nowMs = Date.UTC(2026, 10, 15);

/** With the names in its address and its search terms. */
function parsed(operation: AnyOperation, options: object): object {
  const words = Object.fromEntries(["q", "query"].filter((name) => name in operation.input).map((name) => [name, "x"]));
  const named = { ...words, ...("id" in operation.input ? { id: "s" } : {}) };
  const query = parseOptions(operation, { ...named, ...options } as OptionsOf<Input>, nowMs);
  if (query instanceof Rejection) throw new Error(query.message);
  return query;
}

const limited = operationList.filter(({ input }) => "limit" in input);

test.each(limited.map((operation) => [operation.name, operation] as const))(
  "the limit of %s that is documented is the one that holds",
  (_, operation) => {
    const { limit, schema, description, flag } = operation.input.limit as LimitParameter;
    expect(parsed(operation, {})).toMatchObject({ limit: limit.default });
    expect(parsed(operation, { limit: "1e12" })).toMatchObject({ limit: limit.max });
    expect(schema).toMatchObject({ default: limit.default });
    expect(description).toContain(limit.max.toLocaleString("en-US"));
    expect(flag?.says).toContain(`(${limit.default})`);
  },
);

test.each([
  ["max_messages", operations.getHistory],
  ["budget_tokens", operations.recall],
] as const)("the default of %s is the one that holds", (name, operation) => {
  const { schema, flag } = (operation as AnyOperation).input[name] ?? {};
  expect(parsed(operation, {})).toMatchObject({ [name]: schema?.default });
  expect(flag?.says).toContain(`(${schema?.default})`);
});

test("every parameter is described in whole sentences", () => {
  for (const { input } of operationList) {
    for (const { description } of Object.values(input)) expect(description).toMatch(/^.+\.$/);
  }
});

const paged = operationList.filter(({ input }) => "cursor" in input);

describe.each(paged.map((operation) => [operation.name, operation] as const))("a cursor of %s", (_, operation) => {
  const fingerprint = (options: object) => (parsed(operation, options) as { readonly fingerprint: string }).fingerprint;
  const filtered = Object.keys(operation.input).filter((name) => "condition" in (operation.input[name] ?? {}));

  test("is bound to every filter", () => {
    const seen = new Set([fingerprint({})]);
    let tried = 1;
    for (const name of filtered as readonly FilterName[]) {
      const { good, also = good, other } = filterValues[name];
      const values = other === undefined ? [good] : [good, other];
      for (const value of values) seen.add(fingerprint({ [name]: value }));
      tried += values.length;
      expect(fingerprint({ [name]: also })).toBe(fingerprint({ [name]: good }));
      expect(fingerprint({ [name]: "" })).toBe(fingerprint({}));
    }
    expect(seen.size).toBe(tried);
    const all = (filtered as readonly FilterName[]).map((name) => [name, filterValues[name].good] as const);
    const reversed = Object.fromEntries(all.toReversed());
    expect(fingerprint(reversed)).toBe(fingerprint(Object.fromEntries(all)));
  });

  test("is not bound to what only changes how rows are shown", () => {
    expect(fingerprint({ limit: 7 })).toBe(fingerprint({}));
  });
});

test("cursors of a timeline are bound to its session and order, and not to where it began", () => {
  const fingerprint = (options: object) => {
    const query = parsed(operations.listSessionEntries, options);
    return (query as { readonly fingerprint: string }).fingerprint;
  };
  expect(fingerprint({ after: 5, excerpts: true })).toBe(fingerprint({}));
  expect(new Set([fingerprint({}), fingerprint({ id: "t" }), fingerprint({ order: "desc" })]).size).toBe(3);
});

test("what is followed is asked without a clock, and so takes no times", () => {
  const names = Object.keys(streams.tail.input);
  expect(names).not.toContain("since");
  expect(names).not.toContain("until");
});
