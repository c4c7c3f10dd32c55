// Sessions on a terminal: their table, and one of them with its timeline.
import stringWidth from "string-width";
import type { SessionSummary } from "../../../index.js";
import { valueText } from "../../../model/content.js";
import { answeredCalls, messageParts, partText } from "../../../model/content-parts.js";
import type { EntrySummary, ListedEntry } from "../../../model/entry.js";
import { applyByKind, type ByKind, isAltered } from "../../../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../model/json.js";
import { speakerOf } from "../../../model/roles.js";
import { feedbackWords } from "../../../model/states.js";
import { localSecond, localTime } from "../local-times.js";
import { entryLine, kindColour, shortTime, whoOf } from "./entry-text.js";
import {
  callParagraph,
  type Paragraph,
  paragraphLines,
  pieceParagraphs,
  RESULT_LINES,
  roleColour,
} from "./paragraphs.js";
import {
  type Column,
  countOf,
  type Fact,
  factsText,
  fitText,
  formatCost,
  formatCount,
  renderTable,
  shortCount,
  wrapText,
} from "./table.js";
import { type Colours, cleanLine, type Pane } from "./terminal.js";

/** From this width on a session takes one line. */
const TABLE_WIDTH_MIN = 120;
const ID_WIDTH_MAX = 20;
const LABEL_WIDTH_MAX = 24;
const PREFIX_CHARS = 8;
const GAP_WIDTH = 2;

/** A line each where there is room, else two: when, title and cost; below them the rest. */
export function sessionTable(
  sessions: readonly SessionSummary[],
  { pane, isWide }: { readonly pane: Pane; readonly isWide: boolean },
): string {
  const { columns: width = Number.POSITIVE_INFINITY } = pane;
  if (isWide || width >= TABLE_WIDTH_MIN) return wideTable(sessions, { pane, isWide });
  const ids = shortIds(sessions);
  return sessions.map((session) => twoLines(session, { pane, width, id: ids.get(session.session_id) ?? "" })).join("");
}

function wideTable(
  sessions: readonly SessionSummary[],
  { pane, isWide }: { readonly pane: Pane; readonly isWide: boolean },
): string {
  const { dim, bold, red } = pane.colours;
  const ids = shortIds(sessions);
  const idOf = ({ session_id }: SessionSummary): string =>
    isWide ? cleanLine(session_id) : (ids.get(session_id) ?? "");
  const columns: readonly (Column & { readonly text: (session: SessionSummary) => string })[] = [
    { title: "WHEN", paint: dim, text: whenOf },
    { title: "SESSION", widthMax: isWide ? Number.MAX_SAFE_INTEGER : ID_WIDTH_MAX, widthMin: PREFIX_CHARS, text: idOf },
    {
      title: "PROJECT",
      widthMax: isWide ? Number.MAX_SAFE_INTEGER : LABEL_WIDTH_MAX,
      text: (one) => cleanLine(one.project),
    },
    {
      title: "CLIENT",
      widthMax: isWide ? Number.MAX_SAFE_INTEGER : LABEL_WIDTH_MAX,
      text: (one) => cleanLine(one.clients.join(", ")),
    },
    { title: "LENGTH", align: "right", text: lengthOf },
    { title: "PROMPTS", align: "right", text: (one) => formatCount(one.turns) },
    {
      title: "FAILURES",
      align: "right",
      paint: (text) => (text === "0" ? text : red(text)),
      text: (one) => formatCount(one.failures),
    },
    { title: "COST", align: "right", text: costText },
    { title: "TITLE", paint: bold, text: (one) => cleanLine(one.title) },
  ];
  return renderTable({
    columns,
    rows: sessions.map((session) => columns.map((column) => column.text(session))),
    width: isWide ? undefined : pane.columns,
    colours: pane.colours,
  });
}

