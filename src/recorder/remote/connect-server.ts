// A server as a store: the parts of a recorder that use it, and errors for what runs only where the store is.

import type { Keys } from "../../guard/keys.js";
import { Watches } from "../../import/watch/watches.js";
import { type OnRecorded, RecordedHooks } from "../../log/capture/recorded-hooks.js";
import type { Mask } from "../../model/mask.js";
import { RecorderError } from "../../model/rejection.js";
import { type AnyOperation, askedWith, type Options } from "../../operations/operation.js";
import { isGiven } from "../../search/parameters.js";
import type { PriceFile } from "../../usage/price-file.js";
import type { Health } from "../monitoring.js";
import { methodsBy, type Operate } from "../operation-methods.js";
import { Recorder, type RecorderParts } from "../recorder.js";
import { RemoteCapture } from "./remote-capture.js";
import { elsewhere, remoteCalls } from "./remote-reading.js";
import { RemoteTails } from "./remote-tails.js";
import { type Query, ServerConnection, type ServerOptions, wholeParts } from "./server-connection.js";

export interface RemoteOptions extends ServerOptions {
  readonly mask: Mask;
  readonly redact?: Mask | undefined;
  /** Refused for usage, because a server uses its own prices. */
  readonly prices?: PriceFile | undefined;
  /** Where watching stores its progress; undefined keeps it in memory. */
  readonly bookmarks: string | undefined;
  /** Called with recorded entries. */
  readonly onRecorded?: OnRecorded | undefined;
}

export function connectServer({ mask, redact, prices, bookmarks, onRecorded, ...place }: RemoteOptions): Recorder {
  const server = new ServerConnection(place);
  const recorded = new RecordedHooks();
  if (onRecorded !== undefined) recorded.add(onRecorded);
  const capture = new RemoteCapture({ server, redact, recorded });
  const tails = new RemoteTails(server);
  const watches = new Watches(bookmarks);
  const calls = remoteCalls(server);
  const operateThere = operateRemotely({ server, mask });
  const operate: Operate = async (operation, asked) =>
    operation.uses_prices === true && prices !== undefined
      ? elsewhere("using your own prices")
      : operateThere(operation, asked);
  const { consolidateSession: consolidate } = methodsBy((operation, options) =>
    operateThere(operation, askedWith(operation, options, Date.now())),
  );
  const parts: RecorderParts = {
    capture,
    tails,
    watches,
    keys,
    operate,
    calls,
    imports: capture.imports,
    passes: {
      // They read more than should be sent over a network.
      extract: () => elsewhere("a pass over the whole record"),
      reinforce: () => elsewhere("a pass over the whole record"),
    },
    nowMs: Date.now,
    // The server learns by itself.
    learn: () => undefined,
    by: () => parts,
    consolidate: ({ session_id, ...body }) => consolidate(session_id, body),
    admin: {
      verify: () => elsewhere("verifying against a seal"),
      retain: () => elsewhere("retention"),
      scrub: () => elsewhere("scrubbing"),
      seal: () => elsewhere("sealing"),
      acceptLog: () => elsewhere("accepting a log"),
      keepSeals: () => elsewhere("keeping seals"),
    },
    exports: {
      entries: (query, { id }) => exportFrom(server, query, id),
      unaudited: (query) => exportFrom(server, query, undefined),
    },
    monitoring: {
      health: () => server.get("/health", ["status", "position"]),
      load: () => ({ capture: { entries: 0, bytes: 0, is_pressed: false }, tails: 0 }),
      textsThrough: async () => (await server.get<Health>("/health", ["indexed_through"])).indexed_through,
      watchCommits: () => () => undefined,
      watchRecorded: (heard, isWanted) => recorded.add(heard, isWanted),
    },
    async close() {
      await watches.close();
      tails.close();
      server.close();
    },
  };
  return new Recorder(parts);
}

type ExportQuery = Parameters<RecorderParts["exports"]["entries"]>[0];

