// The form in which searches compare texts, and the mapping back to the recorded text.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { boundaryFrom, isBoundary, normalise, originalRange } from "./normalise.js";

test.each([
  ["Grüße", "grüße"],
  ["CAFE\u0301", "café"],
  ["İ", "i\u0307"],
  ["\u212a", "k"],
  ["ΟΔΟΣ", "οδος"],
  ["\u1112\u1161\u11ab", "한"],
  ["x\ud800Y", "x\ud800y"],
  ["🙂", "🙂"],
])("%j is compared as %j", (text, normal) => {
  expect(normalise(text)).toBe(normal);
});

test("it is NFC and then lower case, whatever the text", () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      expect(normalise(text)).toBe(text.normalize("NFC").toLowerCase());
    }),
    fuzz(2_000),
  );
});

test("no character combines with the one before it except those listed", () => {
  const joining: string[] = [];
  for (let code = 0; code < 0x110000; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const char = String.fromCodePoint(code);
    const [first = "", ...others] = char.normalize("NFD");
    // Any character that is not first in a decomposition can follow the first one and combine with it.
    joining.push(...others.filter((other) => isBoundary(`a${other}`, 1)));
    if (!isBoundary(`a${first}`, 1) && isBoundary(`a${char}`, 1)) joining.push(char);
  }
  expect(joining).toEqual([]);
});

test("normalising a text in parts, split at boundaries, equals normalising it whole, except for a sigma", () => {
  fc.assert(
    fc.property(anyText(), fc.nat(40), (text, at) => {
      const place = boundaryFrom(text, at);
      const parts = normalise(text.slice(0, place)) + normalise(text.slice(place));
      expect(parts.replaceAll("ς", "σ")).toBe(normalise(text).replaceAll("ς", "σ"));
    }),
    fuzz(2_000),
  );
});

describe("mapping back", () => {
  test.each([
    ["plain text", "text", "text"],
    ["Grüße an ALLE", "alle", "ALLE"],
    ["ein CAFE\u0301 hier", "café", "CAFE\u0301"],
    ["ein CAFE\u0301 hier", "hier", "hier"],
    ["İİİ Istanbul", "istan", "Istan"],
    ["İstanbul", "i\u0307stan", "İstan"],
    ["x\u0301\u0323y", "y", "y"],
    ["🙂 a🙂B", "a🙂b", "a🙂B"],
    ["\u1112\u1161\u11ab\u1100\u116e\u11a8 test", "국", "\u1100\u116e\u11a8"],
    ["\ufb1d\ufb1d x", "x", "x"],
  ])("in %j, %j is %j", (text, needle, original) => {
    const start = normalise(text).indexOf(needle);
    const found = originalRange(text, { start, end: start + needle.length });
    expect(text.slice(found.start, found.end)).toBe(original);
  });

  test("marks that NFC moves are shown together with their letter", () => {
    const found = originalRange("ax\u0301\u0323b", { start: 1, end: 3 });
    expect(found).toEqual({ start: 1, end: 4 });
  });

  test("leads to a range that normalises to the match, in texts of any length", () => {
    fc.assert(
      fc.property(anyText(), anyText(), fc.nat(3), (before, needle, blocks) => {
        fc.pre(needle !== "" && isBoundary(`a${needle}`, 1) && !/[ΣσςI\u0130]/i.test(before + needle));
        const text = `${`${before}|`.repeat(1 + blocks * 300)}${needle}|end`;
        const normal = normalise(needle);
        const start = normalise(text).lastIndexOf(`${normal}|end`);
        const found = originalRange(text, { start, end: start + normal.length });
        expect(text.slice(found.start, found.end)).toBe(needle);
      }),
      fuzz(500),
    );
  });
});

/** Letters, marks and lone surrogates that change under NFC or lower case, among others. */
function anyText(): fc.Arbitrary<string> {
  const special = fc.constantFrom(
    ...["a", "E", "\u0301", "\u0323", "\u0327", "é", "İ", "I", "\u212a", "Σ", "ß", "ﬁ", "\u1112", "\u1161", "\u11ab"],
    ...["한", "か", "\u3099", "🙂", "\ud83d", "\ude42", "\u{1d15e}", "\ufb1d", "\u{2f800}", "Ⱥ", " ", "\n", "文"],
  );
  return fc
    .array(fc.oneof(special, fc.string({ unit: "binary", maxLength: 2 })), { maxLength: 20 })
    .map((all) => all.join(""));
}
