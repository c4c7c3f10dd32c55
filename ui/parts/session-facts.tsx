// What lists say of a session: how it ended, how long it took, what it changed and cost.
import type { Session } from "../api.js";
import { formatCost, formatCount, formatDuration, plural } from "../format.js";

const words: { readonly [outcome in Session["outcome"]]: { readonly sign: string; readonly name: string } } = {
  done: { sign: "✓", name: "Done" },
  failed: { sign: "✗", name: "Failed" },
  stopped: { sign: "■", name: "Stopped" },
  running: { sign: "●", name: "Running" },
};

/** A sign, and its meaning for screen readers and as a tooltip. */
export function Outcome({ outcome }: { readonly outcome: Session["outcome"] }) {
  const { sign, name } = words[outcome];
  return (
    <span className="outcome" data-outcome={outcome} title={name}>
      <span aria-hidden="true">{sign}</span>
      <span className="only-read">{name}: </span>
    </span>
  );
}

/** The project that the server names first, and the agents. */
export function agentsOf({ clients }: Session): string {
  return clients.filter((client) => client !== "").join(", ");
}

/** A number, empty where there is none; on a phone with its unit. */
export function CountCell({
  name,
  count,
  unit,
}: {
  readonly name: string;
  readonly count: number;
  readonly unit: string;
}) {
  return (
    <td className={name} data-none={count === 0 || undefined}>
      {count > 0 && (
        <>
          {formatCount(count)}
          <span className="unit"> {count === 1 ? unit.replace(/s$/, "") : unit}</span>
        </>
      )}
    </td>
  );
}

/** `6 sessions · 12 min of work · 5 failures · 9 files · $0.07`; what there is none of is left out. */
export function sumWords(sessions: readonly Session[]): string {
  const sum = (of: (session: Session) => number): number => sessions.reduce((total, each) => total + of(each), 0);
  const [active_ms, failures, files] = [
    sum((each) => each.active_ms),
    sum((each) => each.failures),
    sum((each) => each.files),
  ];
  const cost = sum(({ cost_total = 0 }) => cost_total);
  const parts = [
    plural(sessions.length, "session"),
    active_ms > 0 ? `${formatDuration(active_ms)} of work` : "",
    failures > 0 ? plural(failures, "failure") : "",
    files > 0 ? plural(files, "file") : "",
    cost > 0 ? formatCost(cost) : "",
  ];
  return parts.filter((part) => part !== "").join(" · ");
}
