// The span of time that a view covers, kept in the address.
import { setQuery } from "../router.js";

const DAY_MS = 86_400_000;

/** Periods by their name in the address; the first is the default of most views. */
const periods = {
  "7d": { name: "Last 7 days", days: 7 },
  "30d": { name: "Last 30 days", days: 30 },
  "90d": { name: "Last 90 days", days: 90 },
  all: { name: "Any date", days: Number.POSITIVE_INFINITY },
} as const;
export type Period = keyof typeof periods;

export function periodOf(query: URLSearchParams, otherwise: Period): Period {
  const named = query.get("period") ?? "";
  return named in periods ? (named as Period) : otherwise;
}

/** Whole days of this browser's clock, today included; undefined for all time. */
export function sinceOf(period: Period, now = Date.now()): string | undefined {
  const { days } = periods[period];
  return Number.isFinite(days) ? dayStart(now - (days - 1) * DAY_MS).toISOString() : undefined;
}

/** As long a time before it. */
export function spanBefore(period: Period): { readonly since: string; readonly until: string } | undefined {
  const since = sinceOf(period);
  if (since === undefined) return undefined;
  const until = Date.parse(since) - 1;
  const before = dayStart(until - (periods[period].days - 1) * DAY_MS);
  return { since: before.toISOString(), until: new Date(until).toISOString() };
}

/** Midnight of this browser's clock. */
export function dayStart(ms: number): Date {
  const date = new Date(ms);
  date.setHours(0, 0, 0, 0);
  return date;
}

export function PeriodSelect({ period }: { readonly period: Period }) {
  return (
    <label className="choice" data-chosen={period !== "all"}>
      <span className="only-read">period</span>
      <select value={period} onChange={({ target }) => setQuery({ period: target.value })}>
        {Object.entries(periods).map(([value, { name }]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
