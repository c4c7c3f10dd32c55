// A report as Markdown, for people and for agents.

import { escapeMarkdown } from "../model/markdown-text.js";
import type {
  Citation,
  Cited,
  CommandFinding,
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
const GROUPS_GIVEN = 100;
const CITED_SHOWN = 5;

/** A time with the precision that people need to distinguish entries: 2026-11-15T06:39:37. */
const SECONDS = 19;

const NO_TEXT = "(no text)";
const NOTHING = "Nothing recorded yet to reflect on.";

export function toReport(findings: Findings): ReflectionReport {
  const { counts, before } = findings;
  return {
    reviewed: counts.reviewed,
    users: counts.users,
    responses: counts.responses,
    errors: counts.errors,
    passed_over: findings.passed_over,
    low_confidence: { count: counts.low_confidence, items: findings.low_confidence.map(withIds) },
    confidence: findings.confidence,
    error_groups: findings.error_groups.slice(0, GROUPS_GIVEN).map(withIds),
    topics: findings.topics.map(withIds),
    tools: findings.tools.slice(0, GROUPS_GIVEN).map(({ failed: _, slowest: __, ...tool }) => withIds(tool)),
    commands: findings.commands.slice(0, GROUPS_GIVEN).map(withIds),
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
  // Newest first, as in every other section; the insights name the most frequent.
  const newestErrors = [...findings.error_groups].sort(newestFirst);
  return [
    "## Self-reflection",
    lookedAt(findings),
    ...section(`Low confidence (${counts.low_confidence})`, {
      items: findings.low_confidence.map(
        ({ created_at, text, confidence, cited }) =>
          `${at(created_at)} ${percent(confidence)}: ${escapeMarkdown(text) || NO_TEXT} (${places(cited)})`,
      ),
      all: counts.low_confidence,
      none: `No answer has a confidence below ${percent(CONFIDENCE_LOW)}.`,
    }),
    ...section(`Errors (${counts.errors})`, { items: newestErrors.map(errorLine), of: "groups", none: "No errors." }),
    ...section("Recurring topics", {
      items: findings.topics.map(
        ({ word, count, cited }) => `${escapeMarkdown(word)}: ${count} mentions (${places(cited)})`,
      ),
      none: "No recurring topics.",
    }),
    ...section("Failing tools", { items: failing.map(failingLine), none: "No tool call failed." }),
    ...section("Failing commands", {
      items: findings.commands.map(commandLine),
      none: "No shell command failed.",
    }),
    ...section("Slow tools", {
      items: slow.map(slowLine),
      none: isTimed ? "No tool is slow." : "No tool call had a duration.",
    }),
    ...section(`Disliked answers (${findings.disliked_count})`, {
      items: findings.disliked.map(dislikedLine),
      all: findings.disliked_count,
      none: "No answer has feedback below 0.",
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
        cited.length === 0 ? escapeMarkdown(text) : `${escapeMarkdown(text)} (${places(cited)})`,
      ),
      none: "All looks well.",
    }),
  ].join("\n\n");
}

/** Five items, and on a separate line how many more there are. */
function section(
  heading: string,
  found: { readonly items: readonly string[]; readonly all?: number; readonly of?: string; readonly none: string },
): readonly [string, string] {
  const { items, all = items.length, of, none } = found;
  const shown = items.slice(0, ITEMS_SHOWN).map((item) => `- ${item}`);
  if (shown.length === 0) return [`### ${heading}`, none];
  const more =
    all > shown.length ? `\n\n${all - shown.length} more, ${all}${of === undefined ? "" : ` ${of}`} in all.` : "";
  return [`### ${heading}`, `${shown.join("\n")}${more}`];
}

/** `#12, #9, #4, …` */
function places(cited: readonly Citation[]): string {
  const shown = cited.slice(0, CITED_SHOWN).map(({ position }) => `#${position}`);
  return [...shown, ...(cited.length > shown.length ? ["…"] : [])].join(", ");
}

function errorLine({ text, count, first_at, last_at, cited }: Cited<ErrorGroup>): string {
  const times = count === 1 ? "" : `${count} times since ${first_at.slice(0, SECONDS)}Z; `;
  return `${at(last_at)} ${escapeMarkdown(text) || NO_TEXT} (${times}${places(cited)})`;
}

function failingLine({ tool, calls, failures, failure_rate, failed }: ToolFinding): string {
  return `${escapeMarkdown(tool)}: ${failures} of ${calls} calls failed, ${percent(failure_rate)} (${places(failed)})`;
}

function commandLine({ command, calls, failures, error, cited }: Cited<CommandFinding>): string {
  const why = error === "" ? "" : `: ${escapeMarkdown(error)}`;
  return `${escapeMarkdown(command)}: ${failures} of ${calls} failed${why} (${places(cited)})`;
}

function slowLine({ tool, median_ms = 0, p95_ms = 0, slowest }: ToolFinding): string {
  return `${escapeMarkdown(tool)}: median ${duration(median_ms)}, 95% within ${duration(p95_ms)} (${places(slowest)})`;
}

function dislikedLine({ created_at, text, comment, label, score, cited }: Cited<DislikedItem>): string {
  const [said, named] = [escapeMarkdown(comment), escapeMarkdown(label)];
  const why = [said && `“${said}”`, named, `score ${shortNumber(score)}`].filter((words) => words !== "");
  return `${at(created_at)} ${escapeMarkdown(text) || NO_TEXT}: ${why.join(", ")} (${places(cited)})`;
}

function decisionLine({ created_at, decision, errors, cited }: Cited<DecisionReport>): string {
  return `${at(created_at)} ${escapeMarkdown(decision) || NO_TEXT} (then ${counted(errors, "error")}; ${places(cited)})`;
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
  const past = `${change.before} in the previous ${counted(before.reviewed, "entry")}`;
  return `${measureNames[measure]}: ${present}, ${past}: ${directionNames[direction]} (${places(cited)})`;
}

function withoutChange(before: Counts): string {
  if (before.reviewed === 0) return "Nothing earlier to compare with.";
  return `No errors, low confidence or failed tool calls, neither here nor in the previous ${counted(before.reviewed, "entry")}.`;
}

function lookedAt({ counts, passed_over }: Findings): string {
  const { reviewed, users, responses, errors } = counts;
  const said = [`${users} from users`, counted(responses, "response"), counted(errors, "error")].join(", ");
  const others =
    passed_over === 0 ? "" : ` ${passed_over} of other kinds ${passed_over === 1 ? "was" : "were"} passed over.`;
  return `Looked at ${counted(reviewed, "entry")}: ${said}.${others}`;
}

function counted(count: number, one: "entry" | "error" | "response"): string {
  if (count === 1) return `1 ${one}`;
  return `${count} ${one === "entry" ? "entries" : `${one}s`}`;
}

function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function at(time: string): string {
  return `${time.slice(0, SECONDS)}Z`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function newestFirst(left: Cited<ErrorGroup>, right: Cited<ErrorGroup>): number {
  if (left.last_at !== right.last_at) return left.last_at < right.last_at ? 1 : -1;
  return (right.cited[0]?.position ?? 0) - (left.cited[0]?.position ?? 0);
}

/** Programs compute confidences to the last digit; three digits are enough. */
function shortNumber(value: number): string {
  return String(Number(value.toPrecision(3)));
}
