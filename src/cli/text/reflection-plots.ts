// Small plots of a report for a terminal: how much happened, how much of it were errors, how sure the answers were.
import type { Trend } from "../../index.js";
import { shortTime } from "./entry-text.js";
import { countOf, formatCount, wrapText } from "./table.js";
import type { Pane } from "./terminal.js";

const HEIGHT = 5;
const WIDTH_MAX = 72;
const INDENT = "  ";
/** The axis, and the column that stays empty behind the curve. */
const AXIS_WIDTH = 2;
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
    ...(isRated
      ? [{ title: "Confidence", paint: green, top: 1, values: timeline.map(({ confidence }) => confidence) }]
      : []),
  ];
  const drawn = await Promise.all(plots.map((plot) => drawPlot(plot, pane)));
  return drawn.join("") + axisText(timeline, pane);
}

async function drawPlot(
  plot: {
    readonly title: string;
    readonly paint: (text: string) => string;
    readonly values: readonly (number | undefined)[];
    /** Where the axis ends; else at the greatest value. */
    readonly top?: number;
  },
  pane: Pane,
): Promise<string> {
  const { plot: draw } = await import("simple-ascii-chart");
  const points = plot.values.flatMap((value, at): [number, number][] => (value === undefined ? [] : [[at, value]]));
  const top = plot.top ?? Math.max(...points.map(([, value]) => value));
  const label = formatCount(top);
  const width = Math.min(pane.columns ?? WIDTH_MAX, WIDTH_MAX) - INDENT.length - label.length - AXIS_WIDTH;
  const chart = draw(points, {
    width,
    height: HEIGHT,
    yRange: [0, top],
    customYAxisTicks: [0, top],
    formatter: (value) => formatCount(value),
    hideXAxis: true,
  });
  // The first line is the tip of the axis and the last one its foot; the curve lies between them.
  const lines = chart.split("\n").filter((line) => line.trim() !== "");
  const curve = lines.slice(1, -1).map((line) => `${INDENT}${plot.paint(line.trimEnd())}\n`);
  return `\n${pane.colours.bold(plot.title)}\n${curve.join("")}`;
}

/** Beneath the last curve: the time it begins and the time it ends. */
function axisText(timeline: Slots, pane: Pane): string {
  const first = shortTime(timeline[0]?.from ?? "", { year: true });
  const last = shortTime(timeline.at(-1)?.to ?? "", { year: true });
  const width = pane.columns === undefined ? undefined : pane.columns - INDENT.length;
  const { from = "", to = "" } = timeline[0] ?? {};
  const step = durationText(Date.parse(to) - Date.parse(from));
  const lines = wrapText(`${first} to ${last} UTC, ${timeline.length} steps of ${step} each`, width).map(
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

/** In the largest unit of which there are two at least: a step is a measure, and needs no more than two digits. */
function durationText(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms >= 2 * each) ?? (["ms", 1] as const);
  const count = Number((ms / unitMs).toPrecision(2));
  return unit === "ms" ? `${formatCount(count)} ms` : countOf(count, unit, `${unit}s`);
}
