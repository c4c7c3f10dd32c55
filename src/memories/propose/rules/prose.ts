// What a user typed of a message; and the sentences and quotes that are taken from what the writer of a text says.

import type { MemoryType } from "../../../model/memory.js";
import type { TextRange } from "../../../model/normalise.js";
import { codePoints } from "../../../model/normalise.js";
import { CODE_LINE, LOG_LINE, proseOf } from "../../../model/prose.js";
import { QUOTE_CHARS_MIN } from "../../judge/statement.js";
import type { RuleClass } from "../rule-classes.js";

/** As many lines of a list or of a log make the rest a document. */
const MARKED_LINES = 3;
const MARKED_LINE = /^[ \t]{0,8}(?:#{1,6} |[-*+•] |\d{1,3}[.)] |\||\*\*)/;

/** What a user typed: its prose without lines that touch a paste, and where a list, a document or a log begins. */
export function typedProseOf(text: string): { readonly prose: string; readonly end: number } {
  const given = text.split("\n");
  const lines = proseOf(text).split("\n");
  const isPasted = given.map((line) => LOG_LINE.test(line) || CODE_LINE.test(line));
  const starts: number[] = [];
  let at = 0;
  for (const line of given) {
    starts.push(at);
    at += line.length + 1;
  }
  const typed = lines.map((line, nth) => {
    const touches = isPasted[nth - 1] === true || isPasted[nth + 1] === true;
    return touches && line.trim() !== "" ? " ".repeat(line.length) : line;
  });
  const firstOf = (marks: readonly boolean[]): number => {
    const found = marks.flatMap((isMark, nth) => (isMark ? [nth] : []));
    return found.length < MARKED_LINES ? text.length : (starts[found[0] ?? 0] ?? 0);
  };
  const marked = lines.map((line) => MARKED_LINE.test(line));
  return { prose: typed.join("\n"), end: Math.min(firstOf(marked), firstOf(isPasted)) };
}

/** What a rule finds in a text: a statement, and the range of its evidence. */
export interface Finding extends TextRange {
  readonly class: RuleClass;
  readonly type: MemoryType;
  readonly content: string;
}

/** The words of a range as a quote, extended to its neighbours where they are too few. */
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

const BEGINNING = /^(?:[\s>#]|[-*+•][ \t]|\d{1,3}[.)][ \t]|\[[ xX]\][ \t])+/;
/** Only in pairs around words: `*.ts` and `__init__` are names. */
const STRONG = /\*\*([^*\n]{1,500})\*\*/g;
const EMPHASIS = /(?<![\p{L}\p{N}*/])\*([\p{L}\p{N}][^*\n]{0,500})\*(?![\p{L}\p{N}*/])/gu;

/** A sentence without Markdown: list markers, heading marks and emphasis. */
export function plain(sentence: string): string {
  return sentence.replace(BEGINNING, "").replace(STRONG, "$1").replace(EMPHASIS, "$1").trim();
}
