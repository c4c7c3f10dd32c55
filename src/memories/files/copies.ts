// Copies of a memory file in the record: a tool that read it, an assistant that wrote it, a program that put it into a user's
// message. What they hold was given to a model, and supports nothing that the file says: it is the file.

import { comparable } from "../judge/comparable.js";
import type { QuotedEntry, Spoken } from "../read/quoted-entry.js";

/** Whoever says so much of a file in one text repeats it. */
const COPIED_SHARE = 0.8;
/** Of fewer lines a file cannot be told from what somebody says. */
const LINES_MIN = 3;
const TEXT_CHARS_MAX = 1_000_000;
const HEADING = /^\s{0,3}#{1,6}\s/;

export class FileCopies {
  readonly #lines: readonly string[];
  readonly #headings: readonly string[];
  readonly #known = new WeakMap<Spoken, boolean>();

  /** @param file Its text. */
  constructor(file: string) {
    const lines = file.slice(0, TEXT_CHARS_MAX).split(/[\r\n]+/);
    const distinct = (some: readonly string[]) => [...new Set(some.map(lineOf))].filter((line) => line !== "");
    this.#lines = distinct(lines);
    this.#headings = distinct(lines.filter((line) => HEADING.test(line)));
  }

  /** What was said, and what only repeats the file, as a system's words. */
  split(entries: readonly QuotedEntry[]): { readonly said: QuotedEntry[]; readonly copies: QuotedEntry[] } {
    const said: QuotedEntry[] = [];
    const copies: QuotedEntry[] = [];
    for (const entry of entries) {
      const own = entry.said.filter((one) => !this.#isCopy(one));
      if (own.length > 0) said.push({ ...entry, said: own });
      if (own.length === entry.said.length) continue;
      const given = entry.said.filter((one) => this.#isCopy(one));
      copies.push({ ...entry, said: given.map(({ text }) => ({ by: "system", text })) });
    }
    return { said, copies };
  }

  /** A user who dictated the lines said them; that its headings come along shows that a program put the file there. */
  #isCopy(spoken: Spoken): boolean {
    const { by, text } = spoken;
    if (this.#lines.length < LINES_MIN || (by === "user" && this.#headings.length === 0)) return false;
    const known = this.#known.get(spoken);
    if (known !== undefined) return known;
    const whole = lineOf(text.slice(0, TEXT_CHARS_MAX));
    const isCopy = this.#holdsMost(whole) && (by !== "user" || this.#headings.every((line) => whole.includes(line)));
    this.#known.set(spoken, isCopy);
    return isCopy;
  }

  /** Most texts lack more than a copy could after a few lines. */
  #holdsMost(whole: string): boolean {
    let lacking = this.#lines.length * (1 - COPIED_SHARE);
    return this.#lines.every((line) => {
      if (!whole.includes(line)) lacking -= 1;
      // A tenth of a line is what fractions make of nothing.
      return lacking > -0.1;
    });
  }
}

/** Marks of a page aside, also those that make another name of a word: a heading is the same without its own. */
function lineOf(text: string): string {
  return comparable(text.replaceAll("#", " "));
}
