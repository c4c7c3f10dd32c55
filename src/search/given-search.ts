// Searching what models were given: every distinct text once for each session, at its newest use, with how often it was given.
// Context packs are not indexed, because they repeat in every call of a loop: they are read newest first, and the pre-filter
// skips those that cannot match.

import { hash } from "node:crypto";
import { partsOfPack } from "../index/derivation.js";
import { type RowFilter, type RowKey, rowPages } from "../index/port.js";
import { HAS_CONTEXT } from "../index/references.js";
import type { StoredBody } from "../log/port.js";
import { itemAt } from "../model/item-at.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "../model/json.js";
import { normalise } from "../model/normalise.js";
import { TimeSlice } from "../model/scheduling.js";
import type { ListPlace } from "./lists/list-query.js";
import type { ReadingParts } from "./lists/reader.js";
import { indexOfText, mayHold, type PreFilter, preFiltersOf } from "./matching.js";
import type { SearchQuery } from "./search-query.js";
import { SentRequests } from "./sent-requests.js";

/** A text that a model was given, in the newest interaction of its session that it was given in. */
export interface GivenHit {
  readonly key: RowKey;
  readonly kind: string;
  readonly body: JsonObject;
  readonly text: string;
  /** Which of the pack's texts it is. */
  readonly nth: number;
}

const KEYS_AT_ONCE = 256;
/** Each may be as large as an entry can be. */
const CHUNK = 64;
const CHUNK_BYTES = 4 * 1024 * 1024;

export class GivenSearch {
  readonly #parts: ReadingParts;
  readonly #requests: SentRequests;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#requests = new SentRequests(parts);
  }

  /** Hits newest first, after the query's cursor. What comes before it is read, too, because a text is shown once. */
  async *hits(query: SearchQuery): AsyncGenerator<GivenHit, void, undefined> {
    const { after, terms, excluded } = query;
    const preFilters = preFiltersOf(terms);
    const seen = new Set<string>();
    const checked = new WeakSet<object>();
    for await (const { key, stored } of this.#packs(query.filter)) {
      const body = stored.kind === "message" ? await this.#readRequest(stored) : readPack(stored, preFilters);
      if (body === undefined) continue;
      for (const [nth, text] of uncheckedTexts(body, checked)) {
        if (!isMeant(text, terms, excluded)) continue;
        const name = nameOf(body, text);
        if (seen.has(name)) continue;
        seen.add(name);
        if (after === undefined || isBehind({ key, nth }, after)) yield { key, kind: stored.kind, body, text, nth };
      }
    }
  }

  /** How often each of these texts was given in its session. */
  async counts(hits: readonly GivenHit[]): Promise<readonly number[]> {
    const counts = hits.map(() => 0);
    const bySession = new Map<string, { readonly at: number; readonly text: string }[]>();
    for (const [at, { body, text }] of hits.entries()) {
      const session_id = sessionOf(body);
      bySession.set(session_id, [...(bySession.get(session_id) ?? []), { at, text }]);
    }
    for (const [session_id, wanted] of bySession) {
      if (session_id === "") for (const { at } of wanted) counts[at] = 1;
      else {
        for await (const { stored } of this.#packs({ session_id })) {
          if (stored.kind !== "message") count(stored, wanted, counts);
          else countIn((await this.#readRequest(stored)) ?? {}, wanted, counts);
        }
      }
    }
    return counts;
  }

  /** An answer with the request that it names, as if it had been recorded with it. */
  async #readRequest({ body: json, flaw }: StoredBody): Promise<JsonObject | undefined> {
    const body = flaw === undefined ? parseJsonObject(json) : undefined;
    const sent = body === undefined ? undefined : await this.#requests.of(body);
    return sent === undefined ? undefined : { ...body, context_pack: { ...sent } };
  }

  async *#packs(filter: RowFilter): AsyncGenerator<{ readonly key: RowKey; readonly stored: StoredBody }> {
    const turn = new TimeSlice();
    const given = { ...filter, references: [...(filter.references ?? []), HAS_CONTEXT] };
    for await (const keys of rowPages((place) => this.#parts.index.list({ filter: given, ...place }), KEYS_AT_ONCE)) {
      for (let at = 0; at < keys.length; ) {
        const chunk = keys.slice(at, at + CHUNK);
        const bodies = await this.#parts.log.getBodies(
          chunk.map(({ position }) => position),
          CHUNK_BYTES,
        );
        for (const [offset, stored] of bodies.entries()) {
          if (stored !== undefined) yield { key: itemAt(chunk, offset), stored };
          if (turn.isOver) await turn.next();
        }
        at += bodies.length;
      }
    }
  }
}

/** The texts of a body's context pack in their order, each as often as it stands there. */
export function textsIn({ context_pack }: JsonObject): readonly string[] {
  return isJsonObject(context_pack) ? partsOfPack(context_pack).flatMap((part) => part.texts()) : [];
}

/**
 * The texts of a body's context pack, each with its place. Requests of a session share their messages: those that a newer one
 * had are left out, because each text is shown once.
 */
function* uncheckedTexts({ context_pack }: JsonObject, checked: WeakSet<object>): Generator<readonly [number, string]> {
  if (!isJsonObject(context_pack)) return;
  let nth = 0;
  for (const { value, texts } of partsOfPack(context_pack)) {
    const own = texts();
    const isChecked = typeof value === "object" && value !== null && checked.has(value);
    if (!isChecked) for (const [at, text] of own.entries()) yield [nth + at, text];
    if (typeof value === "object" && value !== null) checked.add(value);
    nth += own.length;
  }
}

function readPack({ body, flaw }: StoredBody, preFilters: readonly PreFilter[]): JsonObject | undefined {
  return body === undefined || flaw !== undefined || !mayHold(body, preFilters) ? undefined : parseJsonObject(body);
}

function isMeant(text: string, terms: readonly string[], excluded: readonly string[]): boolean {
  const normal = normalise(text);
  const holds = (term: string): boolean => indexOfText(normal, term) !== -1;
  return terms.every(holds) && !excluded.some(holds);
}

function isBehind(place: { readonly key: RowKey; readonly nth: number }, after: ListPlace): boolean {
  const { created_ms, position } = place.key;
  if (created_ms !== after.created_ms) return created_ms < after.created_ms;
  return position === after.position ? place.nth > (after.nth ?? -1) : position < after.position;
}

/** Entries without a session are told apart. */
function nameOf(body: JsonObject, text: string): string {
  const where = sessionOf(body) || String(body.id);
  return hash("sha256", `${where}\n${text}`, "base64url");
}

function sessionOf({ session_id }: JsonObject): string {
  return typeof session_id === "string" ? session_id : "";
}

function count(
  { body: json, flaw }: StoredBody,
  wanted: readonly { readonly at: number; readonly text: string }[],
  counts: number[],
): void {
  if (json === undefined || flaw !== undefined) return;
  // A text occurs in the body as JSON writes it, unless it is a number.
  const possible = wanted.filter(({ text }) => NO_STRING.test(text) || json.includes(JSON.stringify(text)));
  if (possible.length > 0) countIn(parseJsonObject(json) ?? {}, possible, counts);
}

function countIn(
  body: JsonObject,
  wanted: readonly { readonly at: number; readonly text: string }[],
  counts: number[],
): void {
  const texts = new Set(textsIn(body));
  for (const { at, text } of wanted) if (texts.has(text)) counts[at] = (counts[at] ?? 0) + 1;
}

const NO_STRING = /^(?:[0-9.eE+-]+|true|false)$/;
