// The first words of a text on one line, for titles and lists: the text itself stays as it was recorded.
import { stripVTControlCharacters } from "node:util";
import { firstCodePoints } from "./normalise.js";

/** White space of any kind, control characters, and characters that change the direction of text or take no space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
const GAPS = /[\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
const ESCAPES = /[\u001b\u009b]/;
/** Printable ASCII without spaces at an end or next to each other. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;
/** A text may have this many characters for each that is shown: the rest is not read. */
const READ_FACTOR = 8;

/** At most this many code points, `…` included where words are left out. */
export function firstWords(text: string, count: number): string {
  // Most texts need no more than this, and the rest is ten times the work.
  const start = text.length > count ? text.slice(0, count - 1).trimEnd() : text;
  if (PLAIN.test(start)) return start === text ? text : `${start}…`;
  const read = text.slice(0, count * READ_FACTOR);
  const plain = ESCAPES.test(read) ? stripVTControlCharacters(read) : read;
  const words = plain.replace(GAPS, " ").trim();
  if (words.length <= count) return words;
  const first = firstCodePoints(words, count);
  return first === words ? words : `${firstCodePoints(words, count - 1).trimEnd()}…`;
}
