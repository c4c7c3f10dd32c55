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
import { entryLine, kindColour, shortTime, whoOf } from "./entry-text.js";
import {
  callParagraph,
  type Paragraph,
  paragraphLines,
  pieceParagraphs,
  RESULT_LINES,
  roleColour,
} from "./paragraphs.js";
import { type Column, countOf, type Fact, factsText, formatCount, renderTable, wrapText } from "./table.js";
import { type Colours, cleanLine, type Pane } from "./terminal.js";

/** A UUID is not cut, for copying, if this much is left for the rest. */
const ID_WIDTH_MAX = 36;
const BESIDE_ID_WIDTH = 44;
const ID_WIDTH_MIN = 8;
const ABOUT_WIDTH = 24;
const GAP_WIDTH = 2;

interface SessionColumn extends Column {
  readonly text: (session: SessionSummary) => string;
}

export function sessionTable(
  sessions: readonly SessionSummary[],
  options: { readonly pane: Pane; readonly project: string | undefined },
): string {
  const { pane } = options;
  const columns = columnsThatFit(sessions, options);
  return renderTable({
    columns,
    rows: sessions.map((session) => columns.map((column) => column.text(session))),
    width: pane.columns,
    colours: pane.colours,
  });
}

/** The columns that are not empty, as many as there is room for. */
function columnsThatFit(
  sessions: readonly SessionSummary[],
  { pane, project }: { readonly pane: Pane; readonly project: string | undefined },
): readonly SessionColumn[] {
  const { colours, columns: width = Number.POSITIVE_INFINITY } = pane;
  const year = sessions.some(({ last_at }) => last_at.slice(0, 4) !== new Date().toISOString().slice(0, 4));
  const count = (title: string, name: CountName): SessionColumn => ({
    title,
    align: "right",
    text: (session) => formatCount(session[name]),
    ...(name === "errors" ? { paint: (text: string) => (text === "0" ? text : colours.red(text)) } : {}),
  });
  const last: SessionColumn = {
    title: "LAST (UTC)",
    paint: (text) => colours.dim(text),
    text: (session) => shortTime(session.last_at, { year }),
  };
  const id: SessionColumn = {
    title: "SESSION",
    widthMax: ID_WIDTH_MAX,
    widthMin: Math.min(ID_WIDTH_MAX, Math.max(ID_WIDTH_MIN, width - BESIDE_ID_WIDTH)),
    paint: (text) => colours.bold(text),
    text: (session) => cleanLine(session.session_id),
  };
  const projectsOf = ({ projects }: SessionSummary): string =>
    (project ?? "") === "" ? cleanLine(projects.join(", ")) : "";
  const titleOf = ({ title }: SessionSummary): string => cleanLine(title);
  const subjects = [
    { title: "PROJECT", text: projectsOf },
    { title: "TITLE", text: titleOf },
  ].filter(({ text }) => sessions.some((session) => text(session) !== ""));
  const about: SessionColumn = {
    title: subjects.map(({ title }) => title).join(" · "),
    text: (session) => subjects.flatMap(({ text }) => text(session) || []).join(" · "),
  };
  const entries = count("ENTRIES", "entries");
  const errors = count("ERRORS", "errors");
  const messages = count("MESSAGES", "messages");
  const tools = count("TOOLS", "tool_calls");
  const decisions = count("DECISIONS", "decisions");

  const span = (column: SessionColumn): number => {
    const widest = Math.max(...[column.title, ...sessions.map(column.text)].map((text) => stringWidth(text)));
    return Math.min(widest, column.widthMax ?? widest) + GAP_WIDTH;
  };
  // What a session is about matters more than all counts but the first.
  const kept = subjects.length === 0 ? 0 : Math.min(span(about), ABOUT_WIDTH);
  const shown = new Set([last, id, entries, ...(subjects.length === 0 ? [] : [about])]);
  let room = width - span(last) - span(id) - span(entries) - kept;
  for (const column of [errors, messages, tools, decisions]) {
    if (span(column) > room || sessions.every((session) => column.text(session) === "0")) continue;
    shown.add(column);
    room -= span(column);
  }
  return [last, id, entries, messages, tools, errors, decisions, about].filter((column) => shown.has(column));
}

type CountName = "entries" | "messages" | "tool_calls" | "errors" | "decisions";

/** The facts above the timeline of a session. */
export function sessionHead(session: SessionSummary, pane: Pane): string {
  const { bold } = pane.colours;
  const facts: readonly Fact[] = [
    ["Session", session.session_id],
    ["Title", session.title],
    ["Parent", session.parent],
    ["Time", `${periodText(session)} UTC`],
    ["Entries", `${formatCount(session.entries)}${countsText(session)}`],
    [session.projects.length > 1 ? "Projects" : "Project", session.projects.join(", ")],
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
    const today = entry.created_at.slice(0, 10);
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
  return pane.isTerminal ? time.slice(11, 19) : time.slice(0, 19).replace("T", " ");
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
