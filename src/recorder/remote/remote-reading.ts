// Questions answered by a server: a row for each says which of its routes knows. A query carries what was given for it as
// text, and its cursors are bound to nothing else, so that it can be asked again over there.

import type { EntryCounts } from "../../index/port.js";
import type { Entry } from "../../model/entry.js";
import { Fault } from "../../model/fault.js";
import type { Mask } from "../../model/mask.js";
import { type Calls, calls } from "../../operations/calls.js";
import { bindCalls } from "../../reading/calls.js";
import type { EntryWish } from "../../search/lists/entry-reader.js";
import { cursorAfter, type ListQuery } from "../../search/lists/list-query.js";
import type { SearchQuery } from "../../search/search-query.js";
import type { Health } from "../vitals.js";
import type { Query, ServerConnection } from "./server-connection.js";

/** The server, and what hides secrets in what is shown: a route hands some of it out as it was recorded. */
interface Desk {
  readonly server: ServerConnection;
  readonly mask: Mask;
}

/** The calls of a recorder, each as the route that knows the answer. */
export function remoteCalls(desk: Desk): Calls {
  return bindCalls(calls, (name, query) => {
    const answer = (answers as { readonly [name: string]: RemoteAnswer | undefined })[name];
    return answer === undefined ? elsewhere("this") : answer(desk.server, query, desk);
  });
}

type RemoteAnswer = (server: ServerConnection, query: unknown, desk: Desk) => Promise<unknown>;

type Answers = {
  readonly [N in keyof Calls]?: (
    server: ServerConnection,
    query: NonNullable<Parameters<Calls[N]>[0]>,
    desk: Desk,
  ) => Promise<Awaited<ReturnType<Calls[N]>>>;
};

// Everything else works on the store itself, and is done where it lies.
const answers = {
  listInteractions: (server, query) =>
    server.get("/interactions", ["interactions"], { ...listed(query), full: query.full ? 1 : undefined }),
  listEntries: (server, query) => server.get("/entries", ["entries"], listed(query)),
  getById: (server, id) => server.find(entryPath(id), ["kind", "position"], "entry_not_found"),
  getByPosition: (server, position) => server.find(entryPath(position), ["kind", "position"], "entry_not_found"),
  async getJson(server, wish) {
    const json = await server.findBytes(wishPath(wish), "entry_not_found");
    if (json === undefined) return undefined;
    const { kind } = JSON.parse(Buffer.from(json).toString("utf8")) as { readonly kind: string };
    return { kind, json };
  },
  async shownEntry(server, wish, { mask }) {
    const found = await server.find<Entry>(wishPath(wish), ["kind"], "entry_not_found");
    return found === undefined ? undefined : (mask.value(found) as never);
  },
  async count(server) {
    const { pending: _, ...counts } = await server.get<EntryCounts & { readonly pending?: number }>("/stats", [
      "entries",
    ]);
    return counts;
  },
  search: (server, query) => server.get("/search", ["results"], { ...listed(query), facets: query.facets }),
  async sessionHistory(server, { query, phrase }) {
    const { text } = await server.get<{ readonly text: string }>("/session-history", ["text"], {
      ...query.given,
      query: phrase,
      limit: query.limit,
    });
    return text;
  },
  reflect: (server, { given, limit }) => server.get("/reflection", ["insights"], { ...given, limit }),
  pendingMemories: async (server) => (await server.get<Required<Health>>("/health", ["pending"])).pending,
  verify: (server) => server.get("/verify", ["ok"]),
  async indexState(server) {
    const { status, indexed_through } = await server.get<Health>("/health", ["status", "indexed_through"]);
    return { indexed_through, texts_through: indexed_through, is_whole: status === "ok" };
  },
} satisfies Answers;

function listed(query: ListQuery | SearchQuery): Query {
  const cursor = query.after === undefined ? undefined : cursorAfter(query, query.after);
  return { ...query.given, limit: query.limit, cursor };
}

export function entryPath(id: string | number): string {
  return `/entries/${encodeURIComponent(id)}`;
}

function wishPath(wish: EntryWish): string {
  return entryPath("id" in wish ? wish.id : wish.position);
}

/** Refuses what works on the store itself. */
export async function elsewhere(what: string): Promise<never> {
  throw new Fault("store_unsuitable", `${what} is not available against a remote server`, {
    hint: "Do it on the server's own machine, with --data naming the folder or database of the record.",
  });
}
