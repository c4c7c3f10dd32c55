// The checks that hostile JSON needs: depth without unlimited recursion, and equality as in JSON.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { isJsonObject, isNestedWithin, jsonEquals } from "./json.js";

describe("nesting", () => {
  const listsWithin = (levels: number): unknown => {
    let value: unknown = [];
    for (let level = 1; level < levels; level += 1) value = [value];
    return value;
  };
  const objectsWithin = (levels: number): unknown => {
    let value: unknown = {};
    for (let level = 1; level < levels; level += 1) value = { a: 1, deeper: value };
    return value;
  };

  test("counts the value itself as the first level", () => {
    for (const nested of [listsWithin, objectsWithin]) {
      expect(isNestedWithin(nested(200), 200)).toBe(true);
      expect(isNestedWithin(nested(201), 200)).toBe(false);
      expect(isNestedWithin(nested(1), 1)).toBe(true);
      expect(isNestedWithin(nested(1), 0)).toBe(false);
    }
  });

  test.each(["text", 1, null, true, undefined])("is zero for %j", (leaf) => {
    expect(isNestedWithin(leaf, 0)).toBe(true);
  });

  test("of a hundred thousand levels is refused without exhausting the stack", () => {
    expect(isNestedWithin(listsWithin(100_000), 200)).toBe(false);
    expect(isNestedWithin(objectsWithin(100_000), 200)).toBe(false);
  });

  test("of a circular value is refused", () => {
    const circle: { self?: unknown } = {};
    circle.self = [circle];
    expect(isNestedWithin(circle, 200)).toBe(false);
  });

  test("under the key __proto__ counts like any other", () => {
    expect(isNestedWithin(JSON.parse('{"__proto__":{"__proto__":{}}}'), 3)).toBe(true);
    expect(isNestedWithin(JSON.parse('{"__proto__":{"__proto__":{}}}'), 2)).toBe(false);
  });

  test("is found at any place among many siblings", () => {
    expect(isNestedWithin([...new Array(1_000).fill({ a: [1] }), { a: [[]] }], 3)).toBe(false);
    expect(isNestedWithin([...new Array(1_000).fill({ a: [1] }), { a: [1] }], 3)).toBe(true);
  });
});

test("neither a list nor null is an object", () => {
  expect(isJsonObject({})).toBe(true);
  expect(isJsonObject(Object.create(null))).toBe(true);
  for (const other of [[], null, "text", 1, undefined, () => 1]) expect(isJsonObject(other)).toBe(false);
});

describe("equality", () => {
  test.each([
    [
      { a: 1, b: [2, { c: null }] },
      { b: [2, { c: null }], a: 1 },
    ],
    [0, -0],
    [[], []],
    ["\ud800", "\ud800"],
    [JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":1}')],
  ])("holds for %j and %j", (left, right) => {
    expect(jsonEquals(left, right)).toBe(true);
  });

  test.each([
    [1, "1"],
    [null, 0],
    [null, {}],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined }, { b: undefined }],
    [JSON.parse('{"__proto__":1}'), JSON.parse('{"__proto__":2}')],
    [JSON.parse('{"__proto__":{}}'), {}],
    [{ toString: 1 }, {}],
    ["é", "e\u0301"],
    ["\ud800", "\udc00"],
    [true, 1],
  ])("does not hold for %j and %j, in either order", (left, right) => {
    expect(jsonEquals(left, right)).toBe(false);
    expect(jsonEquals(right, left)).toBe(false);
  });

  test("is the same as equal JSON with sorted keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (left, right) => {
        expect(jsonEquals(left, right)).toBe(sortedText(left) === sortedText(right));
      }),
      fuzz(300),
    );
  });

  test("holds for every value and its parsed JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
        expect(jsonEquals(value, JSON.parse(JSON.stringify(value)))).toBe(true);
      }),
      fuzz(300),
    );
  });
});

function sortedText(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    isJsonObject(item) ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1))) : item,
  );
}
