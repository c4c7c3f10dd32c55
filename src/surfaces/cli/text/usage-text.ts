// Usage for a terminal: a table with as many columns as fit, its total, and where the prices come from.
import type { UsageDivision, UsageReport, UsageTotal } from "../../../index.js";
import { type Column, countOf, renderTable, wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";

/** More rows than these nobody reads; a document has all. */
const ROWS_MAX = 100;
const UNPRICED_SHOWN = 5;

interface Figure {
  readonly title: string;
  readonly text: (sums: UsageTotal) => string;
  /** How wide the terminal has to be for it. */
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

const titles: { readonly [D in UsageDivision]: string } = {
  day: "Day",
  model: "Model",
  project: "Project",
  client: "Client",
  session: "Session",
};

export function usageText(report: UsageReport, pane: Pane): string {
  const { by, rows, total } = report;
  const { columns: width = 120, colours } = pane;
  if (rows.length === 0) {
    const nothing =
      "No call to a model is recorded with its tokens here: `usage` of interactions, `extra.usage` of messages.";
    return `${wrapText(nothing, pane.columns).join("\n")}\n`;
  }
  const shown = figures.filter(({ from }) => width >= from);
  const columns: readonly Column[] = [
    ...by.map((division): Column => ({ title: titles[division], ...(division === "day" ? {} : { widthMin: 6 }) })),
    ...shown.map(({ title }): Column => ({ title, align: "right" })),
  ];
  const cells = (names: readonly string[], sums: UsageTotal): readonly string[] => [
    ...names,
    ...shown.map(({ text }) => text(sums)),
  ];
  // The newest days are the last ones; otherwise the greatest are the first.
  const listed = by.includes("day") ? rows.slice(-ROWS_MAX) : rows.slice(0, ROWS_MAX);
  const table = renderTable({
    columns: columns.map((column) => ({
      ...column,
      paint: (text, row) => (row === listed.length ? colours.bold(text) : text),
    })),
    rows: [
      ...listed.map((row) =>
        cells(
          by.map((division) => cleanLine(row[division] ?? "") || "(none)"),
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

function notesText({ prices, unpriced, by }: UsageReport, left: number, pane: Pane): string {
  const names = unpriced.slice(0, UNPRICED_SHOWN).map((model) => cleanLine(model) || "calls without a model");
  const more = unpriced.length - names.length;
  const notes = [
    ...(left > 0 ? [`${countOf(left, "row", "rows")} more; --json has all of them.`] : []),
    `Prices in US dollars: ${[cleanLine(prices.source), prices.version].filter(Boolean).join(" ")} of ${prices.date}.${by.includes("day") ? " Days are those of UTC." : ""}`,
    ...(names.length === 0
      ? []
      : [`No price is known for ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}; --prices FILE gives some.`]),
  ];
  return `\n${notes.flatMap((note) => wrapText(note, pane.columns)).join("\n")}\n`;
}

const UNITS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
] as const;

/** Four digits at most: 812, 9,120, 48.1k, 1.24M. */
export function shortCount(count: number): string {
  const [unit, letter] = UNITS.find(([each]) => count >= each) ?? [1, ""];
  if (unit <= 1_000 && count < 10_000) return count.toLocaleString("en-US");
  return `${Number((count / unit).toPrecision(3)).toLocaleString("en-US")}${letter}`;
}

/** Cents, and more digits where there are hardly any. */
export function formatCost(cost: number): string {
  const digits = cost === 0 || cost >= 0.01 ? 2 : 4;
  if (cost > 0 && cost < 0.0001) return "<$0.0001";
  return `$${cost.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}
