// How often memories were given, used and confirmed, a small bar for each of the last weeks.
import { useMemo } from "react";
import { useAnswer } from "../answer.js";
import { listEntries } from "../api.js";
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

/** By memory; of one client's answers alone where it is named. Undefined until they are known. */
export function useMeetings(client: string): ReadonlyMap<string, readonly Meeting[]> | undefined {
  const { value } = useAnswer(
    async (signal) => ({
      client,
      ...(await listEntries(
        { kind: "memory_reinforced", client, limit: MEETINGS_MAX, since: `${WEEKS * 7}d` },
        signal,
      )),
    }),
    [client],
  );
  return useMemo(() => {
    // What is known is of the client that was chosen before.
    if (value?.client !== client) return undefined;
    const byMemory = new Map<string, Meeting[]>();
    const now = Date.now();
    for (const entry of value.entries) {
      if (entry.kind !== "memory_reinforced") continue;
      const weeksAgo = Math.max(0, Math.floor((now - Date.parse(entry.created_at)) / WEEK_MS));
      for (const { memory_id, ...met } of entry.memories) {
        if (typeof memory_id !== "string") continue;
        const is = new Set(uses.filter((use) => met[use] === true));
        byMemory.set(memory_id, [...(byMemory.get(memory_id) ?? []), { weeksAgo, is }]);
      }
    }
    return byMemory;
  }, [value, client]);
}

/** How often a memory was met in each way. */
export type MeetingCounts = { readonly [use in (typeof uses)[number]]: number };

export function countsOf(meetings: readonly Meeting[]): MeetingCounts {
  const count = (use: string): number => meetings.filter(({ is }) => is.has(use)).length;
  return { given: count("given"), used: count("used"), confirmed: count("confirmed") };
}

/** Counts, beside bars of the last weeks. */
export function Meetings(options: { readonly counts: MeetingCounts; readonly meetings: readonly Meeting[] }) {
  const { counts, meetings } = options;
  const weeks = Array.from({ length: WEEKS }, (_, at) =>
    meetings.filter(({ weeksAgo }) => weeksAgo === WEEKS - 1 - at),
  );
  const countIn = (week: readonly Meeting[], use: string): number => week.filter(({ is }) => is.has(use)).length;
  const most = Math.max(1, ...weeks.flatMap((week) => uses.map((use) => countIn(week, use))));
  return (
    <span className="uses">
      {uses.map((use) => (
        <span key={use} title={`${use} ${plural(counts[use], "time")}; a bar is a week, the last is this one`}>
          <svg viewBox={`0 0 ${WEEKS} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {weeks.map((week, at) => {
              const height = (countIn(week, use) / most) * HEIGHT;
              // biome-ignore lint/suspicious/noArrayIndexKey: a week is its place.
              return <rect key={at} className="bar" x={at} y={HEIGHT - height} width={0.8} height={height} />;
            })}
          </svg>
          <span className="only-read">{use} </span>
          {countOf(counts[use])}
        </span>
      ))}
    </span>
  );
}
