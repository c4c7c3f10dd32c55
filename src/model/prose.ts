// What the writer of a text says: code, quotations, machine-made blocks and logs are blanked out, and everything else keeps its
// place.

const FENCE = /^[ \t>]{0,12}(`{3,}|~{3,})/;
const QUOTATION = /^[ \t]{0,3}>/;
/** Begins with a time or a level, as lines of logs do. */
export const LOG_LINE =
  /^[ \t]*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\]?[ \t:]|\$ |[+-]{3} |@@ )/;
/** A line of code outside of a fence. */
export const CODE_LINE =
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
