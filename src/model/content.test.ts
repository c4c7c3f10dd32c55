// The text of a content, for each who asks: models, people, searches and reflection.
import { describe, expect, test } from "vitest";
import { type Content, contentTexts, isBlank, saidIn, valueText, wordsOf } from "./content.js";
import type { JsonObject, JsonValue } from "./json.js";

interface Case {
  readonly part: JsonValue;
  /** As a model is given it. */
  readonly words: string;
  /** As reflection counts it; undefined where it says nothing. */
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
  test("in words, and its text", () => {
    expect(wordsOf(part)).toBe(words);
    expect(contentTexts([part])).toEqual(text === undefined ? [] : [text]);
  });
});

test("parts are a text each to reflection", () => {
  const content: Content = ["one", { type: "image", source: 1 }, { type: "text", text: "two" }];
  expect(contentTexts(content)).toEqual(["one", "two"]);
});

test("a text is itself to everybody", () => {
  const content = " as\nit is ";
  expect(contentTexts(content)).toEqual([content]);
});

test("what is no content has no texts", () => {
  expect([undefined, null, { a: 1 }].flatMap(contentTexts)).toEqual([]);
  expect(["text", 5, [1], undefined].map(valueText)).toEqual(["text", "5", "[1]", ""]);
});

test("a content is blank where nothing is said and nothing shown", () => {
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

test("what was said in a part is its text, its refusal and its thought, and nothing else", () => {
  const part: JsonObject = { type: "thinking", text: "aloud", refusal: "no", thinking: "hm", signature: "s" };
  expect(saidIn(part)).toEqual(["aloud", "no", "hm"]);
  expect(saidIn({ text: 5, thinking: null })).toEqual([]);
});
