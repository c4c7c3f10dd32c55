// Which interactions of a session were given a phrase, by their recorded context packs and prompts; and which answers have no
// recorded context.
//
// The distinct texts of a session are cached with the packs that hold them. Sessions with very large packs are read every time.

import { sameCallsIn } from "../index/call-steps.js";
import { partsOfPack } from "../index/derivation.js";
import { rowPages } from "../index/port.js";
import { HAS_CONTEXT } from "../index/references.js";
import type { StoredBody } from "../log/port.js";
import { itemAt } from "../model/item-at.js";
import { isJsonObject, type JsonObject, parseJsonObject } from "../model/json.js";
import { SerialQueue, TimeSlice } from "../model/scheduling.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { indexOfText, mayHold, preFiltersOf } from "../search/matching.js";
import type { SentRequests } from "../search/sent-requests.js";
import { positionsIn } from "../sessions/history/span.js";
import { getSession } from "../sessions/session-list.js";
import { isRecordedPack } from "./assemble.js";
import { comparableWithin } from "./comparable.js";

/** Few bodies are read at first, because the first often matches; each may be as large as an entry can be. */
const CHUNK_FIRST = 4;
const CHUNK_MAX = 256;
const KEYS_AT_ONCE = 1_000;
const CHUNK_BYTES = 4 * 1024 * 1024;
/** A session with larger packs gets no table. */
const TABLE_BYTES_MAX = 128 * 1024 * 1024;
/** The cache of all sessions together, in characters. */
const CHARS_MAX = 32 * 1024 * 1024;
/** What a session costs besides its texts, and what each of its answers costs, in characters. */
const SESSION_CHARS = 1_024;
const ANSWER_CHARS = 4;

/** Valid while the session's last position and count of entries stay the same. */
interface CachedSession {
  readonly last_position: number;
  readonly entries: number;
  /** Undefined where the packs are too large. */
  readonly table: PackTable | undefined;
  /** Positions of the answers without a recorded context, in order. */
  readonly unrecorded: readonly number[];
}

export interface PackQuery {
  readonly session_id: string;
  /** Only packs before this position. */
  readonly before: number;
  /** In the form that is compared. */
  readonly phrase: string;
}

export class RecordedPacks {
  readonly #parts: ReadingParts;
  readonly #requests: SentRequests;
  readonly #tableBytesMax: number;
  readonly #cache = new Map<string, CachedSession>();
  readonly #making = new SerialQueue();
  readonly #textsByMessage = new WeakMap<object, readonly string[]>();

  constructor(parts: ReadingParts, requests: SentRequests, tableBytesMax = TABLE_BYTES_MAX) {
    this.#parts = parts;
    this.#requests = requests;
    this.#tableBytesMax = tableBytesMax;
  }

