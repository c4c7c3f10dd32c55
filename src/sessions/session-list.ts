// Sessions from their documents: a single one, and the list, which stays stable while entries arrive.

import type { DocumentQuery, EntryIndex, IndexDocument } from "../index/port.js";
import { documentToSession, labelsOf, SESSIONS, type SessionFilter, type SessionRow } from "../index/session-fold.js";
import { jsonBytesAtMost } from "../model/json-size.js";
import { limits } from "../model/limits.js";

/** A session at its place in the list: the one it had at the first page. */
interface ListedSession {
  readonly last_ms: number;
  readonly position: number;
  readonly session: SessionRow;
}

/** How far a list was read: after this place, in the state when `as_of` was the newest position. */
export interface SessionsReached {
  readonly last_ms: number;
  readonly position: number;
  readonly as_of: number;
}

export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /** Whether it ended early, because the next session would have made it too large. */
  readonly is_cut: boolean;
  /** The newest position there was at the first page. */
  readonly as_of: number;
}

/** A session's metadata may be as large as an entry: few are read at first, more where they are small. */
const READ_FIRST = 8;
const READ_GROWTH = 4;
/** Sessions that changed since the first page are read in batches of this size. */
const CHANGED_AT_ONCE = 32;

export async function getSession(
  index: Pick<EntryIndex, "getDocuments">,
  session_id: string,
): Promise<SessionRow | undefined> {
  const [document] = await index.getDocuments({ collection: SESSIONS, keys: [session_id] });
  return document === undefined ? undefined : documentToSession(document);
}

/**
 * Sessions by the latest time of their entries, then by their newest position, both descending. Entries that arrive
 * after the first page move no session to another page, so each is returned exactly once.
 */
export async function listSessions(
  index: EntryIndex,
  query: { readonly filter: SessionFilter; readonly after?: SessionsReached; readonly limit: number },
): Promise<SessionPage> {
  const { filter, after, limit } = query;
  const labels = labelsOf(filter);
  // Read first: what arrives between this and the queries below has changed since.
  const as_of = after?.as_of ?? (await index.checkpoint());
  const beyond = after === undefined ? {} : { beyond: { sort: after.last_ms, position: after.position } };
  const newest = { collection: SESSIONS, order: "desc", labels, limit, ...beyond } as const;
  // In this order: what changes between the queries is found by the last one.
  let page = await readDocuments(index, { ...newest, through: as_of });
  for await (const changed of changedSince(index, labels, as_of)) {
    const end = page.is_cut ? page.sessions.at(-1) : undefined;
    const wanted = changed.filter(
      (one) => (after === undefined || newestFirst(after, one) < 0) && (end === undefined || newestFirst(one, end) < 0),
    );
    if (wanted.length > 0) page = withinBytes(newestOf([...page.sessions, ...wanted], limit), page.is_cut);
  }
  return { ...page, as_of };
}

type Listed = Pick<SessionPage, "sessions" | "is_cut">;

/** Documents in order, until they are as many as asked for, or too large. */
async function readDocuments(index: EntryIndex, query: DocumentQuery): Promise<Listed> {
  let page: Listed = { sessions: [], is_cut: false };
  let { beyond } = query;
  for (let size = READ_FIRST; !page.is_cut; size *= READ_GROWTH) {
    const limit = Math.min(size, query.limit - page.sessions.length);
    const documents = await index.listDocuments({ ...query, limit, ...(beyond === undefined ? {} : { beyond }) });
    page = withinBytes([...page.sessions, ...documents.map(whereItStands)], false);
    const last = documents.at(-1);
    if (last === undefined || documents.length < limit || page.sessions.length >= query.limit) break;
    beyond = { sort: last.sort, position: last.position, key: last.key };
  }
  return page;
}

/** The first sessions that fit on a page, at least one. */
function withinBytes(sessions: readonly ListedSession[], wasCut: boolean): Listed {
  let bytes = 0;
  const end = sessions.findIndex(({ session }, at) => {
    bytes += jsonBytesAtMost(session);
    return at > 0 && bytes > limits.page_bytes;
  });
  return end === -1 ? { sessions, is_cut: wasCut } : { sessions: sessions.slice(0, end), is_cut: true };
}

/** Sessions with entries after `as_of`, at their place then; later ones had none. */
async function* changedSince(
  index: EntryIndex,
  labels: readonly string[],
  as_of: number,
): AsyncGenerator<readonly ListedSession[], void> {
  let beyond: { readonly position: number; readonly key?: string } = { position: as_of };
  for (;;) {
    const documents = await index.changedDocuments({ collection: SESSIONS, labels, beyond, limit: CHANGED_AT_ONCE });
    if (documents.length === 0) return;
    const byId = new Map(documents.map((document) => [document.key, document]));
    const places = await index.sessionPlaces({ session_ids: [...byId.keys()], through: as_of });
    yield places.map(({ session_id, last_ms, position }) => ({
      last_ms,
      position,
      session: documentToSession(byId.get(session_id) as IndexDocument),
    }));
    if (documents.length < CHANGED_AT_ONCE) return;
    beyond = documents.at(-1) as IndexDocument;
  }
}

function newestOf(listed: readonly ListedSession[], limit: number): ListedSession[] {
  const byId = new Map(listed.map((one) => [one.session.session_id, one]));
  return [...byId.values()].sort(newestFirst).slice(0, limit);
}

type Place = Pick<ListedSession, "last_ms" | "position">;

function newestFirst(left: Place, right: Place): number {
  return right.last_ms - left.last_ms || right.position - left.position;
}

function whereItStands(document: IndexDocument): ListedSession {
  return { last_ms: document.sort, position: document.position, session: documentToSession(document) };
}
