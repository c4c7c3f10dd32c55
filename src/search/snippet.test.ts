// Snippets: short, as recorded, cut between characters, with every term in them marked.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { normalise } from "../model/normalise.js";
import { indexOfText, snippetOf } from "./matching.js";

const words = Array.from({ length: 200 }, (_, at) => `word${at}`).join(" ");

function marked(text: string, terms: readonly string[]): readonly string[] {
  const { snippet, matches } = snippetOf(text, terms);
  return matches.map(([start, end]) => snippet.slice(start, end));
}

test("a short text is shown whole", () => {
  expect(snippetOf("Hello World", ["world"])).toEqual({ snippet: "Hello World", matches: [[6, 11]] });
});

test("a long one is shown around the first match, from word to word", () => {
  const { snippet, matches } = snippetOf(words, ["word150"]);
  expect(words).toContain(` ${snippet} `);
  expect(snippet.length).toBeGreaterThan(140);
  expect(snippet.length).toBeLessThanOrEqual(180);
  const [[start, end] = [0, 0]] = matches;
  expect(snippet.slice(start, end)).toBe("word150");
  expect(start).toBeGreaterThan(30);
});

test("without terms it is the beginning, without marks", () => {
  const { snippet, matches } = snippetOf(words, []);
  expect(words.startsWith(snippet)).toBe(true);
  expect(matches).toEqual([]);
  expect(snippetOf("", [])).toEqual({ snippet: "", matches: [] });
});

describe("marks", () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ["abc abc", ["abc"], ["abc", "abc"]],
    ["aaaa", ["aa"], ["aa", "aa"]],
    ["one two ONE", ["two", "one"], ["one", "two", "ONE"]],
    ["abcd", ["bcd", "abc"], ["abc"]],
    ["abcd", ["ab", "abcd"], ["abcd"]],
    ["CAFE\u0301!", ["café"], ["CAFE\u0301"]],
    ["İstanbul", ["istanbul"], []],
    ["İstanbul", ["stan"], ["stan"]],
    ["🙂🙂", ["🙂"], ["🙂", "🙂"]],
    ["\ud83d 🙂", ["\ud83d"], ["\ud83d"]],
    ["ΟΔΟΣ", ["οδος"], ["ΟΔΟΣ"]],
  ])("in %j for %j are %j", (text, terms, expected) => {
    expect(marked(text, terms)).toEqual(expected);
  });
});

test("a match longer than a snippet is shown whole", () => {
  const phrase = "long ".repeat(100).trim();
  expect(marked(`before ${phrase} after`, [phrase])).toEqual([phrase]);
});

test("a final sigma at the edge keeps its mark", () => {
  const text = `${"ab ".repeat(80)}${"ΟΔΟΣ".repeat(60)}`;
  const term = normalise("ΟΔΟΣ".repeat(60));
  expect(marked(text, [term])).toHaveLength(1);
});

test("every snippet is a piece of its text, cuts no character, and its marks are in order and hold their term", () => {
  const piece = fc.constantFrom(
    ...["word ", "Wort", "e\u0301", "İ", "🙂", "文字", "한", "\u1112\u1161", "\n", "x\u0323\u0301", " ", "𝒳", "K"],
  );
  const text = fc.array(piece, { minLength: 1, maxLength: 250 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(
      text,
      fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 3 }),
      (whole, cuts) => {
        const normal = normalise(whole);
        const terms = cuts
          .map(([at, length]) => normal.slice(at % normal.length, (at % normal.length) + length))
          .filter((term) => term.isWellFormed() && indexOfText(normal, term) !== -1);
        fc.pre(terms.length > 0);
        const { snippet, matches } = snippetOf(whole, terms);
        expect(whole.includes(snippet)).toBe(true);
        expect(snippet.isWellFormed()).toBe(true);
        expect(matches.length).toBeGreaterThan(0);
        let last = 0;
        for (const [start, end] of matches) {
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end).toBeGreaterThan(start);
          const held = normalise(snippet.slice(start, end));
          expect(
            terms.some((term) => held.includes(term)),
            JSON.stringify({ snippet, held, terms }),
          ).toBe(true);
          last = end;
        }
        expect(last).toBeLessThanOrEqual(snippet.length);
      },
    ),
    fuzz(1_500),
  );
});
