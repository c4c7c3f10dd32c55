// Model calls as documents: the facts that entries have about them, many per document, so all can be read quickly.
// Readers find out which entries describe the same call, since any later entry may show that two are one.

import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { readRole } from "../model/roles.js";
import { modelOf } from "../model/states.js";
import { type Counting, readUsage, tokenNames } from "../model/usage.js";
import type { Fold } from "./fold.js";
import type { EntryIndex, EntryRow, IndexDocument } from "./port.js";

/** A document for each range of positions, in log order. */
const CALLS = "calls";

/**
 * Positions per document: a million calls make some thousand documents, each small enough to rewrite with every entry.
 */
const BLOCK_POSITIONS = 128;

/** One entry's facts about a call. */
export interface CallTelling extends CallFacts {
  readonly position: number;
  readonly created_ms: number;
  readonly session_id?: string;
  readonly project?: string;
  readonly client?: string;
  readonly user?: string;
  /** What else identifies it within its session, where the provider's id may be missing. */
  readonly same?: SameFacts;
}

interface SameFacts {
  readonly calls?: readonly string[];
  readonly said?: string;
  /** Whether it is a message, and not the recorded request. */
  readonly is_message?: true;
}

export const callFold: Fold = {
  collection: CALLS,
  keysOf: ({ position, facts }) => (facts?.call === undefined ? [] : [String(blockOf(position))]),
  add: addRows,
  rowsIn: (document) => tellingsIn(document).length,
  isDone: (key, position) => Number(key) < blockOf(position),
  positionsOf: async (index, { key, after, limit }) => {
    const [document] = await index.getDocuments({ collection: CALLS, keys: [key] });
    const positions = document === undefined ? [] : tellingsIn(document).map(({ position }) => position);
    return positions.filter((position) => position > after).slice(0, limit);
  },
};

/** Documents per page; other work runs in between. */
const PAGE = 32;

/** All facts about calls after a position, page by page, in order of position. */
export async function* tellings(
  index: Pick<EntryIndex, "listDocuments">,
  after = 0,
): AsyncGenerator<readonly CallTelling[]> {
  for (let sort = blockOf(after) - 1; ; ) {
    const page = await index.listDocuments({ collection: CALLS, order: "asc", limit: PAGE, beyond: { sort } });
    yield page.flatMap(tellingsIn).filter(({ position }) => position > after);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    sort = last.sort;
  }
}

function blockOf(position: number): number {
  return Math.floor(position / BLOCK_POSITIONS);
}

function addRows(key: string, document: IndexDocument | undefined, rows: readonly EntryRow[]): IndexDocument {
  const calls = [...(document === undefined ? [] : tellingsIn(document)), ...rows.map(toTelling)];
  const position = calls.at(-1)?.position ?? 0;
  return { collection: CALLS, key, sort: Number(key), position, labels: [], body: { calls } as object as Body };
}

function toTelling(row: EntryRow): CallTelling {
  const { position, kind, created_ms, session_id, project, client, facts, references } = row;
  const call = facts?.call as object as CallFacts;
  const user = references.find(({ what }) => what === "user_id")?.reference;
  return {
    position,
    created_ms,
    ...(session_id === "" ? {} : { session_id }),
    ...(project === "" ? {} : { project }),
    ...(client === "" ? {} : { client }),
    ...(user === undefined ? {} : { user }),
    ...call,
    ...sameFacts(kind, call, facts?.same as SameFacts | undefined),
  };
}

/** A message with the provider's id is found by that. */
function sameFacts(kind: string, call: CallFacts, facts: SameFacts | undefined): Pick<CallTelling, "same"> {
  const isMessage = kind === "message";
  if (facts === undefined || (kind !== "interaction" && !isMessage) || (isMessage && call.message !== undefined))
    return {};
  const { calls, said } = facts;
  if (calls === undefined && said === undefined) return {};
  const keys = calls === undefined ? { said: said as string } : { calls };
  return { same: { ...keys, ...(isMessage ? { is_message: true } : {}) } };
}

