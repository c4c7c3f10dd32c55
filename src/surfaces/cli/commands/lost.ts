// `hansard lost`: sessions whose source is gone. The record keeps them.
import { statSync } from "node:fs";
import { basename } from "node:path";
import type { Command } from "commander";
import { findInPlaces, type SessionSummary } from "../../../index.js";
import { isJsonObject } from "../../../model/json.js";
import { type CommandModule, helpText, type Invocation, notePartial, withQuestion } from "../command.js";
import { exitStatus } from "../failures.js";
import { hintText } from "../hints.js";
import { sessionsOf } from "../named-session.js";
import { shortTime } from "../text/entry-text.js";
import { countOf, renderTable, wrapText } from "../text/table.js";
import { cleanLine, documentText, type Pane, pathText } from "../text/terminal.js";

/** Names with part of a UUID in them, by which a file is known wherever it was moved. */
const UNIQUE_NAME = /[0-9a-f]{8}-[0-9a-f]{4}/;

interface LostSession {
  readonly session_id: string;
  readonly title: string;
  readonly tool: string;
  readonly path: string;
  /** When that was seen; absent where nobody was watching. */
  readonly source_deleted_at?: string;
  readonly how: "deleted" | "shortened";
  readonly last_at: string;
  readonly entries: number;
  readonly parent: string;
}

export const lostCommand: CommandModule = {
  define(command: Command): void {
    command.option("--json", "print JSON").addHelpText(
      "after",
      helpText(
        [
          `While \`hansard watch\` or \`hansard serve --watch\` runs, a deleted file is noted with its time. Files of sessions that
were imported are looked for now. With a store on a server, only what was noted there is listed.`,
        ],
        [
          ["what agents have deleted", "hansard lost"],
          ["bring one back", "hansard resume 80be479e --to claude-code"],
        ],
      ),
    );
  },

  async run(invocation: Invocation) {
    const { screen, settings, json } = invocation;
    const isHere = !/^https?:/i.test(settings.data);
    const { sessions, partial } = await withQuestion(invocation, (recorder) => sessionsOf(recorder));
    const lost = await lostAmong(sessions, isHere);
    notePartial(partial ? { partial } : {}, invocation);
    if (json) screen.out.write(documentText({ sessions: lost, ...(partial ? { partial } : {}) }, screen.out));
    else screen.out.write(hintText(lostText(lost, screen.out), settings));
    return exitStatus.done;
  },
};

async function lostAmong(sessions: readonly SessionSummary[], isHere: boolean): Promise<readonly LostSession[]> {
  const found = sessions.flatMap((session) => lostSession(session, isHere) ?? []);
  if (!isHere || found.length === 0) return found;
  // Some tools move what they archive.
  const moved = new Set((await findInPlaces()).files.map((path) => basename(path)));
  return found.filter(({ path }) => path === "" || !UNIQUE_NAME.test(basename(path)) || !moved.has(basename(path)));
}

function lostSession(session: SessionSummary, isHere: boolean): LostSession | undefined {
  const { session_id, title, metadata, last_at, entries, parent } = session;
  const { source, source_deleted_at: noted, source_loss } = metadata;
  const path = isJsonObject(source) && typeof source.path === "string" ? source.path : "";
  const tool = isJsonObject(source) && typeof source.tool === "string" ? source.tool : "";
  const isNoted = typeof noted === "string" && noted !== "";
  const isShortened = isNoted && source_loss === "shortened";
  if (isHere && path !== "" && !isShortened && isThere(path)) return undefined;
  if (!isNoted && (path === "" || !isHere)) return undefined;
  const about = { session_id, title, tool, path, last_at, entries, parent };
  return { ...about, how: isShortened ? "shortened" : "deleted", ...(isNoted ? { source_deleted_at: noted } : {}) };
}

/** A path that cannot be looked at, or that is none on this system, counts as there. */
function isThere(path: string): boolean {
  if (!path.startsWith("/") && process.platform !== "win32") return true;
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOTDIR";
  }
}

function lostText(lost: readonly LostSession[], pane: Pane): string {
  if (lost.length === 0) return "No session has lost its source.\n";
  const ids = new Set(lost.map(({ session_id }) => session_id));
  const tops = lost.filter(({ parent }) => !ids.has(parent));
  const rows = tops.map(({ session_id, title, tool, path, source_deleted_at, last_at, how, entries }) => {
    const children = lost.filter(({ parent }) => parent === session_id).length;
    const more = children === 0 ? "" : ` (and ${countOf(children, "subagent", "subagents")})`;
    const noticed = source_deleted_at === undefined ? "not seen" : shortTime(source_deleted_at, { year: true });
    const name = title === "" ? pathText(path) : cleanLine(title, 200);
    return [
      noticed,
      how,
      tool,
      cleanLine(session_id),
      shortTime(last_at, { year: true }),
      String(entries),
      `${name}${more}`,
    ];
  });
  const table = renderTable({
    columns: [
      ...[{ title: "LOST" }, { title: "HOW" }, { title: "AGENT" }, { title: "SESSION", widthMax: 36 }],
      ...[{ title: "LAST" }, { title: "ENTRIES", align: "right" as const }, { title: "TITLE" }],
    ],
    rows,
    width: pane.columns,
    colours: pane.colours,
  });
  const sum = `${countOf(tops.length, "session has", "sessions have")} lost ${tops.length === 1 ? "its" : "their"} source. All entries are kept: \`hansard show ID\` and \`hansard sessions ID\` read them, \`hansard resume ID --to claude-code\` writes one back.`;
  return `${table}\n${wrapText(sum, pane.columns).join("\n")}\n`;
}
