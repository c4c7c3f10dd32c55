// What a rule finds in a text: a statement, of which type, and the words that it rests on.

import type { MemoryType } from "../../../model/memory.js";
import type { TextRange } from "../../../model/normalise.js";
import { codePoints } from "../../../model/normalise.js";
import { QUOTE_CHARS_MIN } from "../../judge/gates/evidence.js";

/** Its stretch is where the words stand that it rests on. */
export interface Finding extends TextRange {
  readonly type: MemoryType;
  readonly content: string;
}

/** The quote of a stretch: its words, and what stands beside them where they alone are too few for a quote. */
export function quoteOf(text: string, { start, end }: TextRange): string {
  let [from, to] = [start, end];
  while (codePoints(text.slice(from, to)) < QUOTE_CHARS_MIN && (from > 0 || to < text.length)) {
    if (to < text.length) to += isPair(text, to) ? 2 : 1;
    else from -= from > 1 && isPair(text, from - 2) ? 2 : 1;
  }
  return text.slice(from, to);
}

function isPair(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
