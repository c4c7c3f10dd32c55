// The form in which a phrase and what a model was given are compared: as searches compare texts, and without differences that
// nobody sees. A phrase is typed, or copied from where quotes, dashes and line breaks became others.

import { isJsonObject, type JsonValue } from "../model/json.js";
import { normalise } from "../model/normalise.js";

const PLAIN_BY_CHARACTER: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b\u2032\u02bc]/g, "'"],
  [/[\u201c-\u201f\u2033\u00ab\u00bb]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/\u2026/g, "..."],
];
const TYPOGRAPHIC = /[\u00ab\u00bb\u02bc\u2010-\u2033\u2212]/;
/** Several spaces, or a space that is no plain one. */
const WIDE_SPACE = /\s{2,}|[^\S ]/;

/** White space is one space; quotes, dashes and ellipses are those of ASCII. */
export function comparable(text: string): string {
  let plain = normalise(text);
  if (TYPOGRAPHIC.test(plain))
    for (const [characters, ascii] of PLAIN_BY_CHARACTER) plain = plain.replace(characters, ascii);
  return WIDE_SPACE.test(plain) ? plain.replace(/\s+/g, " ") : plain;
}

/** Between them a phrase may be written in another way than the text that holds it: white space, quotes, dashes, ellipses, escapes. */
const VARIABLE = /[\s'"\\.-]+/;
const FRAGMENTS_MAX = 8;

/** What occurs as it is in every text that holds a phrase in its compared form; the longest ones of many. */
export function fragmentsOf(phrase: string): readonly string[] {
  const fragments = new Set(phrase.split(VARIABLE).filter((fragment) => fragment !== ""));
  return [...fragments].sort((left, right) => right.length - left.length).slice(0, FRAGMENTS_MAX);
}

/** JSON may hold texts that are JSON again, as arguments of calls do; deeper ones are left as they are. */
const DEPTH_MAX = 4;
const JSON_CHARS_MAX = 4 * 1024 * 1024;
/** Parts of one text are kept apart by what no phrase holds. */
const APART = "\n\u0000\n";

/** A text as it is compared; where it is JSON, its decoded strings stand behind it. */
export function comparableWithin(text: string): string {
  const decoded = decodedStrings(text, 1);
  const whole = comparable(text);
  return decoded.length === 0 ? whole : [whole, ...decoded.map(comparable)].join(APART);
}

function decodedStrings(text: string, depth: number): readonly string[] {
  // Without an escape the strings are in the text as they are.
  if (depth > DEPTH_MAX || text.length > JSON_CHARS_MAX || !text.includes("\\") || !/^\s*[[{"]/.test(text)) return [];
  try {
    return stringsIn(JSON.parse(text) as JsonValue, depth);
  } catch {
    return [];
  }
}

function stringsIn(value: JsonValue, depth: number): readonly string[] {
  if (typeof value === "string") return [value, ...decodedStrings(value, depth + 1)];
  if (Array.isArray(value)) return value.flatMap((item) => stringsIn(item, depth));
  return isJsonObject(value) ? Object.values(value).flatMap((item) => stringsIn(item, depth)) : [];
}