function twoLines(
  session: SessionSummary,
  { pane, width, id }: { readonly pane: Pane; readonly width: number; readonly id: string },
): string {
  const { bold, dim, red } = pane.colours;
  const when = whenOf(session).padEnd(WHEN_WIDTH);
  const cost = costText(session);
  const room = Math.max(width - WHEN_WIDTH - cost.length - 2 * GAP_WIDTH, 1);
  const title = fitText(cleanLine(session.title) || "(no prompt)", room);
  const space = " ".repeat(Math.max(room - stringWidth(title), 0));
  const facts: readonly (readonly [text: string, paint: (text: string) => string])[] = [
    ...[cleanLine(session.project), cleanLine(session.clients.join(", "))].map((text) => [text, dim] as const),
    [lengthOf(session), dim],
    [countOf(session.turns, "prompt", "prompts"), dim],
    [session.failures === 0 ? "" : countOf(session.failures, "failure", "failures"), red],
    [session.children === 0 ? "" : countOf(session.children, "subagent", "subagents"), dim],
    [session.outcome === "done" ? "" : session.outcome, dim],
  ];
  const shown = facts.filter(([text]) => text !== "");
  const idText = fitText(id, Math.max(Math.floor(width / 2), 1)).padEnd(WHEN_WIDTH - GAP_WIDTH);
  // Painted after it was cut, because a cut would take the end of a colour.
  const restWidth = width - stringWidth(idText) - 2 * GAP_WIDTH;
  const rest = restWidth <= 0 ? "" : fitText(shown.map(([text]) => text).join(" · "), restWidth);
  let left = rest;
  const painted = shown.flatMap(([text, paint], at) => {
    const own = left.slice(0, text.length);
    left = left.slice(text.length + (at === shown.length - 1 ? 0 : 3));
    return own === "" ? [] : [paint(own)];
  });
  const first = `${dim(when)}  ${bold(title)}${cost === "" ? "" : `${space}  ${cost}`}`;
  return `${first}\n  ${idText}  ${painted.join(dim(" · "))}`.trimEnd().concat("\n");
}

const WHEN_WIDTH = "11-15 12:09".length;

function whenOf({ last_at }: SessionSummary): string {
  return localTime(last_at, { year: "other" });
}

function costText({ cost_total }: SessionSummary): string {
  return cost_total === undefined ? "" : formatCost(cost_total);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** The active time: `45s`, `12m`, `3h 05m`. */
function lengthOf({ active_ms }: SessionSummary): string {
  if (active_ms < 1_000) return "";
  if (active_ms < MINUTE_MS) return `${Math.floor(active_ms / 1_000)}s`;
  if (active_ms < HOUR_MS) return `${Math.floor(active_ms / MINUTE_MS)}m`;
  const minutes = Math.floor((active_ms % HOUR_MS) / MINUTE_MS);
  return `${Math.floor(active_ms / HOUR_MS)}h ${String(minutes).padStart(2, "0")}m`;
}

/** As much of a UUID as no other session of the list begins with; other ids whole. */
function shortIds(sessions: readonly SessionSummary[]): ReadonlyMap<string, string> {
  const ids = sessions.map(({ session_id }) => session_id);
  return new Map(
    ids.map((id) => {
      if (!IS_UUID.test(id)) return [id, cleanLine(id)];
      let length = PREFIX_CHARS;
      const others = ids.filter((other) => other !== id && !other.startsWith(`${id}/`));
      while (length < id.length && others.some((other) => other.startsWith(id.slice(0, length)))) length += 1;
      return [id, cleanLine(id.slice(0, length))];
    }),
  );
}

const IS_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}$/i;

/** The facts above the timeline of a session. */
export function sessionHead(session: SessionSummary, pane: Pane): string {
  const { bold } = pane.colours;
  const facts: readonly Fact[] = [
    ["Session", session.session_id],
    ["Title", session.title],
    ["Parent", session.parent],
    ["Time", [periodText(session), lengthOf(session)].filter((text) => text !== "").join(", active ")],
    ["Outcome", session.outcome],
    ["Prompts", session.turns === 0 ? "" : formatCount(session.turns)],
    ["Failures", session.failures === 0 ? "" : formatCount(session.failures)],
    ["Cost", costFact(session)],
    ["Files", session.files === 0 ? "" : formatCount(session.files)],
    ["Subagents", session.children === 0 ? "" : formatCount(session.children)],
    ["Entries", `${formatCount(session.entries)}${countsText(session)}`],
    ["Project", [session.project, ...session.projects.filter((one) => one !== session.project)].join(", ")],
    [session.clients.length > 1 ? "Clients" : "Client", session.clients.join(", ")],
    ["Consolidated", session.consolidated_through === 0 ? "" : `through #${session.consolidated_through}`],
    ...metadataFacts(session.metadata),
  ];
  const heading = cleanLine(session.title || session.session_id, 200);
  const said = session.title === "" ? "Session" : "Title";
  return `${wrapText(heading, pane.columns).map(bold).join("\n")}\n${factsText(
    facts.filter(([label, text]) => text !== "" && label !== said),
    pane,
  )}`;
}

