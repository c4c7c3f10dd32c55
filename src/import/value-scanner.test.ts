// Values from a document in chunks: the same as parsing the whole document.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../model/json.js";
import { type Found, ValueScanner } from "./value-scanner.js";

function scan(text: string | Buffer, path: readonly string[], size = 5): readonly Found[] {
  const bytes = Buffer.from(text);
  const scanner = new ValueScanner([path]);
  const found: Found[] = [];
  for (let at = 0; at < bytes.length && !scanner.isDone; at += size)
    found.push(...scanner.write(bytes.subarray(at, at + size)));
  return [...found, ...scanner.end()];
}

function valuesOf(found: readonly Found[]): readonly (JsonValue | string)[] {
  return found.map((item) => ("value" in item ? item.value : item.reason));
}

test("members and items are those of the whole document, wherever it is split", () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 3 })),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(undefined, 2),
      (items, size, indent) => {
        const given = JSON.parse(JSON.stringify(items)) as JsonValue[];
        const document = { before: given, 'me\\"ssages': given, after: [given] };
        expect(valuesOf(scan(JSON.stringify(given, null, indent), ["*"], size))).toEqual(given);
        expect(valuesOf(scan(JSON.stringify(document, null, indent), ['me\\"ssages', "*"], size))).toEqual(given);
        expect(valuesOf(scan(JSON.stringify(document, null, indent), [], size))).toEqual([document]);
        expect(scan(JSON.stringify(document), ["*"], size)).toMatchObject(
          Object.entries(document).map(([key, value]) => ({ key, value })),
        );
      },
    ),
  );
});

test("long texts end at their own quotes, with any number of escaped ones and wherever it is split", () => {
  const text = fc.string({ unit: fc.constantFrom('"', "\\", "a", "é"), minLength: 30, maxLength: 120 });
  fc.assert(
    fc.property(fc.array(text), fc.integer({ min: 1, max: 200 }), (texts, size) => {
      expect(valuesOf(scan(JSON.stringify(texts), ["*"], size))).toEqual(texts);
      expect(valuesOf(scan(JSON.stringify({ texts }), [], size))).toEqual([{ texts }]);
    }),
  );
});

test.each([
  ["a bracket that closes nothing", "[1,2}]", ["*"], [1, 2, /unexpected closing bracket/]],
  ["an end that is missing", "[1,[2,3", ["*"], [1, /incomplete/]],
  ["a word that is none", "[1,nul,2]", ["*"], [1, /not valid JSON/]],
  ["bytes that are no text", Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x2c, 0x31, 0x5d]), ["*"], [/not valid UTF-8/, 1]],
  ["values one after the other", '{"a":[1]} {"a":[2]}3', [], [{ a: [1] }, { a: [2] }, 3]],
] as const)("%s", (_, text, path, expected) => {
  const found = valuesOf(scan(text, path));
  expect(found).toEqual(expected.map((one) => (one instanceof RegExp ? expect.stringMatching(one) : one)));
});
