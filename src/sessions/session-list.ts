// Sessions from their documents: a single one, and lists of them, filtered and sorted, which stay as they were at their first page.

import type { EntryIndex } from "../index/port.js";
import { labelsIn } from "../index/row-filter.js";
import { documentToSession, SESSIONS, type SessionRow } from "../index/session-fold.js";
import type { SessionTable, TableSession } from "../index/session-table.js";
import { normalise } from "../model/normalise.js";
import type { SessionFilter, SessionSort, SessionsWanted } from "./session-query.js";

export async function getSession(
  index: Pick<EntryIndex, "getDocuments">,
  session_id: string,
): Promise<SessionRow | undefined> {
  return (await getSessions(index, [session_id])).get(session_id);
}

/** Those that are there, by their ids. */
export async function getSessions(
  index: Pick<EntryIndex, "getDocuments">,
  session_ids: readonly string[],
): Promise<ReadonlyMap<string, SessionRow>> {
  if (session_ids.length === 0) return new Map();
  const documents = await index.getDocuments({ collection: SESSIONS, keys: session_ids });
  return new Map(documents.map((document) => [document.key, documentToSession(document)]));
}

/** How far a list was read: after this place, in the state when `as_of` was the newest position. */
export interface SessionsReached {
  /** By time: the session's time. Otherwise how many were listed. */
  readonly at: number;
  /** By time: the session's newest position, or its oldest. Otherwise its oldest. */
  readonly position: number;
  readonly as_of: number;
}

/** A session at its place in the list. */
export interface ListedSession extends Pick<SessionsReached, "at" | "position"> {
  readonly session_id: string;
}

export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /** The newest position there was at the first page. */
  readonly as_of: number;
}

/** What a session is sorted by that only calls know. */
export interface SpentBy {
  readonly tokens: (session_id: string) => number;
  readonly cost: (session_id: string) => number;
}

/** Orders that lists are read in, page by page; more are computed again. */
const ORDERS_MAX = 16;
/** Sessions that changed since the first page are looked up in batches of this size. */
const CHANGED_AT_ONCE = 500;

export class SessionLists {
  readonly #index: Pick<EntryIndex, "checkpoint" | "sessionPlaces">;
  readonly #table: SessionTable;
  /** Ids in the order of the first page, by the list and its moment. */
  readonly #orders = new Map<string, readonly TableSession[]>();

  constructor(parts: {
    readonly index: Pick<EntryIndex, "checkpoint" | "sessionPlaces">;
    readonly table: SessionTable;
  }) {
    this.#index = parts.index;
    this.#table = parts.table;
  }