/** What it cost with its subagents, and how many tokens it took itself. */
function costFact({ cost_total, usage }: SessionSummary): string {
  if (usage.calls === 0 && cost_total === undefined) return "";
  const tokens = usage.calls === 0 ? "" : `${shortCount(usage.input_tokens + usage.output_tokens)} tokens`;
  return [cost_total === undefined ? "" : formatCost(cost_total), tokens].filter((text) => text !== "").join(", ");
}

/** One fact per field; the fields of an object are listed separately. */
function metadataFacts(metadata: JsonObject): readonly Fact[] {
  const known = Object.entries(metadata).flatMap(([name, value]) =>
    isJsonObject(value)
      ? Object.entries(value).map(([inner, held]): Fact => [`${name}.${inner}`, factText(held)])
      : [[name, factText(value)] as const],
  );
  return known.map(([name, text], at) => [at === 0 ? "Metadata" : "", `${name}: ${text}`]);
}

function factText(value: JsonValue): string {
  const isWords = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isWords ? value.join(", ") : valueText(value);
}

function periodText({ first_at, last_at }: SessionSummary): string {
  const first = shortTime(first_at, { year: true });
  const last = shortTime(last_at, { year: true });
  if (first === last) return first;
  return `${first} to ${first.slice(0, 10) === last.slice(0, 10) ? last.slice(11) : last}`;
}

function countsText(session: SessionSummary): string {
  const words = [
    session.messages > 0 && countOf(session.messages, "message", "messages"),
    session.interactions > 0 && countOf(session.interactions, "interaction", "interactions"),
    session.tool_calls > 0 && countOf(session.tool_calls, "tool call", "tool calls"),
    session.errors > 0 && countOf(session.errors, "error", "errors"),
    session.decisions > 0 && countOf(session.decisions, "decision", "decisions"),
  ].filter((text) => text !== false);
  return words.length === 0 ? "" : `, ${words.join(", ")}`;
}

/** Messages get more lines than tool results. */
const SAID_LINES = 8;
/** With less room than this next to the side columns, texts go below them. */
const BESIDE_WIDTH_MIN = 30;
const GAP = "  ";

/** The timeline: position, time and speaker at the side, and next to them what happened. */
export function timelineText(entries: readonly ListedEntry[], pane: Pane): string {
  const { bold, dim } = pane.colours;
  const positionWidth = Math.max(...entries.map(({ position }) => String(position).length + 1));
  const whoWidth = Math.max(...entries.map((entry) => whoOf(entry).length));
  const timeWidth = timeOf(entries[0]?.created_at ?? "", pane).length;
  const side = positionWidth + timeWidth + whoWidth + 3 * GAP.length;
  const isBeside = pane.columns === undefined || pane.columns - side >= BESIDE_WIDTH_MIN;
  const indent = " ".repeat(isBeside ? side : GAP.length);
  const width = pane.columns === undefined ? undefined : pane.columns - indent.length;
  let day = "";
  let text = "";
  for (const entry of entries) {
    const today = localSecond(entry.created_at).slice(0, 10);
    if (pane.isTerminal && today !== day) text += `${day === "" ? "" : "\n"}${dim(today)}\n`;
    day = today;
    const place = bold(`#${entry.position}`.padStart(positionWidth));
    const who = colourOf(entry, pane.colours)(whoOf(entry).padEnd(whoWidth));
    const lines = paragraphLines(paragraphsOf(entry, pane.colours), width, pane);
    const [first = "", ...rest] = isBeside ? lines : ["", ...lines];
    text += `${[place, dim(timeOf(entry.created_at, pane)), who, first].join(GAP).trimEnd()}\n`;
    text += rest.map((line) => `${indent}${line}`.trimEnd().concat("\n")).join("");
  }
  return text;
}

/** On a terminal the day has a line of its own; elsewhere every line is complete. */
function timeOf(time: string, pane: Pane): string {
  const local = localSecond(time);
  return pane.isTerminal ? local.slice(11) : local;
}

function colourOf(entry: ListedEntry, colours: Colours): (text: string) => string {
  if (isAltered(entry)) return colours.red;
  return entry.kind === "message" ? roleColour(speakerOf(entry), colours) : kindColour(entry.kind, colours);
}

