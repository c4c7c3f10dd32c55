// `hansard stats`: counts entries by kind and project, with their period and size on disk.
import { statSync } from "node:fs";
import { basename } from "node:path";
import { filesOf } from "../../../engines/stores.js";
import { displayLocation, withCompanions } from "../../../model/store-location.js";
import type { EntryCounts } from "../../../operations/count.js";
import { operations } from "../../../operations/index.js";
import { operationCommand } from "../operation-command.js";
import { kindColour, shortTime } from "../text/entry-text.js";
import { drawBars } from "../text/plot.js";
import { countOf, formatBytes, formatCount } from "../text/table.js";
import { cleanLine, type Pane } from "../text/terminal.js";

const PROJECTS_SHOWN = 10;

interface FileSize {
  readonly file: string;
  readonly bytes: number;
}

interface Stats extends EntryCounts {
  readonly bytes: number;
  readonly files: readonly FileSize[];
}

export const statsCommand = operationCommand<Stats>(
  [operations.count],
  (stats, out, { invocation }) => statsText(stats, displayLocation(invocation.settings.data), out),
  {
    // Measured while the store is open: closing it merges the WAL into the main file.
    extend(counts, { settings }) {
      const files = fileSizes(settings.data);
      return { ...counts, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files };
    },
  },
);

/** Empty for a database. */
function fileSizes(folder: string): readonly FileSize[] {
  const files = filesOf(folder);
  if (files === undefined) return [];
  return [files.log, files.index].flatMap(withCompanions).flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ file: basename(path), bytes: found.size }];
  });
}

function statsText(stats: Stats, folder: string, pane: Pane): string {
  const { dim } = pane.colours;
  const facts: (readonly [string, string])[] = [
    ["Store", cleanLine(folder)],
    ["Entries", `${formatCount(stats.entries)} in ${countOf(stats.sessions, "session", "sessions")}`],
    ...(stats.first_at === null || stats.last_at === null
      ? []
      : [["Period", `${minute(stats.first_at)} to ${minute(stats.last_at)}`] as const]),
    ...((stats.pending ?? 0) === 0 ? [] : [["Review", waiting(stats.pending ?? 0)] as const]),
    ...(stats.files.length === 0 ? [] : [["On disk", diskText(stats)] as const]),
  ];
  const head = facts.map(([label, text]) => `${dim(label.padEnd(9))}${text}\n`).join("");
  if (stats.entries === 0) return `${head}\nNo entries yet. See \`hansard record --help\`.\n`;
  const kinds = Object.entries(stats.by_kind).sort(([, left], [, right]) => right - left);
  const paintKind = (label: string): string => kindColour(label.trim(), pane.colours)(label);
  return head + drawBars({ title: "By kind", bars: kinds, paint: paintKind }, pane) + projectPlot(stats, pane);
}

function waiting(pending: number): string {
  return `${countOf(pending, "candidate", "candidates")} waiting: hansard review`;
}

function diskText(stats: Stats): string {
  return `${formatBytes(stats.bytes)} (log ${sizeOf(stats, "log.db")}, index ${sizeOf(stats, "index.db")})`;
}

function projectPlot(stats: Stats, pane: Pane): string {
  if (stats.projects.every(({ project }) => project === "")) return "";
  const rows = stats.projects.map(({ project, entries }) => [cleanLine(project) || "(none)", entries] as const);
  const more = rows.length - PROJECTS_SHOWN;
  const note = more > 0 ? pane.colours.dim(`  and ${countOf(more, "project", "projects")} more\n`) : "";
  return drawBars({ title: "By project", bars: rows.slice(0, PROJECTS_SHOWN) }, pane) + note;
}

function minute(time: string): string {
  return shortTime(time, { year: true });
}

function sizeOf(stats: Stats, name: string): string {
  const own = stats.files.filter(({ file }) => file.startsWith(name));
  return formatBytes(own.reduce((sum, { bytes }) => sum + bytes, 0));
}
