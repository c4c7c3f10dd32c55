// A report for a terminal: its Markdown with headings that stand out, and items wrapped to the width of the window.
import type { ReflectionReport } from "../../../index.js";
import { shortTime } from "./entry-text.js";
import { formatCount, wrapText } from "./table.js";
import { type Colours, cleanText, type Pane } from "./terminal.js";

const BULLET = "• ";
const INDENT = "  ";
/** Long lines are hard to read, however wide the terminal is. */
const WIDTH_MAX = 100;

export function reflectionText(report: ReflectionReport, pane: Pane): string {
  const width = Math.min(pane.columns ?? WIDTH_MAX, WIDTH_MAX);
  const blocks = cleanText(inWords(report)).split("\n\n");
  return blocks.map((block, at) => blockText(block, { width, colours: pane.colours, isFirst: at === 0 })).join("");
}

/** Counts and times as people write them; the document keeps to its fixed words. */
function inWords(report: ReflectionReport): string {
  let title = "";
  const blocks = report.markdown.split("\n\n").map((block) => {
    title = /^### (.*)$/.exec(block)?.[1] ?? title;
    if (block.startsWith("Looked at ")) return block.replace(/\d{4,}/g, grouped);
    if (block.startsWith("### ")) return block.replace(/\d{4,}(?=\)$)/, grouped);
    if (/^\d+ more, \d+(?: groups)? in all\.$/.test(block)) return block.replace(/\d{4,}/g, grouped);
    // What was recorded stands in quotes there, and positions are for typing.
    return title === "Trend" || title === "Insights" ? block.replace(/“[^”]*”|(?<![#\w.])\d{4,}\b/g, grouped) : block;
  });
  return blocks
    .join("\n\n")
    .replace(LEADING_TIME, (_, time: string) => `- ${shortTime(time, { year: true })}`)
    .replace(ESCAPED, "$1");
}

const LEADING_TIME = /^- (\d{4}-\d\d-\d\dT[\d:]{8}Z)(?= )/gm;
/** What keeps recorded text from being Markdown; a terminal shows it as it is. */
const ESCAPED = /\\([!-/:-@[-`{-~])/g;

function grouped(digits: string): string {
  return /^\d+$/.test(digits) ? formatCount(Number(digits)) : digits;
}

function blockText(
  block: string,
  look: { readonly width: number; readonly colours: Colours; readonly isFirst: boolean },
): string {
  const { width, colours, isFirst } = look;
  const heading = /^(#{2,3}) (.*)$/.exec(block);
  if (heading !== null) {
    const [, level, title = ""] = heading;
    return `${isFirst ? "" : "\n"}${level === "##" ? colours.bold(colours.cyan(title)) : colours.bold(title)}\n`;
  }
  return block
    .split("\n")
    .flatMap((line) => itemLines(line, { width, colours }))
    .map((line) => `${line}\n`)
    .join("");
}

function itemLines(
  line: string,
  { width, colours }: { readonly width: number; readonly colours: Colours },
): readonly string[] {
  const isItem = line.startsWith("- ");
  const text = isItem ? line.slice(2) : line;
  const lines = wrapText(text, width - INDENT.length - (isItem ? BULLET.length : 0));
  // Where the entries are is the last thing an item says; it steps back behind what it says.
  const end = isItem ? text.lastIndexOf(" (") : -1;
  let seen = 0;
  return lines.map((part, row) => {
    const lead = !isItem ? "" : row === 0 ? BULLET : " ".repeat(BULLET.length);
    const start = text.indexOf(part, seen);
    seen = start + part.length;
    const bright = isItem ? Math.min(Math.max(end - start, 0), part.length) : 0;
    const painted = isItem && end !== -1 ? part.slice(0, bright) + colours.dim(part.slice(bright)) : part;
    return `${INDENT}${lead}${isItem ? painted : colours.dim(painted)}`;
  });
}