type Body = IndexDocument["body"];

/** Only this fold writes this collection. */
function tellingsIn({ body }: IndexDocument): readonly CallTelling[] {
  return (body as object as { readonly calls: readonly CallTelling[] }).calls;
}

/** Stored with the row, so kept short. */
interface CallFacts {
  /**
   * The entry that the call belongs to: the interaction that a response completes, the message that one continues, or
   * itself. Absent if nothing more can follow, or if the provider's id of the answer is enough.
   */
  readonly of?: string;
  /** The provider's ids of the answer and of the request. */
  readonly message?: string;
  readonly request?: string;
  readonly model?: string;
  /** In the order of `tokenNames`; absent if no count was given. */
  readonly tokens?: readonly number[];
  /** Set if the usage shows how it counts. */
  readonly counting?: Counting;
  /** The first tool that the answer calls. */
  readonly tool?: string;
  /** Its tokens add to those of the entry it continues; otherwise they replace them. */
  readonly adds?: true;
  /** What a source's total had left over: it may be a call that other entries describe. */
  readonly rest?: true;
}

/** Longer names are cut, longer ids ignored; providers' have less than a quarter of this. */
const NAME_CHARS_MAX = 256;

export function callFactsOf(kind: string, body: JsonObject): CallFacts | undefined {
  switch (kind) {
    case "interaction":
      return ofInteraction(body);
    case "response":
      return worthTelling({ of: String(body.interaction_id), ...tellingOf(kind, body, body.usage) });
    case "message":
      return ofMessage(body);
    case "consolidation":
      return ofConsolidation(body);
    case "raw":
      return ofRaw(body);
    default:
      return undefined;
  }
}

/** An answered interaction is complete; otherwise a response may add the rest. */
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

/** The call that wrote the summary, where the tool recorded what it cost. */
function ofConsolidation(body: JsonObject): CallFacts | undefined {
  const usage = isJsonObject(body.extra) ? body.extra.usage : undefined;
  if (usage === undefined) return undefined;
  const telling = tellingOf("consolidation", body, usage);
  return telling.tokens === undefined ? undefined : { of: String(body.id), ...telling };
}

/** Calls that a source tells of only by their tokens, such as those that compacted a conversation. */
function ofRaw({ id, extra, ...body }: JsonObject): CallFacts | undefined {
  if (!isJsonObject(extra) || !isJsonObject(extra.usage)) return undefined;
  const telling = tellingOf("raw", { ...body, extra }, extra.usage);
  return telling.tokens === undefined ? undefined : { of: String(id), ...telling, rest: true };
}

type Telling = Omit<CallFacts, "of" | "adds" | "rest">;

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
    ...toolOf(kind === "message" ? body : extra),
  };
}

/** In the form of any provider, or a part of the content. */
function toolOf({ tool_calls, content }: JsonObject): Telling {
  const [call] = Array.isArray(tool_calls) ? tool_calls.filter(isJsonObject) : [];
  const part = Array.isArray(content)
    ? content.find((one) => isJsonObject(one) && (one.type === "tool_use" || one.type === "function_call"))
    : undefined;
  for (const one of [call?.function, call?.custom, call, part]) {
    if (isJsonObject(one) && isText(one.name)) return { tool: one.name.slice(0, NAME_CHARS_MAX) };
  }
  return {};
}

function idOf(name: "message" | "request", id: JsonValue | undefined): Telling {
  return isText(id) && id.length <= NAME_CHARS_MAX ? { [name]: id } : {};
}

/** Without tokens, an entry matters only if it has what the other may lack. */
function worthTelling(facts: CallFacts): CallFacts | undefined {
  const { tokens, model, message, request } = facts;
  return [tokens, model, message, request].some((value) => value !== undefined) ? facts : undefined;
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}
