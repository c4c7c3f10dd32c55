// Bodies written as JSON with their large parts lifted: the same text as if all of it had been built.
import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { LiftedParts } from "./lifted-parts.js";
import { membersOf } from "./members.js";

const encode = (value: unknown, space?: string | number) => Buffer.from(JSON.stringify(value, null, space));
const key = fc.oneof(fc.string(), fc.constantFrom("__proto__", 'a"b', "a\\", "é{", "}"));

test("the members of an object are found as JSON.parse finds them, at whatever depth others look the same", () => {
  fc.assert(
    fc.property(fc.dictionary(key, fc.jsonValue()), fc.constantFrom(0, 2, "\t"), (object, space) => {
      const members = membersOf(encode(object, space)) ?? new Map<string, Buffer>();
      const found = [...members].map(([name, bytes]) => [name, JSON.parse(bytes.toString())]);
      expect(found).toEqual(Object.entries(JSON.parse(encode(object).toString())));
    }),
    fuzz(1_000),
  );
});

test("what is no object has no members", () => {
  for (const text of ["", " ", "[]", '"{}"', "{", '{"a"', '{"a":', '{"a":[1,2', '{"a":"b', "{a:1}", '{"a" 1}']) {
    expect(membersOf(Buffer.from(text))).toBeUndefined();
  }
});

test("large members come out as they went in, wherever they end up, and those to be built are built", () => {
  const large = [{ text: `"\\é${"x".repeat(70_000)}` }, "lifted:0"];
  const body = { id: "i", large, small: { a: 1 }, built: large };
  const parts = new LiftedParts();
  const parsed = parts.parseBody(1, encode(body), new Set(["built"]));
  expect(typeof parsed.large).toBe("string");
  expect(parsed.built).toEqual(large);
  const made = { nested: [parsed.large, { again: parsed.large }], small: parsed.small };
  expect(JSON.parse(parts.json(made).toString())).toEqual({ nested: [large, { again: large }], small: { a: 1 } });
});

test("a damaged body is told as such", () => {
  expect(() => new LiftedParts().parseBody(7, Buffer.from(`{"id":"${"x".repeat(70_000)}`))).toThrow("entry 7");
});
