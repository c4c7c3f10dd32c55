// Files that tool calls read or changed, over all sessions or one: from the pieces of outlines, without the entries.

import { allPieces, type OutlinePiece, piecesOf } from "../index/outline-fold.js";
import { relativeTo } from "../index/session-fold.js";
import type { SessionTable, TableSession } from "../index/session-table.js";
import { TimeSlice } from "../model/scheduling.js";
import { formatTime } from "../model/time.js";
import { formatCursor } from "../search/cursor.js";
import type { FileList, FilesQuery } from "./file-list.js";
import { isOfClient, isOfProject } from "./session-list.js";
import type { SessionParts } from "./session-reader.js";

/** Sessions that a file names; all are counted. */
const SESSIONS_MAX = 20;

interface FileSums {
  readonly project: string;
  readonly path: string;
  reads: number;
  writes: number;
  last_position: number;
  last_ms: number;
  readonly sessions: Map<string, number>;
}

/** The file that was touched last comes first. */
export async function listFiles(parts: SessionParts, query: FilesQuery): Promise<FileList> {
  const { index, table, mask } = parts;
  const as_of = query.after?.as_of ?? (await index.checkpoint());
  await table.refresh();
  const sums = new Map<string, FileSums>();
  const slice = new TimeSlice();
  for await (const [session_id, piece] of piecesIn(parts, query)) {
    const session = table.get(session_id);
    if (session === undefined || !isAsked(session, query, table)) continue;
    addFiles(sums, { session, piece, table, query, as_of });
    if (slice.isOver) await slice.next();
  }
  const beyond = query.after?.position ?? Number.POSITIVE_INFINITY;
  const found = [...sums.values()]
    .sort((left, right) => right.last_position - left.last_position || (left.path < right.path ? -1 : 1))
    .filter((file) => file.last_position < beyond);
  // A patch may touch several at once: they stay on one page.
  const end = found.findIndex((file, at) => at >= query.limit && file.last_position !== found[at - 1]?.last_position);
  const shown = end === -1 ? found : found.slice(0, end);
  const last = shown.at(-1);
  const isMore = last !== undefined && found.length > shown.length;
  return {
    files: shown.map(({ project, path, reads, writes, last_position, last_ms, sessions }) => ({
      path: mask.text(path),
      project: mask.text(project),
      reads,
      writes,
      last_position,
      last_at: formatTime(last_ms),
      sessions: [...sessions]
        .sort(([, left], [, right]) => right - left)
        .slice(0, SESSIONS_MAX)
        .map(([session_id]) => ({
          session_id,
          title: mask.text(table.get(session_id)?.title || (table.get(session_id)?.first_prompt ?? "")),
        })),
      sessions_count: sessions.size,
    })),
    next_cursor: isMore ? formatCursor(query.fingerprint, [last.last_position, as_of]) : null,
  };
}

async function* piecesIn(
  { index }: SessionParts,
  { filter }: FilesQuery,
): AsyncGenerator<readonly [session_id: string, piece: OutlinePiece]> {
  const { session_id } = filter;
  if (session_id !== undefined && session_id !== "") {
    for await (const piece of piecesOf(index, session_id)) yield [session_id, piece];
  } else {
    for await (const page of allPieces(index)) yield* page;
  }
}

function isAsked(session: TableSession, { filter }: FilesQuery, table: SessionTable): boolean {
  const { project, client } = filter;
  if (client !== undefined && !isOfClient(session, client)) return false;
  return project === undefined || isOfProject(session, project, table);
}

function addFiles(
  sums: Map<string, FileSums>,
  from: {
    readonly session: TableSession;
    readonly piece: OutlinePiece;
    readonly table: SessionTable;
    readonly query: FilesQuery;
    readonly as_of: number;
  },
): void {
  const { session, piece, table, query, as_of } = from;
  const { since_ms = Number.NEGATIVE_INFINITY, until_ms = Number.POSITIVE_INFINITY } = query.filter;
  const root = table.get(table.rootOf(session.session_id));
  const project = table.projectOf(session.session_id);
  for (const file of piece.files) {
    if (file.last_position > as_of || file.last_ms < since_ms || file.last_ms > until_ms) continue;
    const path = relativeTo(root?.cwd ?? "", relativeTo(session.cwd, file.path));
    if (query.path !== undefined && path !== query.path && !path.endsWith(`/${query.path}`)) continue;
    const key = JSON.stringify([path.startsWith("/") ? "" : project, path]);
    let own = sums.get(key);
    if (own === undefined) {
      own = { project, path, reads: 0, writes: 0, last_position: 0, last_ms: file.last_ms, sessions: new Map() };
      sums.set(key, own);
    }
    own.reads += file.reads;
    own.writes += file.writes;
    own.last_position = Math.max(own.last_position, file.last_position);
    own.last_ms = Math.max(own.last_ms, file.last_ms);
    own.sessions.set(session.session_id, Math.max(own.sessions.get(session.session_id) ?? 0, file.last_position));
  }
}
