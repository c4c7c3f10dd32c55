// The requests that newer versions write into their transcripts: each as the beginning of an earlier request and the messages
// behind it, by their hashes. A message that the transcript does not have as a line stands in a blob.

import { hash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { blocksOf, textAt } from "../transcript/fields.js";

/** What the model was given, as a raw entry of a request holds it in `extra.given`. */
export interface GivenRecord {
  /** The entry of an earlier request, and how many of its messages come first. */
  readonly base?: { readonly entry_id: string; readonly keep: number };
  /** The messages behind them; one that an earlier request had stands as `same_as`: its entry, and its place there. */
  readonly messages: readonly JsonValue[];
  /** The entry that holds system and tools. */
  readonly shape?: string;
}

/** What a reading that goes on later has to know. */
export interface SentRequestsState {
  readonly shapes: ReadonlyMap<string, string>;
  readonly requests: readonly SentRequest[];
  readonly recent: readonly RecentMessage[];
  readonly blobs: ReadonlyMap<string, WaitingBlob>;
  readonly pending: PendingRequest | undefined;
}

interface SentRequest {
  readonly id: string;
  readonly entry_id: string;
  /** The place of the request that it begins like, -1 for none. */
  readonly base: number;
  readonly keep: number;
  readonly tail: readonly string[];
}

/** A line's message, until a request holds it. */
interface RecentMessage {
  readonly role: string;
  /** Lines of one answer are one message. */
  readonly key: string | undefined;
  content: readonly JsonObject[];
  readonly bytes: number;
}

export interface WaitingBlob {
  readonly line: number;
  readonly record: JsonObject;
}

interface PendingRequest {
  readonly entry_id: string;
  readonly model: string | undefined;
}

/** Lines that no request has held are forgotten beyond this. */
const RECENT_MAX = 512;
const RECENT_BYTES_MAX = 2 * 1024 * 1024;
/** No session has had more; of those beyond it nothing is rebuilt. */
const REQUESTS_MAX = 50_000;

/** Versions before this write no requests. */
const FIRST_VERSION = [2, 1, 300] as const;

/** Whether a version of the tool may write its requests into the transcript. */
export function writesRequests(version: string | undefined): boolean {
  const parts = /^(\d+)\.(\d+)\.(\d+)/
    .exec(version ?? "")
    ?.slice(1)
    .map(Number);
  const differs = FIRST_VERSION.findIndex((part, at) => parts?.[at] !== part);
  return parts !== undefined && (differs === -1 || (parts[differs] ?? 0) > (FIRST_VERSION[differs] ?? 0));
}

function bytesOf(messages: readonly RecentMessage[]): number {
  return messages.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The requests of one session. */
export class SentRequests {
  readonly #shapes: Map<string, string>;
  readonly #requests: SentRequest[];
  readonly #blobs: Map<string, WaitingBlob>;
  #recent: RecentMessage[];
  #recentBytes: number;
  #pending: PendingRequest | undefined;

  constructor(known?: SentRequestsState) {
    this.#shapes = new Map(known?.shapes);
    this.#requests = [...(known?.requests ?? [])];
    this.#recent = (known?.recent ?? []).map((message) => ({ ...message }));
    this.#recentBytes = bytesOf(this.#recent);
    this.#blobs = new Map(known?.blobs);
    this.#pending = known?.pending;
  }

  state(): SentRequestsState {
    return {
      shapes: this.#shapes,
      requests: this.#requests,
      recent: this.#recent,
      blobs: this.#blobs,
      pending: this.#pending,
    };
  }

  /** Takes what a line says, before its request comes. Lines of one answer have the same key. */
  say(role: string, content: JsonValue | undefined, { key, bytes }: { readonly key?: string; readonly bytes: number }) {
    const blocks = blocksOf(content);
    const last = key === undefined ? undefined : this.#recent.findLast((message) => message.key === key);
    if (last !== undefined) last.content = [...last.content, ...blocks];
    else this.#recent.push({ role, key, content: blocks, bytes });
    this.#recentBytes += bytes;
    while (this.#recent.length > RECENT_MAX || this.#recentBytes > RECENT_BYTES_MAX) {
      this.#recentBytes -= this.#recent.shift()?.bytes ?? this.#recentBytes;
    }
  }

  /** Takes a record of system and tools by its hash, and the id of its entry. */
  takeShape(shapeHash: string, entry_id: string): void {
    this.#shapes.set(shapeHash, entry_id);
  }

  /** Takes a blob; false for one whose content is not what its hash says. */
  takeBlob(blob: WaitingBlob): boolean {
    const { hash: given, message } = blob.record;
    if (!isJsonObject(message) || typeof given !== "string" || hashOf(message) !== given) return false;
    this.#blobs.set(given, blob);
    return true;
  }

  /** The blobs that no request has held. */
  takeWaiting(): readonly WaitingBlob[] {
    const waiting = [...this.#blobs.values()];
    this.#blobs.clear();
    return waiting;
  }

  /** Takes a request, whose entry has this id; undefined where a part of it is not there. */
  take(record: JsonObject, entry_id: string): GivenRecord | undefined {
    const id = textAt(record, "id") ?? entry_id;
    this.#pending = undefined;
    const hashes = this.#hashesIn(record);
    if (hashes === undefined || this.#requests.length >= REQUESTS_MAX) return undefined;
    const named = this.#placeOf(textAt(record, "base"));
    const base = named === -1 ? this.#requests.length - 1 : named;
    const before = base === -1 ? [] : this.#listOf(base);
    let keep = 0;
    while (keep < hashes.length && keep < before.length && hashes[keep] === before[keep]) keep += 1;
    const tail = hashes.slice(keep);
    const messages = this.#messages(tail);
    if (messages === undefined) return undefined;
    this.#requests.push({ id, entry_id, base: keep === 0 ? -1 : base, keep, tail });
    const { model } = isJsonObject(record.params) ? record.params : {};
    this.#pending = { entry_id, model: typeof model === "string" ? model : undefined };
    const shape = this.#shapes.get(textAt(record, "shapeHash") ?? "");
    const kept = keep === 0 ? undefined : { entry_id: this.#requests[base]?.entry_id ?? "", keep };
    return {
      ...(kept === undefined ? {} : { base: kept }),
      messages,
      ...(shape === undefined ? {} : { shape }),
    };
  }

  /** The entry of the request that a new answer of a model belongs to. */
  answered(model: string | undefined): string | undefined {
    const pending = this.#pending;
    if (pending === undefined) return undefined;
    if (pending.model !== undefined && model !== undefined && pending.model !== model) return undefined;
    this.#pending = undefined;
    return pending.entry_id;
  }

  /** The hashes of all its messages; undefined where its base is missing. */
  #hashesIn({ base, keep, tail }: JsonObject): readonly string[] | undefined {
    if (!Array.isArray(tail) || !tail.every((one) => typeof one === "string")) return undefined;
    if (typeof base !== "string") return tail;
    const place = this.#placeOf(base);
    if (place === -1) return undefined;
    const list = this.#listOf(place);
    const kept = typeof keep === "number" ? keep : 0;
    return kept > list.length ? undefined : [...list.slice(0, kept), ...tail];
  }

  #placeOf(id: string | undefined): number {
    return id === undefined ? -1 : this.#requests.findLastIndex((request) => request.id === id);
  }

  #listOf(place: number): readonly string[] {
    const parts: (readonly string[])[] = [];
    let length = Number.POSITIVE_INFINITY;
    for (let at = place; at !== -1; ) {
      const { base, keep, tail } = this.#requests[at] as SentRequest;
      parts.push(tail.slice(0, Math.max(0, length - keep)));
      length = Math.min(length, keep);
      at = base;
    }
    return parts.reverse().flat();
  }

  #messages(tail: readonly string[]): readonly JsonValue[] | undefined {
    if (tail.length === 0) return [];
    const recent = this.#recentByHash(tail);
    const messages: JsonValue[] = [];
    let used = -1;
    for (const one of tail) {
      const blob = this.#blobs.get(one);
      const said = recent.get(one);
      const message = blob?.record.message ?? said?.message ?? this.#sameAs(one);
      if (message === undefined) return undefined;
      this.#blobs.delete(one);
      if (blob === undefined && said !== undefined) used = Math.max(used, said.at);
      messages.push(message);
    }
    this.#recent = this.#recent.slice(used + 1);
    this.#recentBytes = bytesOf(this.#recent);
    return messages;
  }

  /** Results of several calls come in lines of their own, and are sent in one message. */
  #recentByHash(wanted: readonly string[]): ReadonlyMap<string, { readonly message: JsonObject; readonly at: number }> {
    const found = new Map<string, { readonly message: JsonObject; readonly at: number }>();
    const missing = new Set(wanted.filter((one) => !this.#blobs.has(one)));
    if (missing.size === 0) return found;
    let results: readonly JsonObject[] = [];
    const add = (message: JsonObject, at: number): void => {
      const name = hashOf(message);
      if (missing.has(name)) found.set(name, { message, at });
    };
    for (const [at, { role, content }] of this.#recent.entries()) {
      const isResults = role === "user" && content.some(({ type }) => type === "tool_result");
      add({ role, content }, at);
      if (isResults && results.length > 0) add({ role, content: [...results, ...content] }, at);
      results = isResults ? [...results, ...content] : [];
    }
    return found;
  }

  /** Where an earlier request holds the message itself. */
  #sameAs(wanted: string): JsonValue | undefined {
    for (let at = this.#requests.length - 1; at >= 0; at -= 1) {
      const { entry_id, keep, tail } = this.#requests[at] as SentRequest;
      const place = tail.indexOf(wanted);
      if (place !== -1) return { same_as: [entry_id, keep + place] };
    }
    return undefined;
  }
}

/**
 * A message's name: SHA-256 of its JSON with sorted keys, without `cache_control`, its content as blocks.
 *
 * @internal Exported for tests.
 */
export function hashOf(message: JsonObject): string {
  const { content } = message;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? null);
  return hash("sha256", JSON.stringify(named({ ...message, content: blocks })), "hex");
}

function named(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(named);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).filter((name) => name !== "cache_control");
  return Object.fromEntries(names.sort().map((name) => [name, named(value[name] as JsonValue)]));
}
