// The quick look at a body: it may let through what does not match, and must never hold back what does.
import fc from "fast-check";
import { expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { textsOf } from "../index/derivation.js";
import { normalise } from "../model/normalise.js";
import { indexOfText, mayHold, preFiltersOf } from "./matching.js";

test("an entry that holds the terms always comes through", () => {
  fc.assert(
    fc.property(body, fc.nat(), fc.nat(), fc.nat(12), (value, which, from, length) => {
      const texts = textsOf("tool_call", value);
      fc.pre(texts.length > 0);
      const normal = normalise(texts[which % texts.length]?.text as string);
      const start = from % normal.length;
      const term = normal.slice(start, start + 1 + length);
      fc.pre(indexOfText(normal, term) !== -1);
      expect(mayHold(JSON.stringify(value), preFiltersOf([term])), JSON.stringify({ value, term })).toBe(true);
    }),
    fuzz(10_000),
  );
});

test.each([
  ["\\u0041bc", "abc"],
  ["K\u212aK", "kkk"],
  ["\u037e", ";"],
  ["x\u1fefy", "x`y"],
  ["a\\/b", "a/b"],
  ["\\nΣΑ", "σα"],
  ["ΑΣ\\nΑ", "ας"],
])("the JSON %j holds %j", (json, term) => {
  const text = `{"id":"i","tool":"${json}"}`;
  expect(textsOf("tool_call", JSON.parse(text)).some((one) => normalise(one.text).includes(term))).toBe(true);
  expect(mayHold(text, preFiltersOf([term]))).toBe(true);
});

test.each(["absent", "文字", "é", "k;"])("a plain body without %j is turned away", (term) => {
  expect(mayHold('{"id":"i","tool":"nothing of it"}', preFiltersOf([term]))).toBe(false);
});

test("one term that is missing is enough, and one that cannot be looked for is let through", () => {
  const text = '{"id":"i","tool":"alpha beta"}';
  expect(mayHold(text, preFiltersOf(["alpha", "gamma"]))).toBe(false);
  expect(mayHold(text, preFiltersOf(['"', "\n", "\ud800", "σ", "\u0301", "12"]))).toBe(true);
});

const piece = fc.oneof(
  fc.constantFrom(
    ...["Alpha", "beta", "K", "\u212a", "İ", "I", "i", "\u037e", ";", "\u1fef", "`", "Σ", "σ", "ς", "Α", "é", "e"],
    ...[
      "\u0301",
      "\u0307",
      "\u0338",
      "<",
      "文",
      "\uf900",
      "か",
      "\u3099",
      "\u1112",
      "\u1161",
      "🙂",
      "\ud83d",
      "\ude42",
    ],
    ...['"', "\\", "/", "\n", "\t", "\0", "\u007f", "\u2028", " ", "-", "n", "u", "\\u", "0", "1e5"],
  ),
  fc.string({ unit: "binary", maxLength: 3 }),
);
const text = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(""));
const leaf = fc.oneof(text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null));
const body = fc.record({
  id: fc.constant("i"),
  tool: text,
  args: fc.dictionary(text, leaf, { maxKeys: 3 }),
  result: fc.oneof(leaf, fc.array(leaf, { maxLength: 3 })),
});
