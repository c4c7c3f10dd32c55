// Sessions from their documents: one of them, and the list that holds still while entries arrive.
import {
  documentToSession,
  labelsOf,
  SESSIONS,
  type SessionFilter,
  type SessionRow,
} from "../indexing/session-fold.js";
import type { EntryIndex, IndexDocument } from "../ports/entry-index.js";

/** A session at the place where it stands in the list: its newest position as things were at the first page. */
interface ListedSession {
  readonly position: number;
  readonly session: SessionRow;
}

export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /** The newest position there was at the first page. */
  readonly as_of: number;
}

/** Sessions that changed since the first page are looked through so many at a time. */
const CHANGED_AT_ONCE = 500;

export async function getSession(index: EntryIndex, session_id: string): Promise<SessionRow | undefined> {
  const [document] = await index.getDocuments({ collection: SESSIONS, keys: [session_id] });
  return document === undefined ? undefined : documentToSession(document);
}

/**
 * Sessions by their newest position, the highest first. What arrives after the first page moves no session across a page,
 * so that each is reached exactly once.
 */
export async function listSessions(
  index: EntryIndex,
  query: {
    readonly filter: SessionFilter;
    readonly after?: { readonly position: number; readonly as_of: number };
    readonly limit: number;
  },
): Promise<SessionPage> {
  const { filter, after, limit } = query;
  const labels = labelsOf(filter);
  const newest = { collection: SESSIONS, order: "desc", labels, limit } as const;
  if (after === undefined) {
    const documents = await index.listDocuments(newest);
    return { sessions: documents.map(atItsSort), as_of: documents[0]?.sort ?? 0 };
  }
  const { position: before, as_of } = after;
  // In this order: what changes between the two questions is met by both and not by neither.
  const unchanged = await index.listDocuments({ ...newest, beyond: { sort: Math.min(before, as_of + 1) } });
  let sessions: readonly ListedSession[] = unchanged.map(atItsSort);
  for await (const changed of changedSince(index, labels, as_of)) {
    sessions = newestOf([...sessions, ...changed.filter(({ position }) => position < before)], limit);
  }
  return { sessions, as_of };
}

/** Sessions with entries after `as_of`, at their newest position up to there; those that began later have none. */
async function* changedSince(
  index: EntryIndex,
  labels: readonly string[],
  as_of: number,
): AsyncGenerator<readonly ListedSession[], void> {
  let beyond: { readonly sort: number; readonly key?: string } = { sort: as_of };
  for (;;) {
    const page = { collection: SESSIONS, order: "asc", labels, beyond, limit: CHANGED_AT_ONCE } as const;
    const documents = await index.listDocuments(page);
    const byId = new Map(documents.map((document) => [document.key, document]));
    const places = await index.newestPositions({ session_ids: [...byId.keys()], through: as_of });
    yield places.map(({ session_id, position }) => ({
      position,
      session: documentToSession(byId.get(session_id) as IndexDocument),
    }));
    const last = documents.at(-1);
    if (last === undefined || documents.length < CHANGED_AT_ONCE) return;
    beyond = last;
  }
}

function newestOf(listed: readonly ListedSession[], limit: number): readonly ListedSession[] {
  const byId = new Map(listed.map((one) => [one.session.session_id, one]));
  return [...byId.values()].sort((left, right) => right.position - left.position).slice(0, limit);
}

function atItsSort(document: IndexDocument): ListedSession {
  return { position: document.sort, session: documentToSession(document) };
}