  /** Entries that arrive after the first page move no session to another page, so each is returned exactly once. */
  async list(wanted: SessionsWanted, spent: SpentBy): Promise<SessionPage> {
    const { filter, after, sort } = wanted;
    // Read first: what arrives between this and the reading below has changed since.
    const as_of = after?.as_of ?? (await this.#index.checkpoint());
    await this.#table.refresh();
    const passes = passing(filter, this.#table);
    if (sort === "last" || sort === "first") {
      const found: TableSession[] = [];
      for (const one of this.#table.all()) if (one.first_position <= as_of && passes(one)) found.push(one);
      const places = sort === "first" ? found.map(firstPlace) : await this.#lastPlaces(found, as_of);
      return { sessions: pageByTime(places, wanted), as_of };
    }
    return { sessions: this.#pageByValue(wanted, { as_of, passes, spent }), as_of };
  }

  /** Where sessions stood when `as_of` was the newest position. */
  async #lastPlaces(sessions: readonly TableSession[], as_of: number): Promise<readonly ListedSession[]> {
    const changed = sessions.filter(({ last_position }) => last_position > as_of).map(({ session_id }) => session_id);
    const then = new Map<string, ListedSession>();
    for (let at = 0; at < changed.length; at += CHANGED_AT_ONCE) {
      const session_ids = changed.slice(at, at + CHANGED_AT_ONCE);
      for (const place of await this.#index.sessionPlaces({ session_ids, through: as_of })) {
        then.set(place.session_id, { session_id: place.session_id, at: place.last_ms, position: place.position });
      }
    }
    return sessions.flatMap((one) => {
      if (one.last_position > as_of) return then.get(one.session_id) ?? [];
      return { session_id: one.session_id, at: one.last_ms, position: one.last_position };
    });
  }

  /** Values change while a list is read, so its order is kept. */
  #pageByValue(
    { sort, order, after, limit, fingerprint }: SessionsWanted,
    how: { readonly as_of: number; readonly passes: (session: TableSession) => boolean; readonly spent: SpentBy },
  ): readonly ListedSession[] {
    const name = `${fingerprint} ${how.as_of}`;
    let sessions = after === undefined ? undefined : this.#orders.get(name);
    let start = after?.at ?? 0;
    if (sessions === undefined) {
      const found: TableSession[] = [];
      for (const one of this.#table.all()) if (one.first_position <= how.as_of && how.passes(one)) found.push(one);
      sessions = sorted(found, sortValue(sort, { table: this.#table, spent: how.spent }), order);
      this.#keep(name, sessions);
      // Another process made the cursor, or it is from before a restart.
      const last = after === undefined ? -1 : sessions.findIndex((one) => one.first_position === after.position);
      if (after !== undefined && last !== -1) start = last + 1;
    }
    return sessions
      .slice(start, start + limit)
      .map(({ session_id, first_position }, nth) => ({ session_id, at: start + nth + 1, position: first_position }));
  }

  #keep(name: string, sessions: readonly TableSession[]): void {
    this.#orders.delete(name);
    this.#orders.set(name, sessions);
    for (const oldest of this.#orders.keys()) {
      if (this.#orders.size <= ORDERS_MAX) break;
      this.#orders.delete(oldest);
    }
  }
}

function firstPlace({ session_id, first_ms, first_position }: TableSession): ListedSession {
  return { session_id, at: first_ms, position: first_position };
}

/** By time, then by position. */
function pageByTime(
  places: readonly ListedSession[],
  { after, order, limit }: SessionsWanted,
): readonly ListedSession[] {
  const direction = order === "desc" ? -1 : 1;
  const compare = (left: Pick<ListedSession, "at" | "position">, right: typeof left): number =>
    direction * (left.at - right.at || left.position - right.position);
  const rest = after === undefined ? places : places.filter((place) => compare(after, place) < 0);
  return [...rest].sort(compare).slice(0, limit);
}

type Value = number | string;

function sortValue(
  sort: SessionSort,
  { table, spent }: { readonly table: SessionTable; readonly spent: SpentBy },
): (session: TableSession) => Value {
  switch (sort) {
    case "title":
      return (session) => normalise(session.title || session.first_prompt);
    case "project":
      return ({ session_id }) => normalise(table.projectOf(session_id));
    case "client":
      return ({ clients }) => normalise(clients[0] ?? "");
    case "length":
      return ({ active_ms }) => active_ms;
    case "tokens":
      return ({ session_id }) => spent.tokens(session_id);
    case "cost":
      return ({ session_id }) => spent.cost(session_id);
    case "last":
      return ({ last_ms }) => last_ms;
    case "first":
      return ({ first_ms }) => first_ms;
    default:
      return (session) => session[sort];
  }
}

/** What is equal is in the order in which it began, the latest first. */
function sorted(
  sessions: readonly TableSession[],
  value: (session: TableSession) => Value,
  order: "asc" | "desc",
): readonly TableSession[] {
  const direction = order === "desc" ? -1 : 1;
  const valued = sessions.map((session) => ({ session, value: value(session) }));
  valued.sort((left, right) => {
    const difference = left.value === right.value ? 0 : left.value < right.value ? -1 : 1;
    return direction * difference || right.session.first_position - left.session.first_position;
  });
  return valued.map(({ session }) => session);
}

function passing(filter: SessionFilter, table: SessionTable): (session: TableSession) => boolean {
  const { project, client, user_id, tag, id_prefix = "", since_ms = -Infinity, until_ms = Infinity, parent } = filter;
  const title = filter.title === undefined ? undefined : normalise(filter.title);
  return (one) => {
    if (!one.session_id.startsWith(id_prefix)) return false;
    if (one.last_ms < since_ms || one.first_ms > until_ms) return false;
    if (project !== undefined && !isOfProject(one, project, table)) return false;
    if (client !== undefined && !isOfClient(one, client)) return false;
    if (user_id !== undefined && !isAmong(one.users, user_id)) return false;
    if (tag !== undefined && !isAmong(one.tags, tag)) return false;
    // A parent that was never recorded leaves its children at the top.
    if (
      parent !== undefined &&
      (parent === "" ? table.rootOf(one.session_id) !== one.session_id : one.parent !== parent)
    )
      return false;
    return title === undefined || [one.title, one.first_prompt].some((text) => normalise(text).includes(title));
  };
}

/** Of one of these projects; `""` stands for none. */
export function isOfProject(one: TableSession, asked: string | readonly string[], table: SessionTable): boolean {
  return labelsIn(asked).some((project) => {
    if (project === "") return one.lacks.project;
    return one.projects.includes(project) || table.projectOf(one.session_id) === project;
  });
}

/** Likewise of one of these clients. */
export function isOfClient(one: TableSession, asked: string | readonly string[]): boolean {
  return labelsIn(asked).some((client) => (client === "" ? one.lacks.client : one.clients.includes(client)));
}

function isAmong(names: readonly string[], asked: string): boolean {
  return asked === "" ? names.length === 0 : names.includes(asked);
}
