// What the interactions of a session were given by themselves, with the packs that they were recorded with and their prompts:
// which of them hold a phrase. And the other answers, which were given what the session had said by then.
//
// What is asked once of a session is asked again, so the distinct texts are kept, each with where it was given. Sessions whose
// packs hold more than that is good for are looked through every time.

import { partsOfPack } from "../index/given-texts.js";
import type { StoredBody } from "../log/port.js";
import { itemAt } from "../model/item-at.js";
import { isJsonObject, parseJsonObject } from "../model/json.js";
import { normalise } from "../model/normalise.js";
import { SerialQueue, TimeSlice } from "../model/scheduling.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { indexOfText, mayHold, sieveOf } from "../search/matching.js";
import { positionsIn } from "../sessions/history/span.js";
import { getSession } from "../sessions/session-list.js";
import { isRecordedPack } from "./assemble.js";

/** Few are read at first, since the first is often the one; each may be as large as an entry can be. */
const CHUNK_FIRST = 4;
const CHUNK_MAX = 256;
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Packs of a session that hold more than this are not made a table of. */
const TABLE_BYTES_MAX = 128 * 1024 * 1024;
/** All that is kept of sessions together weighs no more than so many characters. */
const CHARS_MAX = 32 * 1024 * 1024;
/** What a session weighs besides its texts, and each of its answers, in characters. */
const SESSION_CHARS = 1_024;
const ANSWER_CHARS = 4;

/** What is known of a session, and what changes with every change of it. */
interface KnownSession {
  readonly last_position: number;
  readonly entries: number;
  /** Undefined where the packs hold too much. */
  readonly table: PackTable | undefined;
  /** Positions of all answers but those whose table says that their context was recorded, in order. */
  readonly putTogether: readonly number[];
}

export interface PackQuery {
  readonly session_id: string;
  /** Only packs before this position. */
  readonly before: number;
  /** In the form that searches compare. */
  readonly phrase: string;
}

export class RecordedPacks {
  readonly #parts: ReadingParts;
  readonly #tableBytesMax: number;
  readonly #known = new Map<string, KnownSession>();
  readonly #making = new SerialQueue();

  constructor(parts: ReadingParts, tableBytesMax = TABLE_BYTES_MAX) {
    this.#parts = parts;
    this.#tableBytesMax = tableBytesMax;
  }

