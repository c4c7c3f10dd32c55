// A reflection report for a terminal: its Markdown with headings and wrapped items, and small plots.
import type { ReflectionReport, Trend } from "../../../index.js";
import { shortTime } from "./entry-text.js";
import { drawCurve } from "./plot.js";
import { countOf, formatCount, wrapText } from "./table.js";
import { type Colours, cleanText, type Pane } from "./terminal.js";

const BULLET = "• ";
const INDENT = "  ";
/** Fewer points than this make no curve. */
const SLOTS_MIN = 3;
/** Long lines are hard to read, however wide the terminal is. */
const WIDTH_MAX = 100;

export function reflectionText(report: ReflectionReport, pane: Pane): string {
  const width = Math.min(pane.columns ?? WIDTH_MAX, WIDTH_MAX);
  const blocks = cleanText(inWords(report)).split("\n\n");
  return blocks.map((block, at) => blockText(block, { width, colours: pane.colours, isFirst: at === 0 })).join("");
}

/** Formats counts and times for people; the Markdown itself is the same everywhere. */
function inWords(report: ReflectionReport): string {
  let title = "";
  const blocks = report.markdown.split("\n\n").map((block) => {
    title = /^### (.*)$/.exec(block)?.[1] ?? title;
    if (block.startsWith("Looked at ")) return block.replace(/\d{4,}/g, grouped);
    if (block.startsWith("### ")) return block.replace(/\d{4,}(?=\)$)/, grouped);
    if (/^\d+ more, \d+(?: groups)? in all\.$/.test(block)) return block.replace(/\d{4,}/g, grouped);
    // Leaves recorded text, which is quoted, and positions as they are.
    return title === "Trend" || title === "Insights" ? block.replace(/“[^”]*”|(?<![#\w.])\d{4,}\b/g, grouped) : block;
  });
  return blocks
    .join("\n\n")
    .replace(LEADING_TIME, (_, time: string) => `- ${shortTime(time, { year: true })}`)
    .replace(ESCAPED, "$1");
}

const LEADING_TIME = /^- (\d{4}-\d\d-\d\dT[\d:]{8}Z)(?= )/gm;
/** Markdown escapes in recorded text; a terminal needs none. */
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
  // An item ends with the ids of its entries, which are dimmed.
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

type Slots = Trend["timeline"];

/** Plots of entries, errors and confidence over time. */
export async function plotsText(timeline: Slots, pane: Pane): Promise<string> {
  if (timeline.length < SLOTS_MIN) return "";
  const isRated = timeline.filter(({ confidence }) => confidence !== undefined).length >= SLOTS_MIN;
  const hasErrors = timeline.some(({ errors }) => errors > 0);
  const { cyan, red, green } = pane.colours;
  const plots = [
    { title: "Entries", paint: cyan, values: timeline.map(({ entries }) => entries) },
    ...(hasErrors ? [{ title: "Errors", paint: red, values: timeline.map(({ errors }) => errors) }] : []),
    ...(isRated
      ? [{ title: "Confidence", paint: green, top: 1, values: timeline.map(({ confidence }) => confidence) }]
      : []),
  ];
  const drawn = await Promise.all(plots.map((plot) => drawCurve(plot, pane)));
  return drawn.join("") + axisText(timeline, pane);
}

/** Below the last curve: its first and last time. */
function axisText(timeline: Slots, pane: Pane): string {
  const first = shortTime(timeline[0]?.from ?? "", { year: true });
  const last = shortTime(timeline.at(-1)?.to ?? "", { year: true });
  const width = pane.columns === undefined ? undefined : pane.columns - INDENT.length;
  const { from = "", to = "" } = timeline[0] ?? {};
  const step = durationText(Date.parse(to) - Date.parse(from));
  const lines = wrapText(`${first} to ${last}, ${timeline.length} steps of ${step} each`, width).map(
    (line) => `${INDENT}${line}\n`,
  );
  return pane.colours.dim(lines.join(""));
}

const UNITS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
] as const;

/** In the largest unit that gives at least two, with two digits. */
function durationText(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms >= 2 * each) ?? (["ms", 1] as const);
  const count = Number((ms / unitMs).toPrecision(2));
  return unit === "ms" ? `${formatCount(count)} ms` : countOf(count, unit, `${unit}s`);
}
