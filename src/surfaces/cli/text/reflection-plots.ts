// Small plots of a report for a terminal: how much happened, how much of it were errors, how sure the answers were.
import type { Trend } from "../../../index.js";
import { shortTime } from "./entry-text.js";
import { drawPlot } from "./plot.js";
import { countOf, formatCount, wrapText } from "./table.js";
import type { Pane } from "./terminal.js";

const INDENT = "  ";
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
