// The summary of a session: what its document says, and what only the other sessions and the calls know.
import type { SessionRow } from "../index/session-fold.js";
import type { JsonObject } from "../model/json.js";
import { formatTime } from "../model/time.js";
import { tokenNames } from "../model/usage.js";
import { rounded, type UsageSums } from "../usage/call-ledger.js";
import type { SessionOutcome, SessionSummary } from "./session-summary.js";

/** A session with an open turn is running while its last entry is younger than this. */
const RUNNING_MS = 5 * 60_000;

interface SummaryFacts {
  readonly metadata: JsonObject;
  readonly project: string;
  readonly children: number;
  readonly usage: UsageSums | undefined;
  readonly cost_total: number | undefined;
  readonly now_ms: number;
}

export function toSummary(row: SessionRow, facts: SummaryFacts): SessionSummary {
  const count = (kind: string): number => row.by_kind[kind] ?? 0;
  const { calls = 0, cost } = facts.usage ?? {};
  return {
    session_id: row.session_id,
    title: row.title || row.first_prompt,
    title_source: row.title !== "" ? "given" : row.first_prompt !== "" ? "first_prompt" : "none",
    metadata: facts.metadata,
    parent: row.parent,
    children: facts.children,
    first_at: formatTime(row.first_ms),
    last_at: formatTime(row.last_ms),
    projects: row.projects,
    project: facts.project,
    clients: row.clients,
    users: row.users,
    tags: row.tags,
    entries: row.entries,
    messages: count("message") - row.injected,
    tool_calls: count("tool_call"),
    errors: count("error"),
    failures: row.failures,
    decisions: count("decision"),
    interactions: count("interaction"),
    turns: row.turns,
    files: row.files,
    usage: {
      calls,
      ...(Object.fromEntries(tokenNames.map((name) => [name, facts.usage?.[name] ?? 0])) as Omit<
        SessionSummary["usage"],
        "calls"
      >),
    },
    ...(cost === undefined ? {} : { cost }),
    ...(facts.cost_total === undefined ? {} : { cost_total: rounded(facts.cost_total) }),
    active_ms: row.active_ms,
    outcome: outcomeOf(row, facts.now_ms),
    last_answer: row.last_answer,
    consolidated_through: row.consolidated_through,
  };
}

function outcomeOf({ last_event, last_ms, turns }: SessionRow, now_ms: number): SessionOutcome {
  switch (last_event) {
    case "":
    case "answered":
      return "done";
    case "stopped":
      return "stopped";
    default:
      if (Math.abs(now_ms - last_ms) <= RUNNING_MS) return "running";
      if (last_event === "failed") return "failed";
      // Results without a question are what a program recorded, and nobody waits for an answer.
      return last_event === "returned" && turns === 0 ? "done" : "stopped";
  }
}
