// What a rule finds in a text: a statement, of which type, and the words that it rests on.
import { codePoints } from "../../../model/code-points.js";
import type { MemoryType } from "../../../model/memory.js";
import type { Stretch } from "../../../model/normalise.js";
import { QUOTE_CHARS_MIN } from "../../judge/gates/evidence.js";

/** Its stretch is where the words stand that it rests on. */
export interface Finding extends Stretch {
  readonly type: MemoryType;
  readonly content: string;
}

/** The quote of a stretch: its words, and what stands beside them where they alone are too few for a quote. */
export function quoteOf(text: string, { start, end }: Stretch): string {
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
