// Layout for a terminal: tables, wrapped lines and numbers. Widths are those on screen: a CJK character or an emoji takes two.
import stringWidth from "string-width";
import { itemAt } from "../../../model/item-at.js";
import { beginningOf, type Colours, cleanLine, type Pane } from "./terminal.js";

const GAP = "  ";
const INDENT = "  ";
/** The last column says most, so the others shrink until it has this much of the line. */
const LAST_COLUMN_SHARE = 0.45;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** Longer cells are cut; the last column takes what the others leave. */
  readonly widthMax?: number;
  /** How far it may shrink for the last column; without it, it keeps its width. */
  readonly widthMin?: number;
  readonly paint?: (text: string, row: number) => string;
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  /** Undefined for no limit. */
  readonly width: number | undefined;
  readonly colours: Colours;
}

export function renderTable(table: Table): string {
  const { columns, rows, colours } = table;
  const widths = columnWidths(table);
  const line = (cells: readonly string[], paint: (text: string, column: number) => string): string => {
    const shown = cells.map((cell, index) => {
      const width = itemAt(widths, index);
      const text = fitText(cell, width);
      const space = " ".repeat(Math.max(width - stringWidth(text), 0));
      const painted = paint(text, index);
      if (columns[index]?.align === "right") return space + painted;
      return index === cells.length - 1 ? painted : painted + space;
    });
    return `${shown.join(GAP).trimEnd()}\n`;
  };
  const titles = columns.map((column) => column.title);
  const head = titles.every((title) => title === "") ? "" : line(titles, (text) => colours.bold(text));
  return head + rows.map((row, at) => line(row, (text, index) => paintCell(columns[index], text, at))).join("");
}

function paintCell(column: Column | undefined, text: string, row: number): string {
  return column?.paint === undefined ? text : column.paint(text, row);
}

function columnWidths({ columns, rows, width }: Table): readonly number[] {
  const natural = columns.map((column, index) => {
    const cells = [column.title, ...rows.map((row) => row[index] ?? "")];
    const widest = cells.reduce((widthSoFar, cell) => Math.max(widthSoFar, stringWidth(cell)), 0);
    return width === undefined ? widest : Math.min(widest, column.widthMax ?? widest);
  });
  if (width === undefined) return natural;
  const last = natural.length - 1;
  const wanted = Math.min(itemAt(natural, last), Math.floor(width * LAST_COLUMN_SHARE));
  const before = narrowed(natural.slice(0, last), (index, one) => columns[index]?.widthMin ?? one, width - wanted);
  const widths = [...before, Math.min(itemAt(natural, last), Math.max(width - spanOf(before), 1))];
  // On a very narrow terminal all columns shrink rather than wrap.
  return narrowed(widths, () => 1, width + GAP.length);
}

/** Narrows the widest column that may shrink until all fit, or none may shrink any more. */
function narrowed(
  natural: readonly number[],
  widthMin: (index: number, width: number) => number,
  span: number,
): readonly number[] {
  const widths = [...natural];
  while (spanOf(widths) > span) {
    let widest = -1;
    for (const [index, one] of widths.entries()) {
      if (one > widthMin(index, one) && one > (widths[widest] ?? 0)) widest = index;
    }
    if (widest === -1) break;
    widths[widest] = itemAt(widths, widest) - 1;
  }
  return widths;
}

function spanOf(widths: readonly number[]): number {
  return widths.reduce((sum, one) => sum + one + GAP.length, 0);
}

/** How many characters are examined per column of width: a grapheme can have many marks. */
const CHARS_PER_COLUMN_MAX = 16;

/** The beginning of a long text, ending with a whole character. */
export function cutText(text: string, width: number): string {
  return text.length <= width ? text : fitText(text, width);
}

/** Cuts at a whole character and marks the cut. */
export function fitText(given: string, width: number): string {
  if (given.length <= width && /^[ -~]*$/.test(given)) return given;
  const isLong = given.length > width * CHARS_PER_COLUMN_MAX;
  const text = isLong ? beginningOf(given, width * CHARS_PER_COLUMN_MAX) : given;
  if (!isLong && stringWidth(text) <= width) return text;
  let fitted = "";
  let used = 0;
  for (const segment of graphemesOf(text)) {
    const more = graphemeWidth(segment);
    if (used + more > width - 1) break;
    fitted += segment;
    used += more;
  }
  return `${fitted.trimEnd()}…`;
}

/** Breaks lines at spaces, and words that are too long at whole characters. */
export function wrapText(text: string, width: number | undefined): readonly string[] {
  const lines = text.replaceAll("\t", "    ").split("\n");
  return width === undefined ? lines : lines.flatMap((line) => wrapLine(line, width));
}

function wrapLine(line: string, width: number): readonly string[] {
  if (line.length <= width && stringWidth(line) <= width) return [line];
  const wrapped: string[] = [];
  let current = "";
  let used = 0;
  const next = (): void => {
    wrapped.push(current.trimEnd());
    current = "";
    used = 0;
  };
  // A combining mark after a space belongs to it.
  for (const word of line.split(/(?<= )(?=[^ \p{M}\p{Cf}\p{Sk}])/u)) {
    const wordWidth = widthUpTo(word.trimEnd(), width + 1);
    // A word that is longer than a line starts on the current one.
    if (used > 0 && used + wordWidth > width && wordWidth <= width) next();
    if (wordWidth <= width) {
      current += word;
      used += wordWidth + word.length - word.trimEnd().length;
      continue;
    }
    for (const segment of graphemesOf(word)) {
      const more = graphemeWidth(segment);
      if (used + more > width) next();
      current += segment;
      used += more;
    }
  }
  next();
  return wrapped;
}

