// What the writer of a text says: code, quotations, machine-made blocks and logs are blanked out, and everything else keeps its
// place. And the sentences and quotes that are taken from it.

import type { MemoryType } from "../../../model/memory.js";
import type { TextRange } from "../../../model/normalise.js";
import { codePoints } from "../../../model/normalise.js";
import { QUOTE_CHARS_MIN } from "../../judge/statement.js";
import type { RuleClass } from "../rule-classes.js";

const FENCE = /^[ \t>]{0,12}(`{3,}|~{3,})/;
const QUOTATION = /^[ \t]{0,3}>/;
/** Begins with a time or a level, as lines of logs do. */
const LOG_LINE =
  /^[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]?[ \t:]|\$ |[+-]{3} |@@ )/;
/** A line of code outside of a fence. */
const CODE_LINE =
  /^[ \t]*(?:(?:const|let|var|import|export|return|function|class|def|public|private|static)\b.{0,400}[;{=]|\/\/|\/\*|#include\b)/;
/** A block that a program put into a message: a reminder, the output of a command, a file. */
const TAG_OPENS = /^[ \t]*<([a-z][a-z0-9_-]{2,40})(?:\s[^<>]{0,500})?>/i;

/** The text with everything blanked out that its writer did not say. */
export function proseOf(text: string): string {
  if (!/[`~>;{=/#]|\d\d:\d\d|^[ \t]*(?:\[?[A-Z]{4,7}\]?[ \t:]|\$ |[+-]{3} |@@ )/m.test(text)) return text;
  let fence = "";
  let tag = "";
  const lines = text.split("\n").map((line) => {
    const blank = " ".repeat(line.length);
    if (tag !== "") {
      if (line.includes(`</${tag}>`)) tag = "";
      return blank;
    }
    const mark = FENCE.exec(line)?.[1];
    if (fence !== "") {
      if (mark?.startsWith(fence) === true) fence = "";
      return blank;
    }
    if (mark !== undefined) {
      fence = mark;
      return blank;
    }
    const opened = TAG_OPENS.exec(line)?.[1];
    if (opened !== undefined) {
      if (!line.includes(`</${opened}>`)) tag = opened;
      return blank;
    }
    return QUOTATION.test(line) || LOG_LINE.test(line) || CODE_LINE.test(line) ? blank : line;
  });
  return lines.join("\n");
}

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