  /** Positions of the first and of the last interaction whose recorded context holds the phrase; undefined where none does. */
  async uses(query: PackQuery): Promise<{ readonly first: number; readonly last: number } | undefined> {
    const { table } = await this.#session(query.session_id);
    if (table !== undefined) return table.uses(query);
    const given = await this.#givenPositions(query.session_id);
    const positions = given.filter((position) => position < query.before);
    const first = await this.#find(positions, query.phrase);
    if (first === undefined) return undefined;
    return { first, last: (await this.#find(positions.toReversed(), query.phrase)) ?? first };
  }

  /** Positions of the answers without a recorded context, in order: they were given what the session had said by then. */
  async unrecorded(session_id: string): Promise<readonly number[]> {
    return (await this.#session(session_id)).unrecorded;
  }

  /** One at a time: no session is read twice at once. */
  #session(session_id: string): Promise<Pick<CachedSession, "table" | "unrecorded">> {
    return this.#making.run(() => this.#upToDate(session_id));
  }

  async #upToDate(session_id: string): Promise<Pick<CachedSession, "table" | "unrecorded">> {
    const session = session_id === "" ? undefined : await getSession(this.#parts.index, session_id);
    if (session === undefined) return { table: new PackTable(), unrecorded: [] };
    const { last_position, entries } = session;
    const known = this.#cache.get(session_id);
    this.#cache.delete(session_id);
    const isSame = known?.last_position === last_position && known.entries === entries;
    const present = isSame ? known : { last_position, entries, ...(await this.#update(session_id, known?.table)) };
    this.#cache.set(session_id, present);
    this.#evict();
    return present;
  }

  async #update(
    session_id: string,
    before: PackTable | undefined,
  ): Promise<Pick<CachedSession, "table" | "unrecorded">> {
    const given = await this.#givenPositions(session_id);
    const table = await this.#table(given, before);
    const messages = await this.#positions(session_id, { kinds: ["message"], role: "assistant" });
    const answers = [...new Set([...messages, ...given])].sort((left, right) => left - right);
    const isRecorded = await this.#recordedAnswers(session_id, table, { messages, given });
    return { table, unrecorded: answers.filter((position) => !isRecorded(position)) };
  }

  /** A message is recorded, too, where it is the same call as an interaction whose context was recorded. */
  async #recordedAnswers(
    session_id: string,
    table: PackTable | undefined,
    { messages, given }: { readonly messages: readonly number[]; readonly given: readonly number[] },
  ): Promise<(position: number) => boolean> {
    const recorded = table?.recorded ?? new Set<number>();
    const [from, through] = [messages[0], messages.at(-1)];
    if (from === undefined || through === undefined || given.length === 0) return (position) => recorded.has(position);
    const { interactionOf } = await sameCallsIn(this.#parts.index, { session_id, from, through });
    return (position) => recorded.has(position) || recorded.has(interactionOf.get(position) ?? 0);
  }

  /** Positions of interactions, and of messages that name their request, in order. */
  async #givenPositions(session_id: string): Promise<readonly number[]> {
    const positions = [...(await this.#positions(session_id, { kinds: ["interaction"] }))];
    const filter = { session_id, kinds: ["message"], references: [HAS_CONTEXT] };
    for await (const page of rowPages((place) => this.#parts.index.list({ filter, ...place }), KEYS_AT_ONCE)) {
      for (const { position } of page) positions.push(position);
    }
    return positions.sort((left, right) => left - right);
  }

  /** Extends the table, or builds a new one where an entry was forgotten since. */
  async #table(positions: readonly number[], before: PackTable | undefined): Promise<PackTable | undefined> {
    const table = before?.isMadeFrom(positions) === true ? before : new PackTable();
    const rest = positions.slice(table.packs);
    const turn = new TimeSlice();
    for (let at = 0; at < rest.length; ) {
      const bodies = await this.#parts.log.getBodies(rest.slice(at, at + CHUNK_MAX), CHUNK_BYTES);
      for (const [offset, stored] of bodies.entries()) {
        table.add(itemAt(rest, at + offset), { ...(await this.#given(stored)), bytes: stored?.body?.length ?? 0 });
        if (turn.isOver) await turn.next();
      }
      if (table.bytes > this.#tableBytesMax) return undefined;
      at += bodies.length;
    }
    return table;
  }

  /** Least recently used first. */
  #evict(): void {
    let chars = 0;
    for (const known of this.#cache.values()) chars += weightOf(known);
    for (const [session_id, known] of this.#cache) {
      if (chars <= CHARS_MAX) return;
      chars -= weightOf(known);
      this.#cache.delete(session_id);
    }
  }

  async #find(positions: readonly number[], phrase: string): Promise<number | undefined> {
    const preFilters = preFiltersOf([phrase]);
    const turn = new TimeSlice();
    let size = CHUNK_FIRST;
    for (let at = 0; at < positions.length; ) {
      const bodies = await this.#parts.log.getBodies(positions.slice(at, at + size), CHUNK_BYTES);
      for (const [offset, stored] of bodies.entries()) {
        // A message names its request, which is another entry.
        const mayBe = stored?.body !== undefined && (stored.kind === "message" || mayHold(stored.body, preFilters));
        const holds = (text: string): boolean => indexOfText(comparableWithin(text), phrase) !== -1;
        if (mayBe && (await this.#given(stored)).texts.some(holds)) return positions[at + offset];
        if (turn.isOver) await turn.next();
      }
      at += bodies.length;
      size = Math.min(size * 2, CHUNK_MAX);
    }
    return undefined;
  }

  /** Nothing for an erased or damaged entry. */
  async #given(stored: StoredBody | undefined): Promise<GivenTexts> {
    const isThere = stored?.body !== undefined && stored.flaw === undefined;
    const body = (isThere ? parseJsonObject(stored.body) : undefined) ?? {};
    if (stored?.kind !== "message") return givenIn(body);
    const sent = await this.#requests.of(body);
    if (sent === undefined) return NOTHING_GIVEN;
    // Requests of a session share their messages.
    const texts = partsOfPack({ ...sent }).flatMap((part) => {
      const { value } = part;
      if (typeof value !== "object" || value === null) return part.texts();
      const known = this.#textsByMessage.get(value) ?? part.texts();
      this.#textsByMessage.set(value, known);
      return known;
    });
    return { texts, isRecorded: true };
  }

  async #positions(session_id: string, filter: Parameters<typeof positionsIn>[2]): Promise<readonly number[]> {
    const positions: number[] = [];
    for await (const page of positionsIn(this.#parts.index, { session_id, above: 0 }, filter)) {
      for (const position of page) positions.push(position);
    }
    return positions;
  }
}

function weightOf({ table, unrecorded }: CachedSession): number {
  return SESSION_CHARS + (table?.chars ?? 0) + ANSWER_CHARS * unrecorded.length;
}

interface GivenTexts {
  readonly texts: readonly string[];
  readonly isRecorded: boolean;
}

const NOTHING_GIVEN: GivenTexts = { texts: [], isRecorded: false };

function givenIn({ prompt, context_pack }: JsonObject): GivenTexts {
  const pack = isJsonObject(context_pack) ? context_pack : {};
  const texts = textsOfPack(pack);
  return { texts: typeof prompt === "string" ? [...texts, prompt] : texts, isRecorded: isRecordedPack(pack) };
}

function textsOfPack(pack: JsonObject): readonly string[] {
  return partsOfPack(pack).flatMap((part) => part.texts());
}

/** A text as it is compared, and the runs of packs that hold it, both ends included. */
interface KnownText {
  readonly normal: string;
  readonly runs: { readonly from: number; through: number }[];
}

/** The distinct texts that a session's interactions were given, each with the interactions that were given it. */
class PackTable {
  readonly #positions: number[] = [];
  readonly #texts = new Map<string, KnownText>();
  readonly #recorded = new Set<number>();
  #bytes = 0;
  #chars = 0;

  /** How many packs it covers. */
  get packs(): number {
    return this.#positions.length;
  }

  /** The size of their bodies. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Positions of those whose whole context was recorded. */
  get recorded(): ReadonlySet<number> {
    return this.#recorded;
  }

  /** The size of the table. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether these are the packs that it covers, and perhaps more. */
  isMadeFrom(positions: readonly number[]): boolean {
    return this.#positions.every((position, nth) => positions[nth] === position);
  }

  add(
    position: number,
    given: { readonly texts: readonly string[]; readonly bytes: number; readonly isRecorded: boolean },
  ): void {
    const nth = this.#positions.length;
    this.#positions.push(position);
    if (given.isRecorded) this.#recorded.add(position);
    this.#bytes += given.bytes;
    for (const text of given.texts) {
      const known = this.#texts.get(text);
      const last = known?.runs.at(-1);
      if (last !== undefined && last.through >= nth - 1) last.through = nth;
      else if (known !== undefined) known.runs.push({ from: nth, through: nth });
      else {
        this.#texts.set(text, { normal: comparableWithin(text), runs: [{ from: nth, through: nth }] });
        this.#chars += 2 * text.length;
      }
    }
  }

  /** Positions of the first and the last pack before a position that hold the phrase. */
  uses({ phrase, before }: { readonly phrase: string; readonly before: number }) {
    const end = this.#countBefore(before);
    let [first, last] = [Number.POSITIVE_INFINITY, -1];
    for (const { normal, runs } of this.#texts.values()) {
      // Most texts cannot change the answer and are skipped.
      const earliest = runs[0]?.from ?? end;
      const run = runs.findLast(({ from }) => from < end);
      if (run === undefined || (earliest >= first && Math.min(run.through, end - 1) <= last)) continue;
      if (indexOfText(normal, phrase) === -1) continue;
      first = Math.min(first, earliest);
      last = Math.max(last, Math.min(run.through, end - 1));
    }
    return last === -1 ? undefined : { first: itemAt(this.#positions, first), last: itemAt(this.#positions, last) };
  }

  #countBefore(position: number): number {
    let [low, high] = [0, this.#positions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (itemAt(this.#positions, middle) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
