// A small plot for a terminal: one curve over a few lines, with its greatest value at the axis.
import { formatCount } from "./table.js";
import type { Pane } from "./terminal.js";

const HEIGHT = 5;
const WIDTH_MAX = 72;
const INDENT = "  ";
/** The axis, and the column that stays empty behind the curve. */
const AXIS_WIDTH = 2;

/** A curve under its title. */
export async function drawPlot(
  plot: {
    readonly title: string;
    readonly paint: (text: string) => string;
    readonly values: readonly (number | undefined)[];
    /** Where the axis ends; else at the greatest value. */
    readonly top?: number;
    readonly format?: (value: number) => string;
  },
  pane: Pane,
): Promise<string> {
  const { plot: draw } = await import("simple-ascii-chart");
  const points = plot.values.flatMap((value, at): [number, number][] => (value === undefined ? [] : [[at, value]]));
  const top = plot.top ?? Math.max(...points.map(([, value]) => value));
  const format = plot.format ?? formatCount;
  const label = format(top);
  const width = Math.min(pane.columns ?? WIDTH_MAX, WIDTH_MAX) - INDENT.length - label.length - AXIS_WIDTH;
  const chart = draw(points, {
    width,
    height: HEIGHT,
    yRange: [0, top],
    customYAxisTicks: [0, top],
    formatter: (value) => format(value),
    hideXAxis: true,
  });
  // The first line is the tip of the axis and the last one its foot; the curve lies between them.
  const lines = chart.split("\n").filter((line) => line.trim() !== "");
  const curve = lines.slice(1, -1).map((line) => `${INDENT}${plot.paint(line.trimEnd())}\n`);
  return `\n${pane.colours.bold(plot.title)}\n${curve.join("")}`;
}
