// Usage for a terminal: a table with as many columns as fit, its total, the source of the prices, and a plot.
import type { UsageDivision, UsageReport, UsageRow, UsageTotal } from "../../../index.js";
import { drawBars, drawCurve } from "./plot.js";
import { type Column, countOf, formatCost, renderTable, shortCount, wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";

/** The most rows shown; --json has all. */
const ROWS_MAX = 100;
const UNPRICED_SHOWN = 5;
const DAY_MS = 86_400_000;
/** Fewer make no plot. */
const POINTS_MIN = 3;
const BARS_MIN = 2;
const SLOTS_MAX = 60;
const BARS_MAX = 10;

interface Figure {
  readonly title: string;
  readonly text: (sums: UsageTotal) => string;
  /** The width of the terminal from which on it is shown. */
  readonly from: number;
}

const figures: readonly Figure[] = [
  { title: "Calls", text: ({ calls }) => shortCount(calls), from: 60 },
  { title: "Input", text: ({ input_tokens }) => shortCount(input_tokens), from: 0 },
  { title: "Output", text: ({ output_tokens }) => shortCount(output_tokens), from: 0 },
  { title: "Cache read", text: ({ cache_read_tokens }) => shortCount(cache_read_tokens), from: 80 },
  { title: "Cache write", text: ({ cache_write_tokens }) => shortCount(cache_write_tokens), from: 100 },
  { title: "Reasoning", text: ({ reasoning_tokens }) => shortCount(reasoning_tokens), from: 100 },
  { title: "Cost", text: ({ cost }) => (cost === undefined ? "?" : formatCost(cost)), from: 0 },
];

const TIMES: ReadonlySet<UsageDivision> = new Set<UsageDivision>(["day", "week", "month"]);

const titles: { readonly [D in UsageDivision]: string } = {
  day: "Day",
  week: "Week of",
  month: "Month",
  model: "Model",
  project: "Project",
  client: "Client",
  session: "Session",
  user: "User",
  turn: "Turn",
  tool: "Tool",
};

/** A session by its title, a turn by its number and its prompt. */
function nameOf(row: UsageRow, division: UsageDivision): string {
  if (division === "turn") return `${row.turn ?? 0} ${cleanLine(row.prompt ?? "")}`.trim();
  const name = cleanLine(String(row[division] ?? ""));
  if (division !== "session") return name || "(none)";
  const title = cleanLine(row.title ?? "");
  const id = name.length > ID_CHARS && title !== "" ? name.slice(0, ID_CHARS) : name;
  return [id || "(none)", title].filter((text) => text !== "").join("  ");
}

/** As much of an id as names a session, before its title. */
const ID_CHARS = 8;

export function usageText(report: UsageReport, pane: Pane): string {
  const { by, rows, total } = report;
  const { columns: width = 120, colours } = pane;
  if (rows.length === 0) {
    const nothing = "No usage recorded. Tokens are taken from `usage` of interactions and `extra.usage` of messages.";
    return `${wrapText(nothing, pane.columns).join("\n")}\n`;
  }
  const shown = figures.filter(({ from }) => width >= from);
  const columns: readonly Column[] = [
    ...by.map((division): Column => ({ title: titles[division], ...(TIMES.has(division) ? {} : { widthMin: 6 }) })),
    ...shown.map(({ title }): Column => ({ title, align: "right" })),
  ];
  const cells = (names: readonly string[], sums: UsageTotal): readonly string[] => [
    ...names,
    ...shown.map(({ text }) => text(sums)),
  ];
  // The newest days are last; otherwise the greatest are first.
  const listed = by.some((division) => TIMES.has(division)) ? rows.slice(-ROWS_MAX) : rows.slice(0, ROWS_MAX);
  const table = renderTable({
    columns: columns.map((column) => ({
      ...column,
      paint: (text, row) => (row === listed.length ? colours.bold(text) : text),
    })),
    rows: [
      ...listed.map((row) =>
        cells(
          by.map((division) => nameOf(row, division)),
          row,
        ),
      ),
      cells(["Total", ...by.slice(1).map(() => "")], total),
    ],
    width: pane.columns,
    colours,
  });
  return table + colours.dim(notesText(report, rows.length - listed.length, pane));
}

function notesText({ prices, unpriced, by, total, timezone }: UsageReport, left: number, pane: Pane): string {
  const names = unpriced.slice(0, UNPRICED_SHOWN).map((model) => cleanLine(model) || "calls without a model");
  const more = unpriced.length - names.length;
  const notes = [
    ...(left > 0 ? [`${countOf(left, "row", "rows")} more; add --json to see all.`] : []),
    `Prices in US dollars from ${[cleanLine(prices.source), prices.version].filter(Boolean).join(" ")} of ${prices.date}.${by.some((division) => TIMES.has(division)) ? ` Days are in ${timezone}.` : ""}`,
    ...(total.implausible === true
      ? ["Calls of more than 100 million tokens are left out: their counts cannot be right."]
      : []),
    ...(names.length === 0
      ? []
      : [`No price for ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}; add prices with --prices FILE.`]),
  ];
  return `\n${notes.flatMap((note) => wrapText(note, pane.columns)).join("\n")}\n`;
}

/** A curve over time if the report has days, otherwise bars by its first division. */
export async function usagePlot(report: UsageReport, pane: Pane): Promise<string> {
  return report.by.includes("day") ? curve(report, pane) : bars(report, pane);
}

/** Cost if it is known, otherwise output tokens. */
function measureOf({ total }: UsageReport): {
  readonly title: string;
  readonly of: (row: UsageRow) => number;
  readonly format: (value: number) => string;
} {
  return total.cost === undefined
    ? { title: "Output tokens", of: ({ output_tokens }) => output_tokens, format: shortCount }
    : { title: "Cost", of: ({ cost = 0 }) => cost, format: formatCost };
}

/** Days without a call count as zero. Many days are drawn several at a time. */
async function curve(report: UsageReport, pane: Pane): Promise<string> {
  const days = report.rows.map(({ day = "" }) => Date.parse(day) / DAY_MS);
  const [first = 0, last = 0] = [days[0], days.at(-1)];
  const each = Math.ceil((last - first + 1) / SLOTS_MAX);
  const slots = Math.floor((last - first) / each) + 1;
  const { title, of, format } = measureOf(report);
  const values = Array.from({ length: slots }, () => 0);
  for (const [at, row] of report.rows.entries()) {
    const slot = Math.floor(((days[at] ?? first) - first) / each);
    values[slot] = (values[slot] ?? 0) + of(row);
  }
  if (slots < POINTS_MIN || values.every((value) => value === 0)) return "";
  const step = each === 1 ? "per day" : `per ${each} days`;
  const drawn = await drawCurve(
    { title: `${title} ${step}, last ${last - first + 1} days`, paint: pane.colours.cyan, values, format },
    pane,
  );
  const [from, to] = [report.rows[0]?.day, report.rows.at(-1)?.day];
  return `${drawn}${pane.colours.dim(`  ${from} to ${to}\n`)}`;
}

function bars(report: UsageReport, pane: Pane): string {
  const { title, of, format } = measureOf(report);
  const [division = "model"] = report.by;
  const sums = new Map<string, number>();
  for (const row of report.rows) {
    const name = nameOf(row, division);
    sums.set(name, (sums.get(name) ?? 0) + of(row));
  }
  if (sums.size < BARS_MIN || Math.max(...sums.values()) <= 0) return "";
  const greatestFirst = [...sums]
    .filter(([, value]) => value > 0)
    .sort(([, left], [, right]) => right - left)
    .slice(0, BARS_MAX);
  return drawBars({ title: `${title} by ${division}`, bars: greatestFirst, format }, pane);
}
