// Calls to a server besides operations: a row for each call names its route.
import { Fault } from "../../model/fault.js";
import { type Calls, calls } from "../../operations/calls.js";
import { bindCalls } from "../../reading/call-table.js";
import type { Health } from "../monitoring.js";
import type { ServerConnection } from "./server-connection.js";

/** The calls of a recorder, each with the route that answers it. */
export function remoteCalls(server: ServerConnection): Calls {
  return bindCalls(calls, (name) => {
    const answer = (answers as { readonly [name: string]: RemoteAnswer | undefined })[name];
    return answer === undefined ? elsewhere("this") : answer(server);
  });
}

type RemoteAnswer = (server: ServerConnection) => Promise<unknown>;

type Answers = { readonly [N in keyof Calls]?: (server: ServerConnection) => ReturnType<Calls[N]> };

// Everything else works on the store itself, on its own machine.
const answers = {
  pendingMemories: async (server) => (await server.get<Required<Health>>("/health", ["pending"])).pending,
  async indexState(server) {
    const { status, indexed_through } = await server.get<Health>("/health", ["status", "indexed_through"]);
    return { indexed_through, texts_through: indexed_through, is_whole: status === "ok" };
  },
} satisfies Answers;

export function entryPath(id: string | number): string {
  return `/entries/${encodeURIComponent(id)}`;
}

/** Refuses calls that work on the store itself. */
export async function elsewhere(what: string): Promise<never> {
  throw new Fault("store_unsuitable", `${what} is not available against a remote server`, {
    hint: "Run it on the server's machine, with --data set to the folder or database of the record.",
  });
}
