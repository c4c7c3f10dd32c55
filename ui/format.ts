// Formats times, sizes and counts, and summarizes entries in a line.

import { messageText } from "../src/model/content-parts.js";
import { ALTERED_WORDS } from "../src/model/entry.js";
import { speakerOf as speakerOfMessage } from "../src/model/roles.js";
import { shellCommand } from "../src/model/shell-command.js";
import { CONFIDENCE_LOW } from "../src/model/states.js";
import type { Hit, Row } from "./api.js";

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const exactClock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long" });
const dayOfYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });
const number = new Intl.NumberFormat("en-GB");

export const formatTime = (iso: string): string => clock.format(new Date(iso));
export const formatFullTime = (iso: string): string => whole.format(new Date(iso));
export const formatCount = (count: number): string => number.format(count);

export function formatDay(iso: string): string {
  const date = new Date(iso);
  return date.getFullYear() === new Date().getFullYear() ? weekday.format(date) : dayOfYear.format(date);
}

/** The time for today, with the date for other days. */
export function formatWhen(iso: string): string {
  const date = new Date(iso);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return clock.format(date);
  if (date.getFullYear() !== now.getFullYear()) return dayOfYear.format(date);
  return `${day.format(date)} ${clock.format(date)}`;
}

/** Seconds matter only today. */
export function formatExactTime(iso: string): string {
  const date = new Date(iso);
  return date.toDateString() === new Date().toDateString() ? exactClock.format(date) : formatWhen(iso);
}

export function formatAgo(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 45) return "just now";
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${plural(minutes, "minute")} ago`;
  const hours = Math.round(minutes / 60);
  return hours < 36 ? `${plural(hours, "hour")} ago` : `${plural(Math.round(hours / 24), "day")} ago`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number.format(count)} ${count === 1 ? one : many}`;
}

export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) return `${minutes} min`;
  const hours = ms / 3_600_000;
  if (hours < 48) return `${hours.toFixed(hours < 10 ? 1 : 0)} h`;
  const days = Math.round(hours / 24);
  return days < 730 ? `${days} days` : `${Math.round(days / 365.25)} years`;
}