  /** Positions of the first and of the last interaction that was given the phrase by itself; undefined where none was. */
  async uses(wish: PackQuery): Promise<{ readonly first: number; readonly last: number } | undefined> {
    const { table } = await this.#session(wish.session_id);
    if (table !== undefined) return table.uses(wish);
    const interactions = await this.#positions(wish.session_id, { kinds: ["interaction"] });
    const positions = interactions.filter((position) => position < wish.before);
    const first = await this.#find(positions, wish.phrase);
    if (first === undefined) return undefined;
    return { first, last: (await this.#find(positions.toReversed(), wish.phrase)) ?? first };
  }

  /** Positions of the answers that may have been given what the session had said by then, in order. */
  async putTogether(session_id: string): Promise<readonly number[]> {
    return (await this.#session(session_id)).putTogether;
  }

  /** One after the other, so that no session is read by two at once. */
  #session(session_id: string): Promise<Pick<KnownSession, "table" | "putTogether">> {
    return this.#making.run(() => this.#upToDate(session_id));
  }

  async #upToDate(session_id: string): Promise<Pick<KnownSession, "table" | "putTogether">> {
    const session = session_id === "" ? undefined : await getSession(this.#parts.index, session_id);
    if (session === undefined) return { table: new PackTable(), putTogether: [] };
    const { last_position, entries } = session;
    const known = this.#known.get(session_id);
    this.#known.delete(session_id);
    const isSame = known?.last_position === last_position && known.entries === entries;
    const present = isSame ? known : { last_position, entries, ...(await this.#grown(session_id, known?.table)) };
    this.#known.set(session_id, present);
    this.#letGo();
    return present;
  }

  async #grown(
    session_id: string,
    before: PackTable | undefined,
  ): Promise<Pick<KnownSession, "table" | "putTogether">> {
    const interactions = await this.#positions(session_id, { kinds: ["interaction"] });
    const table = await this.#table(interactions, before);
    const messages = await this.#positions(session_id, { kinds: ["message"], role: "assistant" });
    const others = interactions.filter((position) => table?.recorded.has(position) !== true);
    return { table, putTogether: [...messages, ...others].sort((left, right) => left - right) };
  }

  /** What was forgotten since leaves no trace: the table is then made anew. */
  async #table(positions: readonly number[], before: PackTable | undefined): Promise<PackTable | undefined> {
    const table = before?.isMadeFrom(positions) === true ? before : new PackTable();
    const rest = positions.slice(table.packs);
    const turn = new TimeSlice();
    for (let at = 0; at < rest.length; ) {
      const bodies = await this.#parts.log.getBodies(rest.slice(at, at + CHUNK_MAX), CHUNK_BYTES);
      for (const [offset, stored] of bodies.entries()) {
        table.add(itemAt(rest, at + offset), { ...givenIn(stored), bytes: stored?.body?.length ?? 0 });
        if (turn.isOver) await turn.next();
      }
      if (table.bytes > this.#tableBytesMax) return undefined;
      at += bodies.length;
    }
    return table;
  }

  /** Those that were asked for longest ago go first. */
  #letGo(): void {
    let chars = 0;
    for (const known of this.#known.values()) chars += weightOf(known);
    for (const [session_id, known] of this.#known) {
      if (chars <= CHARS_MAX) return;
      chars -= weightOf(known);
      this.#known.delete(session_id);
    }
  }

  async #find(positions: readonly number[], phrase: string): Promise<number | undefined> {
    const sieves = sieveOf([phrase]);
    const turn = new TimeSlice();
    let size = CHUNK_FIRST;
    for (let at = 0; at < positions.length; ) {
      const bodies = await this.#parts.log.getBodies(positions.slice(at, at + size), CHUNK_BYTES);
      for (const [offset, stored] of bodies.entries()) {
        const mayBe = stored?.body !== undefined && mayHold(stored.body, sieves);
        const holds = (text: string): boolean => indexOfText(normalise(text), phrase) !== -1;
        if (mayBe && givenIn(stored).texts.some(holds)) return positions[at + offset];
        if (turn.isOver) await turn.next();
      }
      at += bodies.length;
      size = Math.min(size * 2, CHUNK_MAX);
    }
    return undefined;
  }

  async #positions(session_id: string, filter: Parameters<typeof positionsIn>[2]): Promise<readonly number[]> {
    const positions: number[] = [];
    for await (const page of positionsIn(this.#parts.index, { session_id, above: 0 }, filter)) {
      for (const position of page) positions.push(position);
    }
    return positions;
  }
}

function weightOf({ table, putTogether }: KnownSession): number {
  return SESSION_CHARS + (table?.chars ?? 0) + ANSWER_CHARS * putTogether.length;
}

/** Of one that was erased or damaged there is nothing, and `verify` tells which. */
function givenIn(stored: StoredBody | undefined): { readonly texts: readonly string[]; readonly isRecorded: boolean } {
  const isThere = stored?.body !== undefined && stored.flaw === undefined;
  const { prompt, context_pack } = (isThere ? parseJsonObject(stored.body) : undefined) ?? {};
  const pack = isJsonObject(context_pack) ? context_pack : {};
  const texts = partsOfPack(pack).flatMap((part) => part.texts());
  return { texts: typeof prompt === "string" ? [...texts, prompt] : texts, isRecorded: isRecordedPack(pack) };
}

// The distinct texts that a session's interactions were given by themselves, each with those that were given it.

/** A text in the form that searches compare, and the runs of packs that hold it: from one to another, both included. */
interface KnownText {
  readonly normal: string;
  readonly runs: { readonly from: number; through: number }[];
}

class PackTable {
  readonly #positions: number[] = [];
  readonly #texts = new Map<string, KnownText>();
  readonly #recorded = new Set<number>();
  #bytes = 0;
  #chars = 0;

  /** How many packs it was made from. */
  get packs(): number {
    return this.#positions.length;
  }

  /** How much these held. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Positions of those whose whole context was recorded. */
  get recorded(): ReadonlySet<number> {
    return this.#recorded;
  }

  /** How much is kept of it. */
  get chars(): number {
    return this.#chars;
  }

  /** Whether these are the packs that it was made from, and perhaps more. */
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
        this.#texts.set(text, { normal: normalise(text), runs: [{ from: nth, through: nth }] });
        this.#chars += 2 * text.length;
      }
    }
  }

  /** Positions of the first and the last pack before a position that hold the phrase. */
  uses({ phrase, before }: { readonly phrase: string; readonly before: number }) {
    const end = this.#countBefore(before);
    let [first, last] = [Number.POSITIVE_INFINITY, -1];
    for (const { normal, runs } of this.#texts.values()) {
      // Most texts cannot change the answer, and are not looked through.
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
