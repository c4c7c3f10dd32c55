// Calls to models as documents: what entries tell of them, many in one document, so that all can be read quickly. Which of
// them tell of the same call is found out by whoever reads them, since any later entry may show that two are one.

import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { readRole } from "../model/roles.js";
import { modelOf } from "../model/states.js";
import { type Counting, readUsage, tokenNames } from "../model/usage.js";
import type { Fold } from "./fold.js";
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";

/** The collection of calls: a document for each stretch of positions, in the order of the log. */
const CALLS = "calls";

/** Large enough that a million calls are some thousand documents, small enough to be written again with each entry. */
const STRETCH = 128;

/** What one entry tells of a call. */
export interface CallTelling extends CallFacts {
  readonly position: number;
  readonly created_ms: number;
  readonly session_id?: string;
  readonly project?: string;
  readonly client?: string;
}

export const callFold: Fold = {
  collection: CALLS,
  keysOf: ({ position, facts }) => (facts?.call === undefined ? [] : [String(stretchOf(position))]),
  add: addRows,
  rowsIn: (document) => tellingsIn(document).length,
  isDone: (key, position) => Number(key) < stretchOf(position),
  positionsOf: async (index, { key, after, limit }) => {
    const [document] = await index.getDocuments({ collection: CALLS, keys: [key] });
    const positions = document === undefined ? [] : tellingsIn(document).map(({ position }) => position);
    return positions.filter((position) => position > after).slice(0, limit);
  },
};

/** So many documents at once, after which others may have their turn. */
const PAGE = 32;

/** All that was told of calls, page by page, in order of position. */
export async function* tellings(index: Pick<EntryIndex, "listDocuments">): AsyncGenerator<readonly CallTelling[]> {
  for (let last: IndexDocument | undefined; ; ) {
    const beyond = last === undefined ? {} : { beyond: { sort: last.sort } };
    const page = await index.listDocuments({ collection: CALLS, order: "asc", limit: PAGE, ...beyond });
    yield page.flatMap(tellingsIn);
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}

function stretchOf(position: number): number {
  return Math.floor(position / STRETCH);
}

function addRows(key: string, document: IndexDocument | undefined, rows: readonly EntryRow[]): IndexDocument {
  const calls = [...(document === undefined ? [] : tellingsIn(document)), ...rows.map(toTelling)];
  const position = calls.at(-1)?.position ?? 0;
  return { collection: CALLS, key, sort: Number(key), position, labels: [], body: { calls } as object as Body };
}

function toTelling({ position, created_ms, session_id, project, client, facts }: EntryRow): CallTelling {
  return {
    position,
    created_ms,
    ...(session_id === "" ? {} : { session_id }),
    ...(project === "" ? {} : { project }),
    ...(client === "" ? {} : { client }),
    ...(facts?.call as object as CallFacts),
  };
}

type Body = IndexDocument["body"];

/** Nobody else writes documents of this collection. */
function tellingsIn({ body }: IndexDocument): readonly CallTelling[] {
  return (body as object as { readonly calls: readonly CallTelling[] }).calls;
}

// What an entry tells of a call to a model: the tokens it took, and the names by which the same call is known elsewhere.

/** Kept with the row, and so as short as it can be. */
interface CallFacts {
  /**
   * The entry that tells of the call: the interaction that a response completes, the message that one goes on from, else
   * itself. Absent where nothing more can come of it, and where the provider's id of the answer says as much.
   */
  readonly of?: string;
  /** The provider's ids of the answer and of the request. */
  readonly message?: string;
  readonly request?: string;
  readonly model?: string;
  /** In the order of `tokenNames`; absent where no count was given. */
  readonly tokens?: readonly number[];
  /** Where the usage itself shows whose it is. */
  readonly counting?: Counting;
  /** Its tokens add to those of the entry that it goes on from; else they take their place. */
  readonly adds?: true;
}

/** Longer names are cut, and longer ids are none: providers' have less than a quarter of this. */
const NAME_CHARS_MAX = 256;

export function callFactsOf(kind: string, body: JsonObject): CallFacts | undefined {
  switch (kind) {
    case "interaction":
      return ofInteraction(body);
    case "response":
      return worthTelling({ of: String(body.interaction_id), ...tellingOf(kind, body, body.usage) });
    case "message":
      return ofMessage(body);
    default:
      return undefined;
  }
}

/** One that is answered says all that will be said of it; else a response may bring the rest. */
function ofInteraction(body: JsonObject): CallFacts | undefined {
  const telling = tellingOf("interaction", body, body.usage);
  const isAnswered = isText(body.response) || isText(body.error);
  if (isAnswered && telling.tokens === undefined) return undefined;
  const isKnownElsewhere = telling.message !== undefined || telling.request !== undefined;
  return worthTelling(isAnswered && !isKnownElsewhere ? telling : { of: String(body.id), ...telling });
}

function ofMessage(body: JsonObject): CallFacts | undefined {
  const { role, extra } = body;
  if (!isText(role) || readRole(role) !== "assistant" || !isJsonObject(extra)) return undefined;
  const telling = tellingOf("message", body, extra.usage);
  if (telling.tokens === undefined) return undefined;
  const of = isText(extra.continues) ? extra.continues : String(body.id);
  const adds = isText(extra.continues) ? { adds: true as const } : {};
  return { ...(telling.message === undefined ? { of } : {}), ...adds, ...telling };
}

type Telling = Omit<CallFacts, "of" | "adds">;

function tellingOf(kind: string, body: JsonObject, usage: JsonValue | undefined): Telling {
  const extra = isJsonObject(body.extra) ? body.extra : {};
  const model = modelOf(kind, body)?.slice(0, NAME_CHARS_MAX);
  const read = readUsage(usage);
  return {
    ...idOf("message", extra.message_id),
    ...idOf("request", extra.request_id),
    ...(model === undefined ? {} : { model }),
    ...(read === undefined ? {} : { tokens: tokenNames.map((name) => read.usage[name] ?? 0) }),
    ...(read?.counting === undefined ? {} : { counting: read.counting }),
  };
}

function idOf(name: "message" | "request", id: JsonValue | undefined): Telling {
  return isText(id) && id.length <= NAME_CHARS_MAX ? { [name]: id } : {};
}

/** An interaction or a response without tokens matters where it says what the other one may not. */
function worthTelling(facts: CallFacts): CallFacts | undefined {
  const { tokens, model, message, request } = facts;
  return [tokens, model, message, request].some((value) => value !== undefined) ? facts : undefined;
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}
