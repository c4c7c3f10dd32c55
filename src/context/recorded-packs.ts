// The context packs that a session's interactions were recorded with: which of them hold a phrase.
//
// What is asked once of a session is asked again, so the distinct texts of its packs are kept, each with where it was given.
// Sessions whose packs hold more than that is good for are looked through every time.
import { HAS_CONTEXT } from "../indexing/entry-row.js";
import { partsOfPack } from "../indexing/given-texts.js";
import { isJsonObject, parseJsonObject } from "../model/json.js";
import { normalise } from "../model/normalise.js";
import { OneAtATime } from "../model/one-at-a-time.js";
import { Turn } from "../model/turn.js";
import type { RowKey } from "../ports/entry-index.js";
import type { StoredBody } from "../ports/entry-log.js";
import type { ReadingParts } from "../read/reader.js";
import { indexOfText } from "../read/search/matching.js";
import { mayHold, sieveOf } from "../read/search/sieve.js";
import { getSession } from "../read/session-list.js";
import { PackTable } from "./pack-table.js";

const PAGE = 1_000;
/** Few are read at first, since the first is often the one; each may be as large as an entry can be. */
const CHUNK_FIRST = 4;
const CHUNK_MAX = 256;
const CHUNK_BYTES = 4 * 1024 * 1024;
/** Packs of a session that hold more than this are not made a table of. */
const TABLE_BYTES_MAX = 128 * 1024 * 1024;
/** All tables together keep no more characters than this. */
const CHARS_MAX = 32 * 1024 * 1024;

/** What a table was made from, by what changes with every change of a session. */
interface KnownTable {
  readonly last_position: number;
  readonly entries: number;
  /** Undefined where the packs hold too much. */
  readonly table: PackTable | undefined;
}

export interface PackWish {
  readonly session_id: string;
  /** Only packs before this position. */
  readonly before: number;
  /** In the form that searches compare. */
  readonly phrase: string;
}

export class RecordedPacks {
  readonly #parts: ReadingParts;
  readonly #tableBytesMax: number;
  readonly #known = new Map<string, KnownTable>();
  readonly #making = new OneAtATime();

  constructor(parts: ReadingParts, tableBytesMax = TABLE_BYTES_MAX) {
    this.#parts = parts;
    this.#tableBytesMax = tableBytesMax;
  }

  /** Positions of the first and of the last interaction that was given the phrase; undefined where none was. */
  async uses(wish: PackWish): Promise<{ readonly first: number; readonly last: number } | undefined> {
    if (wish.session_id === "") return undefined;
    const table = await this.#table(wish.session_id);
    if (table !== undefined) return table.uses(wish);
    const positions = (await this.#positions(wish.session_id)).filter((position) => position < wish.before);
    const first = await this.#find(positions, wish.phrase);
    if (first === undefined) return undefined;
    return { first, last: (await this.#find(positions.toReversed(), wish.phrase)) ?? first };
  }

  /** One after the other, so that no session is read by two at once. */
  #table(session_id: string): Promise<PackTable | undefined> {
    return this.#making.run(() => this.#upToDate(session_id));
  }

  async #upToDate(session_id: string): Promise<PackTable | undefined> {
    const session = await getSession(this.#parts.index, session_id);
    if (session === undefined) return new PackTable();
    const { last_position, entries } = session;
    const known = this.#known.get(session_id);
    this.#known.delete(session_id);
    const isSame = known?.last_position === last_position && known.entries === entries;
    const table = isSame ? known.table : await this.#grown(session_id, known?.table);
    this.#known.set(session_id, { last_position, entries, table });
    this.#letGo();
    return table;
  }

  /** What was forgotten since leaves no trace: the table is then made anew. */
  async #grown(session_id: string, before: PackTable | undefined): Promise<PackTable | undefined> {
    const positions = await this.#positions(session_id);
    const table = before?.isMadeFrom(positions) === true ? before : new PackTable();
    const rest = positions.slice(table.packs);
    const turn = new Turn();
    for (let at = 0; at < rest.length; ) {
      const bodies = await this.#parts.log.getBodies(rest.slice(at, at + CHUNK_MAX), CHUNK_BYTES);
      for (const [offset, stored] of bodies.entries()) {
        table.add(rest[at + offset] as number, textsIn(stored), stored?.body?.length ?? 0);
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
    for (const { table } of this.#known.values()) chars += table?.chars ?? 0;
    for (const [session_id, { table }] of this.#known) {
      if (chars <= CHARS_MAX) return;
      chars -= table?.chars ?? 0;
      this.#known.delete(session_id);
    }
  }

  async #find(positions: readonly number[], phrase: string): Promise<number | undefined> {
    const sieves = sieveOf([phrase]);
    const turn = new Turn();
    let size = CHUNK_FIRST;
    for (let at = 0; at < positions.length; ) {
      const bodies = await this.#parts.log.getBodies(positions.slice(at, at + size), CHUNK_BYTES);
      for (const [offset, stored] of bodies.entries()) {
        const mayBe = stored?.body !== undefined && mayHold(stored.body, sieves);
        const holds = (text: string): boolean => indexOfText(normalise(text), phrase) !== -1;
        if (mayBe && textsIn(stored).some(holds)) return positions[at + offset];
        if (turn.isOver) await turn.next();
      }
      at += bodies.length;
      size = Math.min(size * 2, CHUNK_MAX);
    }
    return undefined;
  }

  /** Positions of the session's interactions whose context was recorded, in order. */
  async #positions(session_id: string): Promise<readonly number[]> {
    const filter = { session_id, kinds: ["interaction"], references: [HAS_CONTEXT] };
    const positions: number[] = [];
    for (let after: RowKey | undefined; ; ) {
      const page = await this.#parts.index.list({ filter, limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const { position } of page) positions.push(position);
      if (page.length < PAGE) break;
      after = page.at(-1);
    }
    return positions.sort((left, right) => left - right);
  }
}

/** Of one that was erased or damaged there are none, and `verify` tells which. */
function textsIn(stored: StoredBody | undefined): readonly string[] {
  if (stored?.body === undefined || stored.flaw !== undefined) return [];
  const { context_pack } = parseJsonObject(stored.body) ?? {};
  return isJsonObject(context_pack) ? partsOfPack(context_pack).flatMap((part) => part.texts()) : [];
}
