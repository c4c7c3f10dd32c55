// What an entry tells of a call to a model: the tokens it took, and the names by which the same call is known elsewhere.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { readRole } from "../model/roles.js";
import { modelOf } from "../model/states.js";
import { type Counting, readUsage, tokenNames } from "../model/usage.js";

/** Kept with the row, and so as short as it can be. */
export interface CallFacts {
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
