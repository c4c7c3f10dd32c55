// Sessions summed up from rows, the plain way: what the other engines keep up to date must equal this.
import type { EntryRow, SessionRow } from "../../ports/entry-index.js";

export function summariseSession(session_id: string, rows: readonly EntryRow[]): SessionRow {
  const times = rows.map((row) => row.created_ms).sort((left, right) => left - right);
  const byKind: { [kind: string]: number } = {};
  for (const row of rows) byKind[row.kind] = (byKind[row.kind] ?? 0) + 1;
  const infos = rows.flatMap((row) => row.info ?? []);
  return {
    session_id,
    title: infos.findLast((info) => info.title !== undefined)?.title ?? "",
    parent: infos.findLast((info) => info.parent !== undefined)?.parent ?? "",
    metadata: Object.fromEntries(infos.flatMap((info) => Object.entries(info.metadata ?? {}))),
    first_ms: times[0] as number,
    last_ms: times.at(-1) as number,
    projects: distinct(rows.map((row) => row.project)),
    clients: distinct(rows.map((row) => row.client)),
    entries: rows.length,
    by_kind: byKind,
    consolidated_through: Math.max(0, ...rows.map((row) => row.through ?? 0)),
    cleared_through: rows.findLast((row) => row.kind === "clear")?.position ?? 0,
    last_position: (rows.at(-1) as EntryRow).position,
  };
}

function distinct(labels: readonly string[]): readonly string[] {
  return [...new Set(labels.filter((label) => label !== ""))];
}
