// Usage drawn: over time where there are days, and otherwise as bars by what it was split by first.
import type { UsageReport, UsageRow } from "../../../index.js";
import { drawPlot } from "./plot.js";
import { bar, renderTable } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";
import { formatCost, shortCount } from "./usage-text.js";

const DAY_MS = 86_400_000;
/** Less than three points are no curve, and of one bar nothing can be told. */
const POINTS_MIN = 3;
const BARS_MIN = 2;
const SLOTS_MAX = 60;
const BARS_MAX = 10;
const LABEL_WIDTH_MAX = 24;

export async function usagePlot(report: UsageReport, pane: Pane): Promise<string> {
  return report.by.includes("day") ? curve(report, pane) : bars(report, pane);
}

/** Cost where it is known, else the tokens of output. */
function measureOf({ total }: UsageReport): {
  readonly title: string;
  readonly of: (row: UsageRow) => number;
  readonly format: (value: number) => string;
} {
  return total.cost === undefined
    ? { title: "Output tokens", of: ({ output_tokens }) => output_tokens, format: shortCount }
    : { title: "Cost", of: ({ cost = 0 }) => cost, format: formatCost };
}

/** Days without a call are nought; of very many, some are put together. */
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
  const step = each === 1 ? "by day" : `by ${each} days`;
  const drawn = await drawPlot({ title: `${title} ${step}`, paint: pane.colours.cyan, values, format }, pane);
  const [from, to] = [report.rows[0]?.day, report.rows.at(-1)?.day];
  return `${drawn}${pane.colours.dim(`  ${from} to ${to} UTC\n`)}`;
}

function bars(report: UsageReport, pane: Pane): string {
  const { title, of, format } = measureOf(report);
  const [division = "model"] = report.by;
  const sums = new Map<string, number>();
  for (const row of report.rows) {
    const name = cleanLine(row[division] ?? "") || "(none)";
    sums.set(name, (sums.get(name) ?? 0) + of(row));
  }
  const greatest = Math.max(...sums.values());
  if (sums.size < BARS_MIN || greatest <= 0) return "";
  const drawn = [...sums]
    .filter(([, value]) => value > 0)
    .sort(([, left], [, right]) => right - left)
    .slice(0, BARS_MAX);
  const table = renderTable({
    columns: [{ title: "" }, { title: "", widthMax: LABEL_WIDTH_MAX }, { title: "", align: "right" }, { title: "" }],
    rows: drawn.map(([name, value]) => ["", name, format(value), bar(value, greatest)]),
    width: pane.columns,
    colours: pane.colours,
  });
  return `\n${pane.colours.bold(`${title} by ${division}`)}\n${table}`;
}
