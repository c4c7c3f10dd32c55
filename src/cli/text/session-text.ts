// Sessions on a terminal: the table of them, and what stands above the timeline of one.
import stringWidth from "string-width";
import type { SessionSummary } from "../../index.js";
import { shortTime } from "./entry-text.js";
import { type Fact, factsText } from "./facts.js";
import { type Column, countOf, formatCount, renderTable, wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";

/** A UUID stays whole, so that it can be copied, as long as this much is left for the rest. */
const ID_WIDTH_MAX = 36;
const BESIDE_ID_WIDTH = 44;
const ID_WIDTH_MIN = 8;
const TITLE_WIDTH = 24;
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
  const projects: SessionColumn = {
    title: "PROJECT",
    widthMax: 16,
    widthMin: 8,
    text: (session) => cleanLine(session.projects.join(", ")),
  };
  const title: SessionColumn = { title: "TITLE", text: (session) => cleanLine(session.title) };
  const about: SessionColumn = {
    title: "PROJECT · TITLE",
    text: (session) => [projects.text(session), title.text(session)].filter((text) => text !== "").join(" · "),
  };
  const entries = count("ENTRIES", "entries");
  const errors = count("ERRORS", "errors");
  const messages = count("MESSAGES", "messages");
  const tools = count("TOOLS", "tool_calls");
  const decisions = count("DECISIONS", "decisions");

  const isTelling = (column: SessionColumn): boolean =>
    !(column === projects && (project ?? "") !== "") &&
    sessions.some((session) => !["", "0"].includes(column.text(session)));
  const span = (column: SessionColumn): number => {
    const widest = Math.max(...[column.title, ...sessions.map(column.text)].map((text) => stringWidth(text)));
    return Math.min(widest, column.widthMax ?? widest) + GAP_WIDTH;
  };
  const shown = new Set([last, id, entries]);
  const kept = isTelling(title) ? Math.min(span(title), TITLE_WIDTH) : 0;
  let room = width - span(last) - span(id) - span(entries) - kept;
  for (const column of [projects, errors, messages, tools, decisions].filter(isTelling)) {
    if (span(column) > room) continue;
    shown.add(column);
    room -= span(column);
  }
  // Without room for a column of its own, the project stands before the title.
  if (isTelling(projects) && !shown.has(projects)) shown.add(about);
  else if (kept > 0) shown.add(title);
  const inOrder = [last, id, projects, entries, messages, tools, errors, decisions, title, about];
  return inOrder.filter((column) => shown.has(column));
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
    ["Metadata", Object.keys(session.metadata).length === 0 ? "" : JSON.stringify(session.metadata)],
  ];
  const heading = cleanLine(session.title || session.session_id, 200);
  const said = session.title === "" ? "Session" : "Title";
  return `${wrapText(heading, pane.columns).map(bold).join("\n")}\n${factsText(
    facts.filter(([label, text]) => text !== "" && label !== said),
    pane,
  )}`;
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
