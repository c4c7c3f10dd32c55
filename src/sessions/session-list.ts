// Sessions from their documents: a single one, and the list, which stays stable while entries arrive.

import type { EntryIndex, IndexDocument } from "../index/port.js";
import { documentToSession, labelsOf, SESSIONS, type SessionFilter, type SessionRow } from "../index/session-fold.js";

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
  /** The newest position there was at the first page. */
  readonly as_of: number;
}

/** Sessions that changed since the first page are read in batches of this size. */
const CHANGED_AT_ONCE = 500;

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
  if (after === undefined) {
    const page = await index.listDocuments(newest);
    // Sessions that changed meanwhile moved up, to the first page.
    if (page.every(({ position }) => position <= as_of)) return { sessions: page.map(whereItStands), as_of };
  }
  // In this order: what changes between the two queries is found by both, not by neither.
  let sessions = (await index.listDocuments({ ...newest, through: as_of })).map(whereItStands);
  for await (const changed of changedSince(index, labels, as_of)) {
    const below = changed.filter((one) => after === undefined || newestFirst(after, one) < 0);
    if (below.length > 0) sessions = newestOf([...sessions, ...below], limit);
  }
  return { sessions, as_of };
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
