// What a rule finds in a text: a statement, of which type, and the words that it rests on.
import { codePoints } from "../../model/code-points.js";
import type { MemoryType } from "../../model/memory.js";

export interface Finding {
  readonly type: MemoryType;
  readonly content: string;
  /** Where the words stand that it rests on, in UTF-16 units of the text. */
  readonly start: number;
  readonly end: number;
}

const QUOTE_CHARS_MIN = 20;

/** The quote of a finding: its words, and what stands beside them where they alone are too few for a quote. */
export function quoteOf(text: string, { start, end }: Finding): string {
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
