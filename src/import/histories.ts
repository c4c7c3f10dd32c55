// The histories of agents on this machine: how many sessions, how old, and what their tool is about to delete. Files are listed,
// never read.
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isJsonObject } from "../model/json.js";
import { type KnownPlace, knownPlaces } from "./places.js";
import { nameIn, seeFiles } from "./watch/seen-files.js";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Claude Code deletes transcripts that were not written to for this long, unless its settings say otherwise. */
const CLEANUP_DAYS = 30;
/** What goes within this time is due. */
const DUE_DAYS = 7;
/** Larger settings are not read. */
const SETTINGS_BYTES_MAX = 1024 * 1024;
/** Transcripts of subagents and other parts of a session. */
const PART = /\/subagents\//;

export interface AgentHistory {
  readonly tool: string;
  /** Its folders that have something in them. */
  readonly places: readonly string[];
  /** Files with a session each; 0 where sessions are in a database. */
  readonly sessions: number;
  readonly oldest_ms: number;
  readonly newest_ms: number;
  /** Where the tool deletes sessions by itself. */
  readonly cleanup?: { readonly after_days: number; readonly due: readonly DueSession[] };
}

/** A session that its tool deletes soon. */
interface DueSession {
  readonly path: string;
  /** By the name of its file. */
  readonly session_id: string;
  readonly due_ms: number;
}

/** In the order of the table of places. */
export async function agentHistories(
  nowMs: number,
  places: readonly KnownPlace[] = knownPlaces(),
): Promise<readonly AgentHistory[]> {
  const byTool = new Map<
    string,
    { places: Set<string>; files: { path: string; modified_ms: number }[]; others: number[] }
  >();
  const known = new Set<string>();
  for (const place of places) {
    for await (const { path, key, modified_ms } of seeFiles(place, () => undefined)) {
      // Two paths of the same file count once.
      if (known.has(key)) continue;
      known.add(key);
      const found = byTool.get(place.tool) ?? { places: new Set<string>(), files: [], others: [] };
      byTool.set(place.tool, found);
      found.places.add(place.path);
      const name = nameIn(place, path);
      if (place.isSession(name) && !PART.test(`/${name}`)) found.files.push({ path, modified_ms });
      else found.others.push(modified_ms);
    }
  }
  return [...byTool].map(([tool, { places, files, others }]) => {
    const times = files.length > 0 ? files.map(({ modified_ms }) => modified_ms) : others;
    const [oldest_ms, newest_ms] = times.reduce(([from, to], ms) => [Math.min(from, ms), Math.max(to, ms)], [nowMs, 0]);
    const about = {
      tool,
      places: [...places],
      sessions: files.length,
      oldest_ms: oldest_ms as number,
      newest_ms: newest_ms as number,
    };
    return tool === "claude-code" ? { ...about, cleanup: cleanupOf([...places], files, nowMs) } : about;
  });
}

function cleanupOf(
  places: readonly string[],
  files: readonly { readonly path: string; readonly modified_ms: number }[],
  nowMs: number,
): NonNullable<AgentHistory["cleanup"]> {
  const after_days = cleanupDays(places.map((path) => join(dirname(path), "settings.json")));
  const due = files
    .map(({ path, modified_ms }) => ({ path, session_id: stemOf(path), due_ms: modified_ms + after_days * DAY_MS }))
    .filter(({ due_ms }) => due_ms - nowMs <= DUE_DAYS * DAY_MS)
    .sort((a, b) => a.due_ms - b.due_ms);
  return { after_days, due };
}

/** As the tool's own settings say; 0 is refused by it. */
function cleanupDays(paths: readonly string[]): number {
  for (const path of paths) {
    try {
      if (statSync(path).size > SETTINGS_BYTES_MAX) continue;
      const settings: unknown = JSON.parse(readFileSync(path, "utf8"));
      const days = isJsonObject(settings) ? settings.cleanupPeriodDays : undefined;
      if (typeof days === "number" && days >= 1) return Math.floor(days);
    } catch {
      // Without settings, or with ones that it could not read either, it does what it does by default.
    }
  }
  return CLEANUP_DAYS;
}

function stemOf(path: string): string {
  return path.replace(/^.*[\\/]/, "").replace(/\.jsonl$/, "");
}
