// All sessions in memory, as far as lists filter and sort them: read once, then kept up with the index. So a list is filtered
// and sorted by anything without a look-up per row, and sessions know their children and their parents.

import { erasedThrough } from "./erasures.js";
import type { EntryIndex, IndexDocument, IndexRevision } from "./port.js";
import { documentToSession, SESSIONS, type SessionRow } from "./session-fold.js";

/** What lists need of a session; the rest is read when it is shown. */
export interface TableSession
  extends Pick<
    SessionRow,
    | "session_id"
    | "title"
    | "first_prompt"
    | "parent"
    | "first_ms"
    | "last_ms"
    | "first_position"
    | "last_position"
    | "cwd"
    | "projects"
    | "clients"
    | "users"
    | "tags"
    | "entries"
    | "failures"
    | "turns"
    | "files"
    | "active_ms"
  > {
  /** Whether it has an entry without a project, and without a client. */
  readonly lacks: { readonly project: boolean; readonly client: boolean };
}

type TableIndex = Pick<EntryIndex, "revision" | "listDocuments" | "changedDocuments" | "list">;

/** Documents per page; other work runs in between. */
const PAGE = 500;
/** A chain of parents longer than this is taken for a cycle. */
const PARENTS_MAX = 32;

export class SessionTable {
  readonly #index: TableIndex;
  readonly #byId = new Map<string, TableSession>();
  #childrenById = new Map<string, string[]>();
  #revision: IndexRevision | undefined;
  #erased = 0;
  #refreshing: Promise<void> = Promise.resolve();

  constructor(index: TableIndex) {
    this.#index = index;
  }

  /** Brings it to the index's state. Calls at the same time share the work. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.catch(() => undefined).then(() => this.#refresh());
    return this.#refreshing;
  }

  get(session_id: string): TableSession | undefined {
    return this.#byId.get(session_id);
  }

  all(): Iterable<TableSession> {
    return this.#byId.values();
  }

  /** Ids of the sessions that name this one as their parent, in order of their first entry. */
  childrenOf(session_id: string): readonly string[] {
    return this.#childrenById.get(session_id) ?? [];
  }

  /** The session and everything below it, each once. */
  treeOf(session_id: string): readonly string[] {
    const found = new Set([session_id]);
    for (const id of found) for (const child of this.childrenOf(id)) found.add(child);
    return [...found];
  }

  /** The outermost parent that was recorded; the session itself if it has none. */
  rootOf(session_id: string): string {
    let id = session_id;
    for (let steps = 0; steps < PARENTS_MAX; steps += 1) {
      const parent = this.#byId.get(id)?.parent ?? "";
      if (parent === "" || parent === session_id || !this.#byId.has(parent)) return id;
      id = parent;
    }
    return session_id;
  }

  /** Its project's name: that of its outermost parent, where that has one. */
  projectOf(session_id: string): string {
    return this.#byId.get(this.rootOf(session_id))?.projects[0] ?? this.#byId.get(session_id)?.projects[0] ?? "";
  }

  async #refresh(): Promise<void> {
    const revision = await this.#index.revision();
    const known = this.#revision;
    if (known?.epoch === revision.epoch && known.position === revision.position) return;
    const erased = await erasedThrough(this.#index);
    if (known === undefined || known.epoch !== revision.epoch || erased !== this.#erased) {
      this.#revision = undefined;
      this.#byId.clear();
      await this.#readAll();
    } else await this.#readChanged(known.position);
    this.#childrenById = childrenIn(this.#byId.values());
    this.#revision = revision;
    this.#erased = erased;
  }

  async #readAll(): Promise<void> {
    for (let last: IndexDocument | undefined; ; ) {
      const beyond = last === undefined ? {} : { beyond: { sort: last.sort, position: last.position, key: last.key } };
      const page = await this.#index.listDocuments({ collection: SESSIONS, order: "asc", limit: PAGE, ...beyond });
      for (const document of page) this.#put(document);
      last = page.at(-1);
      if (page.length < PAGE) return;
      await othersFirst();
    }
  }

  async #readChanged(position: number): Promise<void> {
    for (let beyond: { readonly position: number; readonly key?: string } = { position }; ; ) {
      const page = await this.#index.changedDocuments({ collection: SESSIONS, beyond, limit: PAGE });
      for (const document of page) this.#put(document);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      beyond = { position: last.position, key: last.key };
      await othersFirst();
    }
  }

  #put(document: IndexDocument): void {
    this.#byId.set(document.key, toTableSession(document));
  }
}

function toTableSession(document: IndexDocument): TableSession {
  const row = documentToSession(document);
  return {
    session_id: row.session_id,
    title: row.title,
    first_prompt: row.first_prompt,
    parent: row.parent,
    first_ms: row.first_ms,
    last_ms: row.last_ms,
    first_position: row.first_position,
    last_position: row.last_position,
    cwd: row.cwd,
    projects: row.projects,
    clients: row.clients,
    users: row.users,
    tags: row.tags,
    entries: row.entries,
    failures: row.failures,
    turns: row.turns,
    files: row.files,
    active_ms: row.active_ms,
    lacks: { project: document.labels.includes("project:"), client: document.labels.includes("client:") },
  };
}

function childrenIn(sessions: Iterable<TableSession>): Map<string, string[]> {
  const children = new Map<string, string[]>();
  const inOrder = [...sessions]
    .filter(({ parent, session_id }) => parent !== "" && parent !== session_id)
    .sort((left, right) => left.first_position - right.first_position);
  for (const { parent, session_id } of inOrder) {
    const own = children.get(parent);
    if (own === undefined) children.set(parent, [session_id]);
    else own.push(session_id);
  }
  return children;
}

/** Whatever else waits for this thread has its turn. */
function othersFirst(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