/** Turns a program's message into a sentence. A leading file name keeps its case. */
export function toSentence(text: string): string {
  const first = /^\w+[./]\w/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches control characters.
const ANSI = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Removes terminal escape sequences; the raw view keeps them. */
export function withoutAnsi(text: string): string {
  return text.includes("\u001b") ? text.replace(ANSI, "") : text;
}

/** US dollars. */
export function formatCost(cost: number): string {
  return `$${cost > 0 && cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

/** `950`, `47.6 k`, `1.2 M`. */
export function formatTokens(count: number): string {
  if (count < 1000) return String(count);
  const [scaled, unit] = count < 1_000_000 ? [count / 1000, "k"] : [count / 1e6, "M"];
  return `${scaled.toFixed(scaled < 100 ? 1 : 0)} ${unit}`;
}

export function formatSize(chars: number): string {
  if (chars < 1000) return `${chars} B`;
  return chars < 1_000_000 ? `${(chars / 1000).toFixed(chars < 10_000 ? 1 : 0)} KB` : `${(chars / 1e6).toFixed(1)} MB`;
}

/** Text as it is, any other value as JSON. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

/** The label in the margin: a role, that a program injected it, or what the entry records. */
export function speakerOf(entry: Row): string {
  if (entry.kind === "message") return speakerOfMessage(entry);
  if (entry.kind === "altered") return "altered";
  // A newer server may know more kinds.
  return labelByKind[entry.kind] ?? (entry as Row).kind.replaceAll("_", " ");
}

/** A kind of the contract that is missing here does not compile. */
const labelByKind: { readonly [K in Exclude<Row["kind"], "altered">]: string } = {
  message: "message",
  interaction: "user",
  response: "assistant",
  tool_call: "tool",
  error: "error",
  decision: "decision",
  feedback: "feedback",
  consolidation: "consolidated",
  clear: "cleared",
  withdrawal: "withdrawn",
  session_info: "session",
  raw: "raw",
  audit: "audit",
  redaction: "forgotten",
  memory_proposed: "proposed",
  memory_edited: "evidence",
  memory_promoted: "accepted",
  memory_rejected: "rejected",
  memory_superseded: "superseded",
  memory_reinforced: "reinforced",
};

export const kindNames = Object.keys(labelByKind) as readonly (keyof typeof labelByKind)[];

/** How a memory was used: `given, used`. */
export function formatUses(uses: {
  readonly given?: boolean | undefined;
  readonly used?: boolean | undefined;
  readonly confirmed?: boolean | undefined;
}): string {
  const { given, used, confirmed } = uses;
  return Object.entries({ given, used, confirmed })
    .flatMap(([name, is]) => (is === true ? [name] : []))
    .join(", ");
}

const VERBATIM_KINDS: ReadonlySet<string> = new Set(["tool_call", "raw", "audit"]);

/** The first line of the summary; messages without Markdown signs. */
export function summaryLine(entry: Row | Hit, charsMax: number): string {
  const line = firstLine(summaryOf(entry), charsMax);
  if (VERBATIM_KINDS.has(entry.kind)) return line;
  return line.replace(/^(?:#{1,6}|[-*]|\d+\.)\s+/, "").replace(/(\*\*|`)([^*`]+)\1/g, "$2");
}

/** An entry in a few words. A malformed entry must not hide the others in its list. */
export function summaryOf(entry: Row | Hit): string {
  try {
    return describe(entry);
  } catch {
    return "(not displayable)";
  }
}

function describe(entry: Row): string {
  switch (entry.kind) {
    case "altered":
      return `Entry ${entry.position} is ${ALTERED_WORDS}.`;
    case "interaction":
      return entry.prompt;
    case "response":
      return entry.response_excerpt || entry.response_summary || `${formatCount(entry.response_chars)} characters`;
    case "message":
      return messageText(entry);
    case "tool_call":
      return `${entry.tool} ${argumentSummary(entry.args)}`;
    case "error":
      return entry.error;
    case "decision":
      return entry.decision;
    case "consolidation":
      return entry.summary || `through #${entry.through}`;
    case "clear":
      return "Context cleared.";
    case "withdrawal":
      return `Removes #${entry.withdraws}.`;
    case "feedback":
      return [entry.label, entry.comment].filter((text) => text !== "").join(": ") || formatScore(entry.score);
    case "session_info":
      return entry.title || entry.session_id;
    case "raw":
      return entry.source;
    case "audit":
      return `${entry.action.replaceAll("_", " ")} by ${entry.actor}${entry.target && `: ${entry.target}`}`;
    case "redaction":
      return `${plural(entry.positions.length, "entry", "entries")} forgotten: ${entry.reason}`;
    case "memory_proposed":
      return entry.content;
    case "memory_edited":
      return entry.content || quotesOf(entry.evidence);
    case "memory_promoted":
    case "memory_rejected":
    case "memory_superseded":
      return `${entry.memory_id} by ${entry.actor}${entry.reason && `: ${entry.reason.replaceAll("_", " ")}`}`;
    case "memory_reinforced":
      return entry.memories.map(({ memory_id, ...uses }) => `${memory_id} ${formatUses(uses)}`).join("; ");
    default:
      return idOfUnknown(entry);
  }
}

/** A newer server may send kinds that this page does not know; that one of today's is missing does not compile. */
function idOfUnknown(entry: never): string {
  return (entry as Row).id;
}

function quotesOf(evidence: readonly { readonly quote?: unknown }[]): string {
  return evidence.flatMap(({ quote }) => (typeof quote === "string" ? [`“${quote}”`] : [])).join(" ");
}

export function formatScore(score: number | undefined): string {
  return score === undefined ? "feedback" : score < 0 ? "disliked" : score > 0 ? "liked" : "neither good nor bad";
}

/** Longer paths are cut at the front: the end tells files apart. */
const PATH_CHARS = 60;

/** The argument that tells calls of one tool apart: usually a path, a command or a query. */
export function argumentSummary(args: unknown): string {
  if (typeof args !== "object" || args === null) return firstLine(toText(args ?? ""));
  const values: { readonly [name: string]: unknown } = args as { readonly [name: string]: unknown };
  const tellingNames = ["pattern", "file_path", "path", "query", "q", "url", "description", "prompt"];
  const told = tellingNames.map((name) => values[name]).find((value) => typeof value === "string" && value !== "");
  const named = shellCommand(args) ?? told;
  const first = named ?? Object.values(values).find((value) => typeof value === "string" || typeof value === "number");
  const line = firstLine(String(first ?? ""));
  if (/^[~/][^\s]*$/.test(line) && line.length > PATH_CHARS)
    return `…${line.slice(line.indexOf("/", line.length - PATH_CHARS))}`;
  return line === "*** Begin Patch" ? (/^\*\*\* \w+ File: (.+)$/m.exec(String(first))?.[1] ?? line) : line;
}

/** A title in plain words: for a message that is JSON, the first text inside it. */
export function titleLine(text: string, charsMax: number): string {
  const line = firstLine(text, charsMax);
  if (!/^\s*[[{]/.test(text)) return line;
  const firstWords = firstWordsIn(parsedJson(text));
  return firstWords === "" ? line : firstLine(firstWords, charsMax);
}

/** Longer JSON is not parsed for a title. */
const JSON_CHARS_MAX = 100_000;

function parsedJson(text: string): unknown {
  try {
    return text.length > JSON_CHARS_MAX ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The first text of several words, otherwise the first text. */
function firstWordsIn(value: unknown): string {
  const texts = textsIn(value);
  return texts.find((text) => /\S\s+\S/.test(text)) ?? texts[0] ?? "";
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

export function firstLine(text: string, charsMax = 300): string {
  const start = withoutAnsi(text.slice(0, charsMax * 4)).trim();
  const line = start.split(/\r\n|[\n\r\u2028\u2029]/, 1)[0] ?? "";
  return line.length > charsMax ? `${line.slice(0, charsMax)}…` : line;
}

export function isFailed(entry: Row): boolean {
  if (entry.kind === "error" || entry.kind === "altered") return true;
  if (entry.kind === "tool_call") return entry.is_error === true;
  return (entry.kind === "interaction" || entry.kind === "response") && entry.error !== "";
}

export function isLowConfidence(entry: Row): boolean {
  return entry.kind === "message" && speakerOf(entry) === "assistant" && (entry.confidence ?? 1) < CONFIDENCE_LOW;
}