/** Whole lines, so no character is split. */
async function* exportFrom(
  server: ServerConnection,
  { format, given, masked, clock }: ExportQuery,
  export_id: string | undefined,
): AsyncGenerator<string, void, undefined> {
  // Times without a zone are in the caller's zone, not the server's.
  const form = format === "hansard" ? {} : { format, timezone: clock.zone };
  if (format === "html") {
    // A key that may read may share a page.
    const path = `/sessions/${encodeURIComponent(String(given.session_id))}/share`;
    const page = await server.open(path, { reads_all: true, accepts: /^text\/html/ });
    return yield* wholeParts(page.body, "\n");
  }
  const query = { ...given, ...form, masked: masked ? "1" : undefined, export_id };
  const answer = await server.open("/export", { query, reads_all: true });
  yield* wholeParts(answer.body, "\n");
}

const keys: Pick<Keys, keyof Keys> = {
  create: () => elsewhere("creating keys"),
  list: () => elsewhere("listing keys"),
  revoke: () => elsewhere("revoking keys"),
  hasActiveKey: () => elsewhere("checking keys"),
  authenticate: () => elsewhere("checking keys"),
  close: async () => undefined,
};

// Operations on a server: input is parsed here, with the same errors; the route returns the answer.

function operateRemotely(parts: { readonly server: ServerConnection; readonly mask: Mask }): Operate {
  const { server, mask } = parts;
  return async (operation, { options }) => {
    const { path, query } = requestOf(operation, options);
    try {
      const members = membersOf(operation.output);
      const { reads_all } = operation;
      if (operation.body !== undefined) {
        return await server.post<object>(path, members, { body: sentIn(operation, options), reads_all });
      }
      // The server records the call where that is asked for.
      const body = Object.fromEntries(Object.entries(options).filter(([, value]) => isGiven(value)));
      if (operation.note !== undefined && body.session_id !== undefined)
        return await server.post<object>(path, members, { body });
      const answer = await server.get<object>(path, members, { query, reads_all });
      // A registered secret here may be unknown to the server.
      return query.masked === undefined ? answer : mask.value(answer);
    } catch (error) {
      if (error instanceof RecorderError && error.code === `${operation.missing}_not_found`) return undefined;
      throw error;
    }
  };
}

interface ObjectSchema {
  readonly required?: readonly string[];
  readonly anyOf?: readonly ObjectSchema[];
  readonly oneOf?: readonly ObjectSchema[];
}

/** Required members of an answer: the schema's, or those of the first alternative. */
function membersOf({ required = [], anyOf, oneOf }: ObjectSchema): readonly never[] {
  // An alternative that is only named is an entry, and every entry has a kind.
  const first = (anyOf ?? oneOf)?.map((schema) => schema.required?.[0] ?? "kind");
  return (first === undefined ? required : [first]) as readonly never[];
}

/** Where the route takes each option: in its path, or in the query. */
function requestOf({ route }: AnyOperation, options: Options): { readonly path: string; readonly query: Query } {
  const inPath = new Set<string>();
  const path = route.slice(route.indexOf("/")).replace(/:(\w+)/g, (_, name: string) => {
    inPath.add(name);
    return encodeURIComponent(String(options[name]));
  });
  const query = Object.entries(options).filter(
    ([name, value]) => !inPath.has(name) && name !== "body" && isGiven(value) && value !== false,
  );
  return { path, query: Object.fromEntries(query.map(([name, value]) => [name, parameterText(value)])) };
}

/** The document that is sent. A server knows the actor by the key, unless it must be told. */
function sentIn({ body }: AnyOperation, { body: given }: Options): unknown {
  if (body?.actor !== "sender") return given ?? {};
  const { actor: _, ...sent } = given as { readonly actor?: unknown };
  return sent;
}

function parameterText(value: unknown): string {
  if (value === true) return "1";
  return Array.isArray(value) ? value.join(",") : String(value);
}
