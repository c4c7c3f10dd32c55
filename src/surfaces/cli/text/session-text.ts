// Sessions on a terminal: the table of them, and what stands above the timeline of one.
import stringWidth from "string-width";
import type { SessionSummary } from "../../../index.js";
import { valueText } from "../../../model/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../model/json.js";
import { shortTime } from "./entry-text.js";
import { type Fact, factsText } from "./facts.js";
import { type Column, countOf, formatCount, renderTable, wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";

/** A UUID stays whole, so that it can be copied, as long as this much is left for the rest. */
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

/** Columns that say nothing are left out, and of the others as many are shown as there is room for. */
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
  const telling = [
    { title: "PROJECT", text: projectsOf },
    { title: "TITLE", text: titleOf },
  ].filter(({ text }) => sessions.some((session) => text(session) !== ""));
  const about: SessionColumn = {
    title: telling.map(({ title }) => title).join(" · "),
    text: (session) => telling.flatMap(({ text }) => text(session) || []).join(" · "),
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
  // What a session is about is worth more than all counts but the first.
  const kept = telling.length === 0 ? 0 : Math.min(span(about), ABOUT_WIDTH);
  const shown = new Set([last, id, entries, ...(telling.length === 0 ? [] : [about])]);
  let room = width - span(last) - span(id) - span(entries) - kept;
  for (const column of [errors, messages, tools, decisions]) {
    if (span(column) > room || sessions.every((session) => column.text(session) === "0")) continue;
    shown.add(column);
    room -= span(column);
  }
  return [last, id, entries, messages, tools, errors, decisions, about].filter((column) => shown.has(column));
}

type CountName = "entries" | "messages" | "tool_calls" | "errors" | "decisions";

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

/** A line for each thing that is known, those of an object one by one. */
function metadataFacts(metadata: JsonObject): readonly Fact[] {
  const known = Object.entries(metadata).flatMap(([name, value]) =>
    isJsonObject(value)
      ? Object.entries(value).map(([inner, held]): Fact => [`${name}.${inner}`, knownText(held)])
      : [[name, knownText(value)] as const],
  );
  return known.map(([name, text], at) => [at === 0 ? "Metadata" : "", `${name}: ${text}`]);
}

function knownText(value: JsonValue): string {
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
