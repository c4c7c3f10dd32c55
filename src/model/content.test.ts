// The text of a content for each use: models, people, searches and reflection.
import { describe, expect, test } from "vitest";
import { type Content, contentTexts, isBlank, saidIn, valueText, wordsOf } from "./content.js";
import type { JsonObject, JsonValue } from "./json.js";

interface Case {
  readonly part: JsonValue;
  /** As a model gets it. */
  readonly words: string;
  /** As reflection counts it; undefined if there is no text. */
  readonly text?: string;
}

const cases: readonly Case[] = [
  { part: "plain", words: "plain", text: "plain" },
  { part: "", words: "", text: "" },
  { part: { type: "text", text: "said" }, words: "said", text: "said" },
  { part: { text: " " }, words: " ", text: " " },
  { part: { type: "refusal", refusal: "no" }, words: "no" },
  { part: { text: "", refusal: "no" }, words: "no", text: "" },
  { part: { text: " ", refusal: "no" }, words: " ", text: " " },
  { part: { type: "image", text: "alt" }, words: "alt", text: "alt" },
  { part: { type: "image", text: "" }, words: '{"type":"image","text":""}', text: "" },
  { part: { type: "image", source: 1 }, words: '{"type":"image","source":1}' },
  { part: { text: 5 }, words: '{"text":5}' },
  { part: { type: 5 }, words: '{"type":5}' },
  { part: null, words: "null" },
  { part: 7, words: "7" },
];

describe.each(cases)("the part $part", ({ part, words, text }) => {
  test("as text with its type", () => {
    expect(wordsOf(part)).toBe(words);
    expect(contentTexts([part])).toEqual(text === undefined ? [] : [text]);
  });
});

test("reflection gets one text per part", () => {
  const content: Content = ["one", { type: "image", source: 1 }, { type: "text", text: "two" }];
  expect(contentTexts(content)).toEqual(["one", "two"]);
});

test("a plain text is the same for every use", () => {
  const content = " as\nit is ";
  expect(contentTexts(content)).toEqual([content]);
});

test("what is not a content has no texts", () => {
  expect([undefined, null, { a: 1 }].flatMap(contentTexts)).toEqual([]);
  expect(["text", 5, [1], undefined].map(valueText)).toEqual(["text", "5", "[1]", ""]);
});

test("a content is blank if it has no text and nothing to show", () => {
  for (const blank of ["", " \n", [], [" ", { text: "" }], [{ refusal: "\t" }]] as const)
    expect(isBlank(blank)).toBe(true);
  for (const said of [
    "a",
    ["", "a"],
    [{ type: "image" }],
    [{ type: "image", text: "" }],
    [{ text: "", refusal: "no" }],
  ]) {
    expect(isBlank(said)).toBe(false);
  }
});

test("the texts of a part are its text, its refusal and its thought, and nothing else", () => {
  const part: JsonObject = { type: "thinking", text: "aloud", refusal: "no", thinking: "hm", signature: "s" };
  expect(saidIn(part)).toEqual(["aloud", "no", "hm"]);
  expect(saidIn({ text: 5, thinking: null })).toEqual([]);
});
