// Small plots of a report for a terminal: how much happened, how much of it were errors, how sure the answers were.
import type { Trend } from "../index.js";
import { shortTime } from "./entry-text.js";
import type { Pane } from "./terminal.js";

const HEIGHT = 5;
const WIDTH_MAX = 72;
/** What the axis and its labels take beside the curve. */
const AXIS_WIDTH = 10;
/** Less than three points are no curve. */
const SLOTS_MIN = 3;

type Slots = Trend["timeline"];

export async function plotsText(timeline: Slots, pane: Pane): Promise<string> {
  if (timeline.length < SLOTS_MIN) return "";
  const isRated = timeline.filter(({ confidence }) => confidence !== undefined).length >= SLOTS_MIN;
  const hasErrors = timeline.some(({ errors }) => errors > 0);
  const { cyan, red, green } = pane.colours;
  const plots = [
    { title: "Entries", paint: cyan, values: timeline.map(({ entries }) => entries) },
    ...(hasErrors ? [{ title: "Errors", paint: red, values: timeline.map(({ errors }) => errors) }] : []),
    ...(isRated ? [{ title: "Confidence", paint: green, values: timeline.map(({ confidence }) => confidence) }] : []),
  ];
  const drawn = await Promise.all(plots.map((plot) => drawPlot(plot, pane)));
  return drawn.join("") + axisText(timeline, pane);
}

async function drawPlot(
  plot: {
    readonly title: string;
    readonly paint: (text: string) => string;
    readonly values: readonly (number | undefined)[];
  },
  pane: Pane,
): Promise<string> {
  const { plot: draw } = await import("simple-ascii-chart");
  const points = plot.values.flatMap((value, at): [number, number][] => (value === undefined ? [] : [[at, value]]));
  const width = Math.min(pane.columns ?? WIDTH_MAX, WIDTH_MAX) - AXIS_WIDTH;
  const greatest = Math.max(...points.map(([, value]) => value));
  const top = plot.title === "Confidence" ? 1 : Math.max(greatest, 1);
  const chart = draw(points, { width, height: HEIGHT, yRange: [0, top], hideXAxis: true });
  const lines = chart.split("\n").filter((line) => line.trim() !== "");
  const curve = lines.map((line) => `  ${plot.paint(line.trimEnd())}\n`).join("");
  return `\n${pane.colours.bold(plot.title)}\n${curve}`;
}

/** Beneath the last curve: the time it begins and the time it ends. */
function axisText(timeline: Slots, pane: Pane): string {
  const first = shortTime(timeline[0]?.from ?? "", { year: true });
  const last = shortTime(timeline.at(-1)?.to ?? "", { year: true });
  return pane.colours.dim(`  ${first} to ${last} UTC\n`);
}
