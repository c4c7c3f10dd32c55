// Sessions as they are read: summaries, timelines and the list of them.

import type { SessionRange } from "../index/port.js";
import type { SessionRow } from "../index/session-fold.js";
import { itemAt } from "../model/item-at.js";
import { formatTime } from "../model/time.js";
import { formatCursor } from "../search/cursor.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { getSession, listSessions } from "./session-list.js";
import type { SessionListQuery, TimelineQuery } from "./session-query.js";
import type { SessionList, SessionSummary, Timeline } from "./session-summary.js";

/** For this many sessions it is cached that nothing is masked. */
const CLEAN_MAX = 10_000;

export class SessionReader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;
  /** Sessions without secrets, by a value that changes whenever they do. */
  readonly #clean = new Map<string, Pick<SessionRow, "last_position" | "entries">>();

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
  }

  async summary(session_id: string): Promise<SessionSummary | undefined> {
    const row = await getSession(this.#parts.index, session_id);
    return row === undefined ? undefined : this.#shown(row);
  }

  /** The unmasked summary, for exports of the record itself. */
  async recordedSummary(session_id: string): Promise<SessionSummary | undefined> {
    const row = await getSession(this.#parts.index, session_id);
    return row === undefined ? undefined : toSummary(row);
  }

  /**
   * The session with the latest entry first. The list stays as it was at its first page, whatever arrives meanwhile.
   */
  async list(query: SessionListQuery): Promise<SessionList> {
    if (query.limit === 0) return { sessions: [], next_cursor: null };
    const { filter, after } = query;
    const wanted = { filter, limit: query.limit + 1, ...(after === undefined ? {} : { after }) };
    const { sessions, as_of, is_cut } = await listSessions(this.#parts.index, wanted);
    const page = sessions.slice(0, query.limit);
    const last = page.at(-1);
    const isMore = last !== undefined && (is_cut || sessions.length > query.limit);
    return {
      sessions: page.map(({ session }) => this.#shown(session)),
      next_cursor: isMore ? formatCursor(query.fingerprint, [last.last_ms, last.position, as_of]) : null,
    };
  }

  /** Positions of the session's entries, for callers that read all of them. */
  async positions(range: SessionRange): Promise<readonly number[]> {
    return this.#parts.index.sessionPositions(range);
  }

  async timeline(query: TimelineQuery): Promise<Timeline> {
    if (query.limit === 0) return { entries: [], next_cursor: null };
    const positions = await this.#parts.index.sessionPositions({
      session_id: query.session_id,
      order: query.order,
      limit: query.limit + 1,
      ...(query.after === undefined ? {} : { after: query.after }),
    });
    const { rows, used } = await this.#entries.page(positions.slice(0, query.limit), { excerpts: query.excerpts });
    const isMore = used > 0 && used < positions.length;
    const next_cursor = isMore ? formatCursor(query.fingerprint, [itemAt(positions, used - 1)]) : null;
    return { entries: rows, next_cursor };
  }

  /** Masked, as lists show it. */
  #shown(row: SessionRow): SessionSummary {
    const summary = toSummary(row);
    const { session_id, last_position, entries } = row;
    const known = this.#clean.get(session_id);
    if (known?.last_position === last_position && known.entries === entries) return summary;
    const masked = this.#parts.mask.entry(summary);
    if (this.#clean.size >= CLEAN_MAX) this.#clean.clear();
    if (masked === summary) this.#clean.set(session_id, { last_position, entries });
    else this.#clean.delete(session_id);
    return masked;
  }
}

function toSummary(row: SessionRow): SessionSummary {
  const count = (kind: string): number => row.by_kind[kind] ?? 0;
  return {
    session_id: row.session_id,
    title: row.title,
    metadata: row.metadata,
    parent: row.parent,
    first_at: formatTime(row.first_ms),
    last_at: formatTime(row.last_ms),
    projects: row.projects,
    clients: row.clients,
    entries: row.entries,
    messages: count("message") - row.injected,
    tool_calls: count("tool_call"),
    errors: count("error"),
    decisions: count("decision"),
    interactions: count("interaction"),
    consolidated_through: row.consolidated_through,
  };
}
