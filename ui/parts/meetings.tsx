// How often memories were given, used and confirmed, a small bar for each of the last weeks.
import { useMemo } from "react";
import { useAnswer } from "../answer.js";
import { listEntries, type Memory } from "../api.js";
import { countOf, plural } from "../words.js";

const uses = ["given", "used", "confirmed"] as const;
const WEEKS = 12;
const WEEK_MS = 604_800_000;
const HEIGHT = 10;
/** The newest meetings of all memories; of what is older only the counts are told. */
const MEETINGS_MAX = 500;

export interface Meeting {
  /** How many weeks ago, 0 for the last seven days. */
  readonly weeksAgo: number;
  readonly is: ReadonlySet<string>;
}

export function useMeetings(): ReadonlyMap<string, readonly Meeting[]> {
  const { value } = useAnswer(
    (signal) => listEntries({ kind: "memory_reinforced", limit: MEETINGS_MAX, since: `${WEEKS * 7}d` }, signal),
    [],
  );
  return useMemo(() => {
    const byMemory = new Map<string, Meeting[]>();
    const now = Date.now();
    for (const entry of value?.entries ?? []) {
      if (entry.kind !== "memory_reinforced") continue;
      const weeksAgo = Math.max(0, Math.floor((now - Date.parse(entry.created_at)) / WEEK_MS));
      for (const { memory_id, ...met } of entry.memories) {
        if (typeof memory_id !== "string") continue;
        const is = new Set(uses.filter((use) => met[use] === true));
        byMemory.set(memory_id, [...(byMemory.get(memory_id) ?? []), { weeksAgo, is }]);
      }
    }
    return byMemory;
  }, [value]);
}

/** Counts of all time, beside bars of the last weeks. */
export function Meetings({ memory, meetings }: { readonly memory: Memory; readonly meetings: readonly Meeting[] }) {
  const weeks = Array.from({ length: WEEKS }, (_, at) =>
    meetings.filter(({ weeksAgo }) => weeksAgo === WEEKS - 1 - at),
  );
  const countIn = (week: readonly Meeting[], use: string): number => week.filter(({ is }) => is.has(use)).length;
  const most = Math.max(1, ...weeks.flatMap((week) => uses.map((use) => countIn(week, use))));
  return (
    <span className="uses">
      {uses.map((use) => (
        <span key={use} title={`${use} ${plural(memory[use], "time")}; a bar is a week, the last is this one`}>
          <svg viewBox={`0 0 ${WEEKS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {weeks.map((week, at) => {
              const height = (countIn(week, use) / most) * HEIGHT;
              // biome-ignore lint/suspicious/noArrayIndexKey: a week is its place.
              return <rect key={at} className="bar" x={at} y={HEIGHT - height} width={0.8} height={height} />;
            })}
          </svg>
          <span className="only-read">{use} </span>
          {countOf(memory[use])}
        </span>
      ))}
    </span>
  );
}