/** The width of a text. Stops measuring beyond `most`. */
function widthUpTo(text: string, most: number): number {
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    width += graphemeWidth(grapheme);
    if (width > most) break;
  }
  return width;
}

const SEGMENTED_AT_ONCE = 256;

/** Segments a part at a time: the time to segment a text grows with the square of its length. */
function* graphemesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const part = text.slice(at, at + SEGMENTED_AT_ONCE);
    const found = [...graphemes.segment(part)].map(({ segment }) => segment);
    // The last grapheme may continue after this part, unless it fills it alone.
    const isLast = at + part.length >= text.length;
    const whole = isLast || found.length === 1 ? found : found.slice(0, -1);
    yield* whole;
    at += whole.reduce((sum, segment) => sum + segment.length, 0);
  }
}

const WIDTHS_KEPT_MAX = 10_000;
const widths = new Map<string, number>();

/** Cached: measuring is the slowest part of laying out a long line. */
function graphemeWidth(grapheme: string): number {
  const known = widths.get(grapheme);
  if (known !== undefined) return known;
  const width = stringWidth(grapheme);
  if (widths.size >= WIDTHS_KEPT_MAX) widths.clear();
  widths.set(grapheme, width);
  return width;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** `1 entry`, `2 entries`. */
export function countOf(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

export function formatBytes(bytes: number): string {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${formatCount(bytes)} bytes` : `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

const UNITS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** At most four digits: 812, 9,120, 48.1k, 1.24M. */
export function shortCount(count: number): string {
  const [unit, letter] = UNITS.find(([each]) => count >= each) ?? [1, ""];
  if (unit <= 1_000 && count < 10_000) return count.toLocaleString("en-US");
  return `${Number((count / unit).toPrecision(3)).toLocaleString("en-US")}${letter}`;
}

/** In dollars and cents, with more digits for less than a cent. */
export function formatCost(cost: number): string {
  const digits = cost === 0 || cost >= 0.01 ? 2 : 4;
  if (cost > 0 && cost < 0.0001) return "<$0.0001";
  return `$${cost.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** Says below a page that there is more, and how to get it. */
export function tellMore({
  shown,
  cursor,
  pane,
}: {
  readonly shown: number;
  readonly cursor: string | null;
  readonly pane: Pane;
}): void {
  if (cursor === null) return;
  const option = `--cursor ${cursor}`;
  // A cursor broken over two lines cannot be copied, so it gets a line of its own.
  const next = option.length <= (pane.columns ?? option.length) ? `add\n${option}` : `add --cursor\n${cursor}`;
  const [said, typed] = next.split("\n");
  pane.write(`${pane.colours.dim(`${shown} shown; for more ${said}`)}\n${typed}\n`);
}

/** A label, and the text next to it. */
export type Fact = readonly [label: string, text: string];

/** Facts about one thing, one per line, wrapped. */
export function factsText(facts: readonly Fact[], pane: Pane): string {
  const labelWidth = Math.max(...facts.map(([label]) => label.length)) + 2;
  const width = pane.columns === undefined ? undefined : pane.columns - INDENT.length - labelWidth;
  const lines = facts.flatMap(([label, text]) =>
    wrapText(cleanLine(text, Number.MAX_SAFE_INTEGER), width).map(
      (line, row) => `${INDENT}${pane.colours.dim((row === 0 ? label : "").padEnd(labelWidth))}${line}\n`,
    ),
  );
  return lines.join("");
}

/** JSON for people: values that fit stay on one line, others are indented. Recursion is limited, as the depth of entries is. */
export function jsonText(value: unknown, width: number, indent = ""): string {
  const line = inline(value, width - indent.length);
  if (line !== undefined || typeof value !== "object" || value === null) return line ?? JSON.stringify(value);
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    const items = value.map((item) => inner + jsonText(item, width, inner));
    return `[\n${items.join(",\n")}\n${indent}]`;
  }
  const pairs = Object.entries(value).map(([key, item]) => {
    return `${inner}${JSON.stringify(key)}: ${jsonText(item, width - key.length - 4, inner)}`;
  });
  return `{\n${pairs.join(",\n")}\n${indent}}`;
}

/** The value on one line, or undefined if it needs more characters than this. */
function inline(value: unknown, room: number): string | undefined {
  if (typeof value !== "object" || value === null) {
    if (typeof value === "string" && value.length > room) return undefined;
    const text = JSON.stringify(value);
    return text.length > room ? undefined : text;
  }
  const isList = Array.isArray(value);
  const parts: string[] = [];
  let left = room - 2;
  for (const [key, item] of Object.entries(value)) {
    const name = isList ? "" : `${JSON.stringify(key)}: `;
    const text = inline(item, left - name.length);
    if (text === undefined) return undefined;
    parts.push(name + text);
    left -= name.length + text.length + 2;
  }
  const text = parts.join(", ");
  if (text.length + 2 > room) return undefined;
  return isList ? `[${text}]` : `{${text}}`;
}
