// Laying text out in columns, by the width that characters have on a terminal: a CJK character or an emoji has two.

import stringWidth from "string-width";
import { itemAt } from "../../../model/item-at.js";
import { beginningOf, type Colours } from "./terminal.js";

const GAP = "  ";
/** The last column says most, so the others make room until it has this much of the line. */
const LAST_COLUMN_SHARE = 0.45;
const BAR_WIDTH = 24;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

export interface Column {
  readonly title: string;
  readonly align?: "right";
  /** Longer cells are cut; the last column takes what the others leave. */
  readonly widthMax?: number;
  /** How narrow it may become for the sake of the last column; without one it keeps its width. */
  readonly widthMin?: number;
  readonly paint?: (text: string, row: number) => string;
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
  /** Undefined where lines may be as long as they are. */
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
  // On a terminal too narrow for all of them even the columns that would keep their width give, rather than wrap.
  return narrowed(widths, () => 1, width + GAP.length);
}

/** Takes from the widest column that can give until all fit, or none can give any more. */
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

/** So much of a text is looked at for each column that it may fill: a grapheme can hold many marks. */
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

/** Breaks lines at spaces where there are any, and longer words at whole characters. */
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
  // A mark that follows a space belongs to it.
  for (const word of line.split(/(?<= )(?=[^ \p{M}\p{Cf}\p{Sk}])/u)) {
    const wordWidth = widthUpTo(word.trimEnd(), width + 1);
    // A word that fits on no line begins where it stands, rather than leave one behind that is all but empty.
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

/** The width of a text, or more than this much where it is wider: the rest is not looked at. */
function widthUpTo(text: string, most: number): number {
  let width = 0;
  for (const grapheme of graphemesOf(text)) {
    width += graphemeWidth(grapheme);
    if (width > most) break;
  }
  return width;
}

const SEGMENTED_AT_ONCE = 256;

/** A piece at a time: the time to segment a text grows with the square of its length. */
function* graphemesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    const piece = text.slice(at, at + SEGMENTED_AT_ONCE);
    const found = [...graphemes.segment(piece)].map(({ segment }) => segment);
    // The last one may go on behind the piece, unless it fills it alone.
    const isLast = at + piece.length >= text.length;
    const whole = isLast || found.length === 1 ? found : found.slice(0, -1);
    yield* whole;
    at += whole.reduce((sum, segment) => sum + segment.length, 0);
  }
}

const WIDTHS_KEPT_MAX = 10_000;
const widths = new Map<string, number>();

/** Measuring takes longer than all else that a long line needs, and texts repeat their characters. */
function graphemeWidth(grapheme: string): number {
  const known = widths.get(grapheme);
  if (known !== undefined) return known;
  const width = stringWidth(grapheme);
  if (widths.size >= WIDTHS_KEPT_MAX) widths.clear();
  widths.set(grapheme, width);
  return width;
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const;

/** A horizontal bar in proportion to the greatest value; what is there at all shows at least a sliver. */
export function bar(value: number, greatest: number): string {
  if (value <= 0 || greatest <= 0) return "";
  const eighths = Math.max(Math.round((value / greatest) * BAR_WIDTH * 8), 1);
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
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
