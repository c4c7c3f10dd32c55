// Requests that a tool wrote down as differences: raw entries whose `extra.given` has the messages that an earlier request did
// not have. They are put together here, for answers that name theirs in `extra.given_in`.

import { rowPages } from "../index/port.js";
import { HAS_REQUEST } from "../index/references.js";
import { documentToSession, SESSIONS } from "../index/session-fold.js";
import { idClaim } from "../model/claims.js";
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../model/json.js";
import { LruCache } from "../model/lru-cache.js";
import { SerialQueue, TimeSlice } from "../model/scheduling.js";
import type { ReadingParts } from "./lists/reader.js";

/** What a model was given with a request. */
export interface SentRequest {
  readonly messages: readonly JsonValue[];
  readonly system?: JsonValue;
  readonly tools?: JsonValue;
}

const KEYS_AT_ONCE = 1_000;
const CHUNK = 256;
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Of a session with larger requests none is put together. */
const SESSION_CHARS_MAX = 128 * 1024 * 1024;
const SESSIONS_MAX = 16;
/** Sessions with more than this are not kept. */
const CACHED_CHARS_MAX = 8 * 1024 * 1024;

interface Difference {
  readonly base: { readonly entry_id: string; readonly keep: number } | undefined;
  readonly messages: readonly JsonValue[];
  readonly shape: string | undefined;
}

/** The requests of a session, valid while its last position and count of entries stay the same. */
interface SessionRequests {
  readonly last_position: number;
  readonly entries: number;
  readonly byId: ReadonlyMap<string, Difference>;
  readonly shapes: Map<string, Omit<SentRequest, "messages">>;
}

/** What names the request of an answer. */
interface AnswerBody {
  readonly session_id?: JsonValue | undefined;
  readonly project?: JsonValue | undefined;
  readonly extra?: JsonValue | undefined;
}

type Find = (entry_id: string) => Promise<Difference | undefined>;

export class SentRequests {
  readonly #parts: ReadingParts;
  readonly #sessions = new LruCache<SessionRequests>(SESSIONS_MAX);
  readonly #loading = new SerialQueue();

  constructor(parts: ReadingParts) {
    this.#parts = parts;
  }

  /** The request that an answer names, by the answer's body; undefined where it names none, or a part of it is missing. */
  async of({ session_id, project = "", extra }: AnswerBody): Promise<SentRequest | undefined> {
    const entry_id = isJsonObject(extra) ? extra.given_in : undefined;
    if (typeof entry_id !== "string" || typeof session_id !== "string") return undefined;
    const requests = await this.#loading.run(() => this.#requestsOf(session_id));
    if (requests === undefined) return undefined;
    // A copied session names requests of the one that it was copied from.
    const find = async (id: string): Promise<Difference | undefined> => {
      const known = requests.byId.get(id);
      if (known !== undefined) return known;
      const body = (await this.#body(id)) ?? {};
      return (body.project ?? "") === project ? differenceIn(body) : undefined;
    };
    return this.#assemble(entry_id, find, requests.shapes);
  }

  async #assemble(entry_id: string, find: Find, shapes: SessionRequests["shapes"]): Promise<SentRequest | undefined> {
    const last = await find(entry_id);
    const messages = last === undefined ? undefined : await messagesOf(last, find);
    if (last === undefined || messages === undefined) return undefined;
    return { messages, ...(last.shape === undefined ? {} : await this.#shape(last.shape, shapes)) };
  }

  async #shape(entry_id: string, shapes: SessionRequests["shapes"]): Promise<Omit<SentRequest, "messages">> {
    const known = shapes.get(entry_id);
    if (known !== undefined) return known;
    const { record } = (await this.#body(entry_id)) ?? {};
    const shape = isJsonObject(record) && isJsonObject(record.shape) ? record.shape : {};
    const { system, tools } = shape;
    const found = { ...(system === undefined ? {} : { system }), ...(tools === undefined ? {} : { tools }) };
    shapes.set(entry_id, found);
    return found;
  }

  async #body(entry_id: string): Promise<JsonObject | undefined> {
    const [position] = await this.#parts.log.find([idClaim(entry_id)]);
    const [stored] = position === undefined ? [] : await this.#parts.log.getBodies([position]);
    return stored === undefined || stored.flaw !== undefined ? undefined : parseJsonObject(stored.body);
  }

  async #requestsOf(session_id: string): Promise<SessionRequests | undefined> {
    const [document] = await this.#parts.index.getDocuments({ collection: SESSIONS, keys: [session_id] });
    if (document === undefined) return undefined;
    const { last_position, entries } = documentToSession(document);
    const known = this.#sessions.get(session_id);
    if (known?.last_position === last_position && known.entries === entries) return known;
    const read = await this.#read(session_id);
    if (read === undefined) return undefined;
    const requests = { last_position, entries, byId: read.byId, shapes: new Map() };
    if (read.chars <= CACHED_CHARS_MAX) this.#sessions.set(session_id, requests);
    return requests;
  }

