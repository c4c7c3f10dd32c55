// Entries selected by reading the log itself, for whoever may pass over none: an index can lack a row, or have another one.

import type { EntryIndex } from "../index/port.js";
import { type FilteredRow, rowMatches } from "../index/row-filter.js";
import type { LogFilter, LogSelection } from "../log/forgetting/log-lookups.js";
import type { EntryLog, StoredBody } from "../log/port.js";
import { walkBodies } from "../log/walk-log.js";
import { parseJsonObject } from "../model/json.js";
import { parseTime } from "../model/time.js";

/**
 * In order. What was erased is left out. An altered entry does not say any more whose it is: it is selected by the row that the
 * index made of it before, if it has one.
 */
export async function selectFromLog(
  log: Pick<EntryLog, "readBodies">,
  { filter, after, through }: LogSelection,
  rowsAt: EntryIndex["rowsAt"] = async () => [],
): Promise<readonly number[]> {
  const { kinds, session_id, project } = filter;
  const texts = [session_id, project].filter((label) => label !== undefined);
  const positions: number[] = [];
  const altered: number[] = [];
  for await (const batch of walkBodies(log, { after, through })) {
    for (const { position, kind, recorded_at, body = "", flaw } of batch) {
      if (flaw !== undefined) altered.push(position);
      if (kinds !== undefined && !kinds.includes(kind)) continue;
      if (!texts.every((text) => mayHold(body, text))) continue;
      if (isSelected({ kind, recorded_at, body }, filter)) positions.push(position);
    }
  }
  if (altered.length === 0) return positions;
  const kept = (await rowsAt(altered)).filter((row) => rowMatches(row, filter)).map(({ position }) => position);
  return [...positions, ...kept].sort((left, right) => left - right);
}

/** JSON has only these ways to write a text other than the usual one. Parsing takes many times as long as looking. */
function mayHold(json: string, text: string): boolean {
  return json.includes(JSON.stringify(text)) || json.includes("\\u") || json.includes("\\/");
}

function isSelected(
  { kind, recorded_at, body: json }: Pick<StoredBody, "kind" | "recorded_at"> & { readonly body: string },
  filter: LogFilter,
): boolean {
  const body = parseJsonObject(json);
  // A damaged body does not say whose it is; `verify` names it, and it is forgotten by its position.
  if (body === undefined) return false;
  const { session_id, project, created_at = recorded_at } = body as { readonly [name: string]: string | undefined };
  const created_ms = typeof created_at === "string" ? parseTime(created_at) : undefined;
  return rowMatches({ kind, session_id, project, created_ms } as FilteredRow<keyof LogFilter>, filter);
}
