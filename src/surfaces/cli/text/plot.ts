// Plots for a terminal: a curve over a few lines, and horizontal bars.
import { plot as draw } from "simple-ascii-chart";
import { formatCount, renderTable } from "./table.js";
import type { Pane } from "./terminal.js";

const INDENT = "  ";
const CURVE_HEIGHT = 5;
const CURVE_WIDTH_MAX = 72;
/** The axis, and an empty column after the curve. */
const AXIS_WIDTH = 2;
const BAR_WIDTH = 24;
const LABEL_WIDTH_MAX = 24;

/** A curve below its title, with its greatest value at the axis. */
export async function drawCurve(
  curve: {
    readonly title: string;
    readonly paint: (text: string) => string;
    readonly values: readonly (number | undefined)[];
    /** Where the axis ends, if not at the greatest value. */
    readonly top?: number;
    readonly format?: (value: number) => string;
  },
  pane: Pane,
): Promise<string> {
  const points = curve.values.flatMap((value, at): [number, number][] => (value === undefined ? [] : [[at, value]]));
  const top = curve.top ?? Math.max(...points.map(([, value]) => value));
  const format = curve.format ?? formatCount;
  const width =
    Math.min(pane.columns ?? CURVE_WIDTH_MAX, CURVE_WIDTH_MAX) - INDENT.length - format(top).length - AXIS_WIDTH;
  const chart = draw(points, {
    width,
    height: CURVE_HEIGHT,
    yRange: [0, top],
    customYAxisTicks: [0, top],
    formatter: (value) => format(value),
    hideXAxis: true,
  });
  // The first line is the tip of the axis and the last one its foot.
  const lines = chart.split("\n").filter((line) => line.trim() !== "");
  const drawn = lines.slice(1, -1).map((line) => `${INDENT}${curve.paint(line.trimEnd())}\n`);
  return `\n${pane.colours.bold(curve.title)}\n${drawn.join("")}`;
}

/** Horizontal bars below a title, each with its label and value. */
export function drawBars(
  chart: {
    readonly title: string;
    readonly bars: readonly (readonly [label: string, value: number])[];
    readonly format?: (value: number) => string;
    readonly paint?: (label: string) => string;
  },
  pane: Pane,
): string {
  const { title, bars, format = formatCount, paint = (label) => label } = chart;
  const greatest = Math.max(...bars.map(([, value]) => value));
  const table = renderTable({
    columns: [
      { title: "" },
      { title: "", widthMax: LABEL_WIDTH_MAX, paint },
      { title: "", align: "right" },
      { title: "" },
    ],
    rows: bars.map(([label, value]) => ["", label, format(value), bar(value, greatest)]),
    width: pane.columns,
    colours: pane.colours,
  });
  return `\n${pane.colours.bold(title)}\n${table}`;
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const;

/** A bar in proportion to the greatest value. A value above zero shows at least a sliver. */
export function bar(value: number, greatest: number): string {
  if (value <= 0 || greatest <= 0) return "";
  const eighths = Math.max(Math.round((value / greatest) * BAR_WIDTH * 8), 1);
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8];
}