  async #read(
    session_id: string,
  ): Promise<{ readonly byId: Map<string, Difference>; readonly chars: number } | undefined> {
    const byId = new Map<string, Difference>();
    const filter = { session_id, kinds: ["raw"], references: [HAS_REQUEST] };
    const turn = new TimeSlice();
    let chars = 0;
    for await (const keys of rowPages((place) => this.#parts.index.list({ filter, ...place }), KEYS_AT_ONCE)) {
      const positions = keys.map(({ position }) => position);
      for (let at = 0; at < positions.length; ) {
        const bodies = await this.#parts.log.getBodies(positions.slice(at, at + CHUNK), CHUNK_BYTES);
        for (const stored of bodies) {
          const body = stored?.flaw === undefined ? parseJsonObject(stored?.body) : undefined;
          const difference = body === undefined ? undefined : differenceIn(body);
          if (difference !== undefined) byId.set(String(body?.id), difference);
          chars += stored?.body?.length ?? 0;
          if (turn.isOver) await turn.next();
        }
        if (chars > SESSION_CHARS_MAX) return undefined;
        at += bodies.length;
      }
    }
    return { byId, chars };
  }
}

/** From the request itself back to the one that begins the list. */
async function messagesOf(last: Difference, find: Find): Promise<readonly JsonValue[] | undefined> {
  const parts: (readonly JsonValue[])[] = [];
  const seen = new Set<string>();
  let request = last;
  let length = Number.POSITIVE_INFINITY;
  for (;;) {
    const { base, messages } = request;
    const start = base?.keep ?? 0;
    parts.push(messages.slice(0, Math.max(0, length - start)));
    length = Math.min(length, start);
    if (base === undefined) break;
    const before = seen.has(base.entry_id) ? undefined : await find(base.entry_id);
    if (before === undefined) return undefined;
    seen.add(base.entry_id);
    request = before;
  }
  const whole: JsonValue[] = [];
  for (const message of parts.reverse().flat()) {
    const meant = isReference(message) ? await referredTo(message, find) : message;
    if (meant === undefined) return undefined;
    whole.push(meant);
  }
  return whole;
}

function isReference(message: JsonValue): message is JsonObject {
  return isJsonObject(message) && message.role === undefined && Array.isArray(message.same_as);
}

/** A message that only another request has. */
async function referredTo({ same_as }: JsonObject, find: Find): Promise<JsonValue | undefined> {
  const [entry_id, at] = same_as as readonly JsonValue[];
  const other = await find(String(entry_id));
  return other?.messages[Number(at) - (other.base?.keep ?? 0)];
}

function differenceIn({ extra }: JsonObject): Difference | undefined {
  const given = isJsonObject(extra) ? extra.given : undefined;
  if (!isJsonObject(given) || !Array.isArray(given.messages)) return undefined;
  const { base, shape } = given;
  const isBased = isJsonObject(base) && typeof base.entry_id === "string" && Number.isSafeInteger(base.keep);
  return {
    base: isBased ? { entry_id: base.entry_id as string, keep: base.keep as number } : undefined,
    messages: given.messages,
    shape: typeof shape === "string" ? shape : undefined,
  };
}
