// `hansard` without arguments, on a terminal: the histories of agents on this machine and what keeps them, or, with a store,
// what happened since the last look.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { type AgentHistory, agentHistories } from "../../../import/histories.js";
import type { Recorder, SessionSummary } from "../../../index.js";
import { isJsonObject } from "../../../model/json.js";
import { type CommandModule, hasStore, type Invocation, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { commandLine } from "../hints.js";
import { countOf, formatCount, renderTable, wrapText } from "../text/table.js";
import { cleanLine, type Pane, pathText } from "../text/terminal.js";

const DAY_MS = 24 * 60 * 60 * 1000;
/** How far back the first look goes. */
const FIRST_DAYS = 7;
const SESSIONS_MAX = 500;
const SESSIONS_SHOWN = 5;
/** So many sessions that are about to be deleted are looked up in the record. */
const DUE_CHECKED_MAX = 500;

export const overviewCommand: CommandModule = {
  define: () => undefined,

  async run(invocation: Invocation) {
    const { screen, settings } = invocation;
    const { out } = screen;
    const nowMs = Date.now();
    const histories = await agentHistories(nowMs);
    out.write(historiesText(histories, out));
    if (!hasStore(settings)) {
      out.write(adviceText(dueIn(histories).length, histories, invocation));
      return exitStatus.done;
    }
    const since = lastLook(settings.data) ?? new Date(nowMs - FIRST_DAYS * DAY_MS).toISOString();
    await withQuestion(invocation, async (recorder) => {
      out.write(await newsText(recorder, { since, nowMs }, out));
      const due = await unrecorded(recorder, histories);
      out.write(adviceText(due, histories, invocation));
    });
    noteLook(settings.data, new Date(nowMs).toISOString());
    return exitStatus.done;
  },
};

function historiesText(histories: readonly AgentHistory[], pane: Pane): string {
  if (histories.length === 0) return "No histories of known agents on this machine.\n";
  const table = renderTable({
    columns: [
      { title: "AGENT" },
      { title: "SESSIONS", align: "right" },
      { title: "OLDEST" },
      { title: "NEWEST" },
      { title: "PLACE" },
    ],
    rows: histories.map(({ tool, sessions, oldest_ms, newest_ms, places }) => [
      ...[tool, sessions === 0 ? "in a database" : formatCount(sessions), dateOf(oldest_ms), dateOf(newest_ms)],
      places.map(pathText).join(", "),
    ]),
    width: pane.columns,
    colours: pane.colours,
  });
  return `${pane.colours.bold("Agents on this machine")}\n${table}`;
}

function dueIn(histories: readonly AgentHistory[]): NonNullable<AgentHistory["cleanup"]>["due"] {
  return histories.flatMap(({ cleanup }) => cleanup?.due ?? []);
}

/** How many sessions that are about to be deleted the record does not have. */
async function unrecorded(recorder: Recorder, histories: readonly AgentHistory[]): Promise<number> {
  let count = 0;
  for (const { session_id } of dueIn(histories).slice(0, DUE_CHECKED_MAX)) {
    if ((await recorder.session(session_id).summary()) === undefined) count += 1;
  }
  return count;
}

/** What the tool deletes soon, and the one command that keeps it. */
function adviceText(due: number, histories: readonly AgentHistory[], { settings, screen }: Invocation): string {
  const { bold, yellow } = screen.out.colours;
  const days = histories.find(({ cleanup }) => cleanup !== undefined)?.cleanup?.after_days;
  const isNew = !hasStore(settings);
  if (histories.length === 0) return `\n  ${bold(commandLine("hansard --help", settings))}\n      all commands\n`;
  const deletes =
    days === undefined ? "" : `Claude Code deletes sessions ${countOf(days, "day", "days")} after their last change.`;
  const soon =
    due === 0
      ? ""
      : yellow(
          `${countOf(due, "session goes", "sessions go")} within 7 days${isNew ? "" : ", and the record does not have them"}.`,
        );
  const words = [deletes, soon].filter((text) => text !== "").join(" ");
  const lead = words === "" ? "" : `\n${wrapText(words, screen.out.columns).join("\n")}\n`;
  if (!isNew && due === 0) return lead;
  return `${lead}\n  ${bold(commandLine("hansard import", settings))}\n      keeps all of them: it shows what it found, and asks before it reads\n`;
}

async function newsText(
  recorder: Recorder,
  { since, nowMs }: { readonly since: string; readonly nowMs: number },
  pane: Pane,
): Promise<string> {
  const { sessions, next_cursor } = await recorder.listSessions({ since, limit: SESSIONS_MAX });
  const tops = sessions.filter(({ parent }) => parent === "");
  const pending = await recorder.memories.pending();
  const more = next_cursor === null ? "" : "at least ";
  const projects = new Set(tops.map(({ project }) => project).filter((name) => name !== ""));
  const failures = tops.reduce((sum, session) => sum + session.failures, 0);
  const lost = sessions.filter(({ metadata }) => String(metadata.source_deleted_at ?? "") >= since).length;
  const facts = [
    `${more}${countOf(tops.length, "session", "sessions")}`,
    ...(projects.size === 0 ? [] : [countOf(projects.size, "project", "projects")]),
    ...(failures === 0 ? [] : [pane.colours.red(countOf(failures, "failure", "failures"))]),
    ...(lost === 0 ? [] : [`${countOf(lost, "source", "sources")} lost (hansard lost)`]),
    ...(pending === 0 ? [] : [`${countOf(pending, "candidate", "candidates")} to review (hansard review)`]),
  ];
  const news = tops.length === 0 ? ["nothing new", ...facts.slice(1)] : facts;
  const head = `\n${pane.colours.bold(`Since ${agoText(nowMs - Date.parse(since))}`)}: ${news.join(", ")}\n`;
  const shown = tops.slice(0, SESSIONS_SHOWN);
  if (shown.length === 0) return head;
  const table = renderTable({
    columns: [{ title: "SESSION" }, { title: "PROJECT" }, { title: "TITLE" }],
    rows: shown.map((session) => [session.session_id.slice(0, 8), cleanLine(session.project), titleOf(session)]),
    width: pane.columns,
    colours: pane.colours,
  });
  return head + table;
}

function titleOf({ title, session_id }: SessionSummary): string {
  return cleanLine(title === "" ? session_id : title, 200);
}

function agoText(ms: number): string {
  const hours = Math.round(ms / (60 * 60 * 1000));
  if (ms < 60 * 60 * 1000) return `${countOf(Math.max(1, Math.round(ms / 60_000)), "minute", "minutes")} ago`;
  return hours < 48
    ? `${countOf(hours, "hour", "hours")} ago`
    : `${countOf(Math.round(hours / 24), "day", "days")} ago`;
}

/** In the machine's zone. */
function dateOf(ms: number): string {
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 10);
}

// The time of the last look, for each store: no part of the record, and of no use elsewhere.

function statePath(): string {
  return join(process.env.XDG_STATE_HOME || join(homedir(), ".local/state"), "hansard", "last-look.json");
}

function looks(): { readonly [data: string]: unknown } {
  try {
    const known: unknown = JSON.parse(readFileSync(statePath(), "utf8"));
    return isJsonObject(known) ? known : {};
  } catch {
    return {};
  }
}

function lastLook(data: string): string | undefined {
  const known = looks()[data];
  return typeof known === "string" && !Number.isNaN(Date.parse(known)) ? known : undefined;
}

/** Where nothing can be written, every look is the first. */
function noteLook(data: string, at: string): void {
  try {
    mkdirSync(dirname(statePath()), { recursive: true, mode: 0o700 });
    writeFileSync(statePath(), `${JSON.stringify({ ...looks(), [data]: at })}\n`, { mode: 0o600 });
  } catch {
    // It is only a convenience.
  }
}
