// Sessions as they are read: summaries, timelines and the list of them.

import type { SessionRange } from "../index/port.js";
import { metadataOf, type SessionRow } from "../index/session-fold.js";
import type { SessionTable } from "../index/session-table.js";
import { itemAt } from "../model/item-at.js";
import type { JsonObject } from "../model/json.js";
import { jsonBytesAtMost } from "../model/json-size.js";
import { limits } from "../model/limits.js";
import { formatCursor } from "../search/cursor.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import type { ReadingParts } from "../search/lists/reader.js";
import type { CallLedger, UsageSums } from "../usage/call-ledger.js";
import type { FileList, FilesQuery } from "./file-list.js";
import { outlineOf } from "./outline.js";
import { listFiles } from "./session-files.js";
import { getSession, getSessions, SessionLists, type SpentBy } from "./session-list.js";
import type { SessionOutline } from "./session-outline.js";
import type { SessionListQuery, TimelineQuery } from "./session-query.js";
import type { SessionList, SessionSummary, Timeline } from "./session-summary.js";
import type { SessionTree } from "./session-tree.js";
import { toSummary } from "./summarise.js";
import { treeOf } from "./tree.js";

/** For this many sessions it is cached that nothing is masked. */
const CLEAN_MAX = 10_000;
/** Metadata may be as large as an entry: few are read at first, more where they are small. */
const READ_FIRST = 8;
const READ_GROWTH = 4;

export interface SessionParts extends ReadingParts {
  readonly table: SessionTable;
  readonly ledger: CallLedger;
}

export class SessionReader {
  readonly #parts: SessionParts;
  readonly #entries: EntryReader;
  readonly #lists: SessionLists;
  /** Sessions without secrets, by a value that changes whenever they do. */
  readonly #clean = new Map<string, Pick<SessionRow, "last_position" | "entries">>();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
    this.#lists = new SessionLists(parts);
  }

  async summary(session_id: string, now_ms: number): Promise<SessionSummary | undefined> {
    const found = await this.#recorded(session_id, now_ms);
    return found === undefined ? undefined : this.#shown(found.row, found.summary);
  }

  /** The unmasked summary, for exports of the record itself. */
  async recordedSummary(session_id: string): Promise<SessionSummary | undefined> {
    return (await this.#recorded(session_id, Number.MAX_SAFE_INTEGER))?.summary;
  }

  async #recorded(session_id: string, now_ms: number) {
    const { index, table } = this.#parts;
    const row = await getSession(index, session_id);
    if (row === undefined) return undefined;
    await table.refresh();
    const metadata = await metadataOf(index, [session_id]);
    return { row, summary: this.#summarised(row, { metadata, spent: await this.#parts.ledger.bySession(), now_ms }) };
  }

  async outline(session_id: string): Promise<SessionOutline | undefined> {
    return outlineOf(this.#parts, session_id);
  }

  async tree(session_id: string): Promise<SessionTree | undefined> {
    return treeOf(this.#parts, session_id);
  }

  async files(query: FilesQuery): Promise<FileList> {
    return query.limit === 0 ? { files: [], next_cursor: null } : listFiles(this.#parts, query);
  }

  /** The list stays as it was at its first page, whatever arrives meanwhile. */
  async list(query: SessionListQuery): Promise<SessionList> {
    if (query.limit === 0) return { sessions: [], next_cursor: null };
    const spent = await this.#parts.ledger.bySession();
    const wanted = { ...query, limit: query.limit + 1 };
    const { sessions: found, as_of } = await this.#lists.list(wanted, this.#spentBy(spent));
    const ids = found.slice(0, query.limit).map(({ session_id }) => session_id);
    const { summaries, used } = await this.#page(ids, { spent, now_ms: query.now_ms });
    const last = found[used - 1];
    const isMore = last !== undefined && used < found.length;
    return {
      sessions: summaries,
      next_cursor: isMore ? formatCursor(query.fingerprint, [last.at, last.position, as_of]) : null,
    };
  }

  /** Until the page would be too large; at least one. */
  async #page(
    ids: readonly string[],
    { spent, now_ms }: { readonly spent: ReadonlyMap<string, UsageSums>; readonly now_ms: number },
  ): Promise<{ readonly summaries: readonly SessionSummary[]; readonly used: number }> {
    const { index } = this.#parts;
    const rows = await getSessions(index, ids);
    const summaries: SessionSummary[] = [];
    let bytes = 0;
    for (let at = 0, size = READ_FIRST; at < ids.length; at += size, size *= READ_GROWTH) {
      const next = ids.slice(at, at + size);
      const metadata = await metadataOf(index, next);
      for (const [nth, id] of next.entries()) {
        const row = rows.get(id);
        if (row === undefined) continue;
        const summary = this.#shown(row, this.#summarised(row, { metadata, spent, now_ms }));
        bytes += jsonBytesAtMost(summary);
        if (summaries.length > 0 && bytes > limits.page_bytes) return { summaries, used: at + nth };
        summaries.push(summary);
      }
    }
    return { summaries, used: ids.length };
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

  #summarised(
    row: SessionRow,
    facts: {
      readonly metadata: ReadonlyMap<string, JsonObject>;
      readonly spent: ReadonlyMap<string, UsageSums>;
      readonly now_ms: number;
    },
  ): SessionSummary {
    const { table } = this.#parts;
    const { session_id } = row;
    const cost_total = costOf(table.treeOf(session_id), facts.spent);
    return toSummary(row, {
      metadata: facts.metadata.get(session_id) ?? {},
      project: table.projectOf(session_id),
      children: table.childrenOf(session_id).length,
      usage: facts.spent.get(session_id),
      cost_total,
      now_ms: facts.now_ms,
    });
  }

  /** A session's own tokens, and its cost with all sessions below it. */
  #spentBy(spent: ReadonlyMap<string, UsageSums>): SpentBy {
    const { table } = this.#parts;
    return {
      tokens: (session_id) => {
        const { input_tokens = 0, output_tokens = 0 } = spent.get(session_id) ?? {};
        return input_tokens + output_tokens;
      },
      cost: (session_id) => costOf(table.treeOf(session_id), spent) ?? 0,
    };
  }

  /** Masked, as lists show it. */
  #shown(row: SessionRow, summary: SessionSummary): SessionSummary {
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

/** Undefined where no price is known. */
function costOf(session_ids: readonly string[], spent: ReadonlyMap<string, UsageSums>): number | undefined {
  let total: number | undefined;
  for (const id of session_ids) {
    const cost = spent.get(id)?.cost;
    if (cost !== undefined) total = (total ?? 0) + cost;
  }
  return total;
}