const paragraphsByKind: ByKind<EntrySummary, readonly Paragraph[], [colours: Colours]> = {
  interaction: (entry, colours) => [said(entry.prompt), answer(entry, colours)],
  response: (entry, colours) => [
    { text: `answers ${entry.interaction_id}`, linesMax: 1, paint: colours.dim },
    answer(entry, colours),
  ],
  message: (entry, colours) => [
    ...pieceParagraphs(messageParts(entry), {
      colours,
      saidLinesMax: linesOf(speakerOf(entry)),
    }),
    ...confidence(entry, colours),
  ],
  tool_call: (entry, colours) => {
    const took = entry.duration_ms === undefined ? "" : ` (${formatCount(entry.duration_ms)} ms)`;
    const mark = entry.is_error === true ? "failed: " : "";
    const result: Paragraph = { text: `→ ${mark}${valueText(entry.result)}`, linesMax: RESULT_LINES };
    return [
      callParagraph({ name: `${entry.tool}${took}`, given: entry.args }, colours),
      entry.is_error === true ? { ...result, paint: colours.red } : result,
    ];
  },
  error: (entry, { red, dim }) => [
    { ...said(entry.error), paint: red },
    { text: entry.context, linesMax: RESULT_LINES, paint: dim },
  ],
  decision: (entry, colours) => [
    said(entry.decision),
    ...(entry.rationale === "" ? [] : [{ text: `because: ${entry.rationale}`, linesMax: 3, paint: colours.dim }]),
    ...confidence(entry, colours),
  ],
  consolidation: (entry, { dim }) => [
    { text: `history starts after #${entry.through}`, paint: dim },
    said(entry.summary),
  ],
  clear: (_, { dim }) => [{ text: "history starts again after this", paint: dim }],
  withdrawal: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  feedback: (entry, { dim }) => [{ text: `on ${entry.entry_id}`, linesMax: 1, paint: dim }, said(feedbackWords(entry))],
  // The facts stand above the timeline; here only what was new.
  session_info: (entry, { dim }) => [
    { text: entry.title, linesMax: 1 },
    { text: entry.title === "" ? facts(entry.metadata) : "", linesMax: 1, paint: dim },
    { text: entry.parent && `from ${entry.parent}`, linesMax: 1, paint: dim },
  ],
  // Tool records are not part of the conversation, and there are many.
  raw: (entry, { dim }) => [{ text: entryLine(entry), linesMax: 1, paint: dim }],
  audit: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  redaction: (entry, { dim }) => [{ text: entryLine(entry), linesMax: RESULT_LINES, paint: dim }],
  memory_proposed: (entry) => [said(entryLine(entry))],
  memory_edited: (entry, { dim }) => [{ text: entryLine(entry), linesMax: RESULT_LINES, paint: dim }],
  memory_promoted: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  memory_rejected: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  memory_superseded: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  memory_reinforced: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
};

/** What was said gets the most lines; what was injected is folded into one. */
function linesOf(speaker: ReturnType<typeof speakerOf>): number {
  if (speaker === "injected") return 1;
  return speaker === "tool" ? RESULT_LINES : SAID_LINES;
}

function paragraphsOf(entry: ListedEntry, colours: Colours): readonly Paragraph[] {
  if (isAltered(entry)) return [{ text: entryLine(entry), linesMax: 1, paint: colours.red }];
  const paragraphs = applyByKind(paragraphsByKind, entry, colours) ?? [];
  return paragraphs.filter(({ text }) => text.trim() !== "");
}

function said(text: string): Paragraph {
  return { text, linesMax: SAID_LINES };
}

/** The answer as far as the row has it, otherwise what is known about it. */
function answer(
  entry: {
    readonly response_chars: number;
    readonly response_summary: string;
    readonly response_excerpt?: string;
    readonly error: string;
    readonly extra?: JsonObject | undefined;
  },
  { dim, red }: Colours,
): Paragraph {
  const { response_chars, response_summary, response_excerpt = "", error } = entry;
  if (error !== "") return { text: `failed: ${error}`, linesMax: SAID_LINES, paint: red };
  if (response_excerpt.trim() !== "")
    return { text: `→ ${response_excerpt}`, linesMax: SAID_LINES, chars: response_chars };
  if (response_summary !== "") return { text: `→ ${response_summary}`, linesMax: SAID_LINES };
  const calls = response_chars === 0 ? answeredCalls(entry.extra ?? {}).map(partText) : [];
  if (calls.length > 0) return { text: `→ ${calls.join("\n")}`, linesMax: RESULT_LINES };
  return {
    text: response_chars === 0 ? "(no response)" : `→ ${countOf(response_chars, "character", "characters")}`,
    paint: dim,
  };
}

function confidence(entry: { readonly confidence?: number }, { dim }: Colours): readonly Paragraph[] {
  return entry.confidence === undefined ? [] : [{ text: `confidence ${entry.confidence}`, paint: dim }];
}

function facts(metadata: object): string {
  return Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata);
}
