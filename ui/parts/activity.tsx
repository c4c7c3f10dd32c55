// Entries and errors over time. Dragging across the chart selects a time range.
import { type PointerEvent, useMemo, useState } from "react";
import { type QueryParameters, reflect } from "../api.js";
import { formatWhen, plural } from "../format.js";
import { useRequest } from "../requests.js";

export const ranges = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000 } as const;
export type Range = keyof typeof ranges;

const WIDTH = 1000;
const HEIGHT = 56;
/** Enough for a busy week; older entries are left out. */
const ENTRIES_MAX = 20_000;

export function Activity(options: {
  readonly range: Range;
  readonly filters: QueryParameters;
  /** Changes when there are new entries to draw. */
  readonly version: number;
  readonly chosen: { readonly since: string; readonly until: string };
  choose(chosen: { readonly since: string; readonly until: string }): void;
}) {
  const { range, filters, version, chosen, choose } = options;
  const { value } = useRequest(
    (signal) => reflect({ ...filters, since: range, limit: ENTRIES_MAX }, signal),
    [JSON.stringify(filters), range, version],
  );
  const [drawn, setDrawn] = useState<readonly [number, number] | undefined>();
  const slots = value?.trend.timeline ?? [];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart ends when its data was fetched.
  const until = useMemo(() => Date.now(), [value]);
  const since = until - ranges[range];
  const xOf = (iso: string): number => ((Date.parse(iso) - since) / ranges[range]) * WIDTH;
  const most = Math.max(1, ...slots.map(({ entries }) => entries));
  const at = (event: PointerEvent<SVGSVGElement>): number => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - left) / width));
  };
  const end = (event: PointerEvent<SVGSVGElement>): void => {
    if (drawn === undefined) return;
    const [from, to] = [drawn[0], at(event)].sort((one, other) => one - other) as [number, number];
    setDrawn(undefined);
    const iso = (share: number): string => new Date(since + share * ranges[range]).toISOString();
    // A click without dragging clears the selection.
    choose(to - from < 0.01 ? { since: "", until: "" } : { since: iso(from), until: iso(to) });
  };
  const brush = drawn ?? brushOf(chosen, since, ranges[range]);
  const errors = slots.reduce((sum, slot) => sum + slot.errors, 0);
  const entries = slots.reduce((sum, slot) => sum + slot.entries, 0);
  const words = `${plural(entries, "entry", "entries")}, ${plural(errors, "error")} in the last ${rangeWords[range]}`;
  return (
    <figure className="activity">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Activity: ${words}`}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          setDrawn([at(event), at(event)]);
        }}
        onPointerMove={(event) => drawn !== undefined && setDrawn([drawn[0], at(event)])}
        onPointerUp={end}
      >
        {slots.map((slot) => {
          const x = Math.max(0, xOf(slot.from));
          const width = Math.max(3, xOf(slot.to) - x - 1);
          const height = (slot.entries / most) * (HEIGHT - 4);
          const failed = (slot.errors / most) * (HEIGHT - 4);
          return (
            <g key={slot.from}>
              <title>{`${formatWhen(slot.from)}: ${plural(slot.entries, "entry", "entries")}, ${plural(slot.errors, "error")}`}</title>
              <rect className="bar" x={x} y={HEIGHT - height} width={width} height={height} />
              <rect className="bar error" x={x} y={HEIGHT - failed} width={width} height={failed} />
            </g>
          );
        })}
        {brush !== undefined && (
          <rect
            className="brush"
            x={brush[0] * WIDTH}
            y={0}
            width={Math.abs(brush[1] - brush[0]) * WIDTH}
            height={HEIGHT}
          />
        )}
      </svg>
      <figcaption>
        <span>{formatWhen(new Date(since).toISOString())}</span>
        <span>{words}</span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

const rangeWords: { readonly [range in Range]: string } = { "1h": "hour", "24h": "day", "7d": "week" };

function brushOf(
  { since, until }: { readonly since: string; readonly until: string },
  fromMs: number,
  lengthMs: number,
): readonly [number, number] | undefined {
  const [from, to] = [Date.parse(since), Date.parse(until)];
  // The address may hold times that the server understands and the browser does not.
  if (Number.isNaN(from) || Number.isNaN(to)) return undefined;
  return [(from - fromMs) / lengthMs, (to - fromMs) / lengthMs];
}
