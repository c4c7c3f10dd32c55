// A report as Markdown: for people who read it, and for agents that are handed it.

import { inMarkdown } from "../model/markdown-text.js";
import type {
  Citation,
  Cited,
  Counts,
  DecisionReport,
  DislikedItem,
  ErrorGroup,
  Findings,
  ReflectionReport,
  ToolFinding,
  TrendChange,
} from "../model/report.js";
import { CONFIDENCE_LOW } from "../model/states.js";
import { withIds } from "./citations.js";

const ITEMS_SHOWN = 5;
const CITED_SHOWN = 5;

const NOTHING = "Nothing recorded yet to reflect on.";

export function toReport(findings: Findings): ReflectionReport {
  const { counts, before } = findings;
  return {
    ...{ reviewed: counts.reviewed, users: counts.users, responses: counts.responses, errors: counts.errors },
    low_confidence: { count: counts.low_confidence, items: findings.low_confidence.map(withIds) },
    confidence: findings.confidence,
    error_groups: findings.error_groups.map(withIds),
    topics: findings.topics.map(withIds),
    tools: findings.tools.map(({ failed: _, slowest: __, ...tool }) => withIds(tool)),
    disliked: { count: findings.disliked_count, items: findings.disliked.map(withIds) },
    decisions: findings.decisions.map(withIds),
    trend: { before, changes: findings.changes.map(withIds), timeline: findings.timeline },
    insights: findings.insights.map(withIds),
    markdown: renderMarkdown(findings),
  };
}

function renderMarkdown(findings: Findings): string {
  const { counts, tools, before } = findings;
  if (counts.reviewed === 0) return NOTHING;
  const failing = tools.filter((tool) => tool.is_failing);
  const isTimed = tools.some(({ median_ms }) => median_ms !== undefined);
  const slow = tools.filter((tool) => tool.is_slow).sort((left, right) => (right.p95_ms ?? 0) - (left.p95_ms ?? 0));
  const { reviewed, users, responses, errors } = counts;
  return [
    "## Self-reflection",
    `Looked at ${reviewed} entries: ${users} from users, ${responses} responses, ${errors} errors.`,
    ...section(`Low confidence (${counts.low_confidence})`, {
      items: findings.low_confidence.map(
        ({ text, confidence, cited }) => `${inMarkdown(text)} (${shortNumber(confidence)}; ${places(cited)})`,
      ),
      all: counts.low_confidence,
      none: `No assistant message had a confidence below ${CONFIDENCE_LOW}.`,
    }),
    ...section(`Errors (${errors})`, { items: findings.error_groups.map(errorLine), none: "No errors." }),
    ...section("Recurring topics", {
      items: findings.topics.map(
        ({ word, count, cited }) => `${inMarkdown(word)}: ${count} mentions (${places(cited)})`,
      ),
      none: "No word was said three times.",
    }),
    ...section("Failing tools", { items: failing.map(failingLine), none: "No tool call failed." }),
    ...section("Slow tools", {
      items: slow.map(slowLine),
      none: isTimed ? "No tool is slow." : "No tool call had a duration.",
    }),
    ...section(`Disliked answers (${findings.disliked_count})`, {
      items: findings.disliked.map(dislikedLine),
      all: findings.disliked_count,
      none: "No answer got feedback below 0.",
    }),
    ...section("Decisions followed by errors", {
      items: findings.decisions.map(decisionLine),
      all: findings.decisions_count,
      none: "No decision was followed by an error.",
    }),
    ...section("Trend", {
      items: findings.changes.map((change) => changeLine(change, counts, before)),
      none: withoutChange(before),
    }),
    ...section("Insights", {
      items: findings.insights.map(({ text, cited }) =>
        cited.length === 0 ? inMarkdown(text) : `${inMarkdown(text)} (${places(cited)})`,
      ),
      none: "All looks well.",
    }),
  ].join("\n\n");
}

/** Five items, and in a line of its own how many more there are. */
function section(
  heading: string,
  found: { readonly items: readonly string[]; readonly all?: number; readonly none: string },
): readonly [string, string] {
  const { items, all = items.length, none } = found;
  const shown = items.slice(0, ITEMS_SHOWN).map((item) => `- ${item}`);
  if (shown.length === 0) return [`### ${heading}`, none];
  const more = all > shown.length ? `\n\n${all - shown.length} more, ${all} in all.` : "";
  return [`### ${heading}`, `${shown.join("\n")}${more}`];
}

/** `#12, #9, #4, …` */
function places(cited: readonly Citation[]): string {
  const shown = cited.slice(0, CITED_SHOWN).map(({ position }) => `#${position}`);
  return [...shown, ...(cited.length > shown.length ? ["…"] : [])].join(", ");
}

function errorLine({ text, count, cited }: Cited<ErrorGroup>): string {
  return `${inMarkdown(text) || "(no text)"} (${count === 1 ? "" : `${count} times; `}${places(cited)})`;
}

function failingLine({ tool, calls, failures, failure_rate, failed }: ToolFinding): string {
  const percent = Math.round(failure_rate * 100);
  return `${inMarkdown(tool)}: ${failures} of ${counted(calls, "call")} failed, ${percent} % (${places(failed)})`;
}

function slowLine({ tool, median_ms = 0, p95_ms = 0, slowest }: ToolFinding): string {
  return `${inMarkdown(tool)}: median ${duration(median_ms)}, 95 % within ${duration(p95_ms)} (${places(slowest)})`;
}

function dislikedLine({ text, comment, label, score, cited }: Cited<DislikedItem>): string {
  const why = [comment && `“${comment}”`, label, `score ${shortNumber(score)}`].filter((words) => words !== "");
  return `${text || "(no text)"}: ${why.join(", ")} (${places(cited)})`;
}

function decisionLine({ decision, errors, cited }: Cited<DecisionReport>): string {
  return `${inMarkdown(decision)} (then ${counted(errors, "error")}; ${places(cited)})`;
}

const measureNames = {
  errors: "Errors",
  low_confidence: "Low confidence",
  failed_tool_calls: "Failed tool calls",
} as const satisfies { readonly [M in TrendChange["measure"]]: string };
const directionNames = {
  up: "more often than before",
  down: "less often than before",
  same: "as often as before",
} as const;

function changeLine(change: Cited<TrendChange>, now: Counts, before: Counts): string {
  const { measure, direction, cited } = change;
  const present = `${change.now} in ${counted(now.reviewed, "entry")}`;
  const past = `${change.before} in the ${before.reviewed} before`;
  return `${measureNames[measure]}: ${present}, ${past}: ${directionNames[direction]} (${places(cited)})`;
}

function withoutChange(before: Counts): string {
  if (before.reviewed === 0) return "Nothing was recorded before these to compare with.";
  return `No errors, low confidence or failed tool calls, neither here nor in the ${before.reviewed} before.`;
}

function counted(count: number, one: "call" | "entry" | "error"): string {
  if (count === 1) return `1 ${one}`;
  return `${count} ${one === "entry" ? "entries" : `${one}s`}`;
}

function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** Programs compute confidences to the last digit; three tell them apart. */
function shortNumber(value: number): string {
  return String(Number(value.toPrecision(3)));
}
