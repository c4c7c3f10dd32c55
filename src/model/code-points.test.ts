// Lengths in code points, of whole and of broken characters.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { codePoints } from "./normalise.js";

describe("length in code points", () => {
  test.each([
    ["", 0],
    ["abc", 3],
    ["é", 1],
    ["e\u0301", 2],
    ["日本", 2],
    ["🙂", 1],
    ["🙂🙂a", 3],
    ["👨‍👩‍👧", 5],
    ["\0", 1],
    ["\ud800", 1],
    ["\udc00", 1],
    ["\udc00\ud800", 2],
    ["\ud800\ud800\udc00", 2],
    ["a\ud83d", 2],
  ])("of %j is %i", (text, expected) => {
    expect(codePoints(text)).toBe(expected);
  });

  test("is that of iterating over the text", () => {
    const anyText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
    const surrogates = fc.array(fc.integer({ min: 0xd700, max: 0xe0ff })).map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(fc.oneof(anyText, surrogates), (text) => {
        expect(codePoints(text)).toBe([...text].length);
      }),
      fuzz(500),
    );
  });
});
