// What was said in a session before an answer: whether answers were given it, and for how long.
import { Turn } from "../model/turn.js";
import type { RowKey } from "../ports/entry-index.js";
import { stretchBefore } from "../read/history/stretch.js";
import type { ReadingParts } from "../read/reader.js";
import { Matcher } from "../read/search/matching.js";
import { type LastGiven, Lives } from "./lives.js";

interface Wish {
  readonly session_id: string;
  readonly before: number;
  readonly phrase: string;
}

/** Where it may have been said, and how long that stayed. */
interface Said {
  readonly lives: Lives | undefined;
  readonly positions: readonly number[];
}

/** All of them mostly: whoever wants the first and the last needs every candidate, and each page looks for them anew. */
const PAGE = 16_384;
/** Few are read at first, since the first is mostly the one; many where texts are not indexed yet. */
const CHUNK_FIRST = 4;
const CHUNK_MAX = 256;
const CHUNK_BYTES = 1024 * 1024;
/** So many entries that say it are looked at from either end, where no answer was given the first ones. */
const TRIED_MAX = 32;

export class SaidBefore {
  readonly #parts: ReadingParts;
  readonly #wish: Wish;
  readonly #matcher: Matcher;
  #found: Promise<Said> | undefined;

  constructor(parts: ReadingParts, wish: Wish) {
    this.#parts = parts;
    this.#matcher = new Matcher({ terms: [wish.phrase], excluded: [] });
    this.#wish = wish;
  }

  /** The first answer that was given it. */
  async first(): Promise<number | undefined> {
    const { positions, lives } = await this.#said();
    return this.#firstOf(positions, (position, isOwn) => lives?.firstAnswer(position, isOwn));
  }

  /** The last answer that was given it, where it was taken away since, or where that is not asked. */
  async last({ isTaken }: { readonly isTaken: boolean }): Promise<LastGiven | undefined> {
    const { positions, lives } = await this.#said();
    return this.#firstOf(positions.toReversed(), async (position, isOwn) => {
      const last = await lives?.lastAnswer(position, isOwn);
      return isTaken && last?.why === undefined ? undefined : last;
    });
  }

  /** Looked up once, when it is first needed. */
  #said(): Promise<Said> {
    this.#found ??= this.#find(this.#wish);
    return this.#found;
  }

  /** What is found for the first of these that really says it and has something to be found. */
  async #firstOf<T>(
    positions: readonly number[],
    find: (position: number, isOwnPrompt: boolean) => Promise<T | undefined> | undefined,
  ): Promise<T | undefined> {
    const turn = new Turn();
    let tried = 0;
    let size = CHUNK_FIRST;
    for (let at = 0; at < positions.length; ) {
      const bodies = await this.#parts.log.getBodies(positions.slice(at, at + size), CHUNK_BYTES);
      for (const [offset, stored] of bodies.entries()) {
        const match = stored === undefined ? undefined : this.#matcher.match(stored);
        if (turn.isOver) await turn.next();
        if (match === undefined) continue;
        const found = await find(positions[at + offset] as number, match.found?.field === "prompt");
        tried += 1;
        if (found !== undefined || tried >= TRIED_MAX) return found;
      }
      at += bodies.length;
      size = Math.min(size * 2, CHUNK_MAX);
    }
    return undefined;
  }

  /** Entries of the history that may hold the phrase, in order of position. */
  async #find({ session_id, before, phrase }: Wish): Promise<Said> {
    const stretch = await stretchBefore(this.#parts.index, { session_id, before });
    if (stretch === undefined) return { lives: undefined, positions: [] };
    const filter = { session_id, kinds: stretch.kinds };
    const positions: number[] = [];
    for (let after: RowKey | undefined; ; ) {
      const query = { filter, needles: [phrase], limit: PAGE, ...(after === undefined ? {} : { after }) };
      const page = await this.#parts.index.candidates(query);
      for (const { position } of page) if (position < before) positions.push(position);
      if (page.length < PAGE) break;
      after = page.at(-1);
    }
    const lives = new Lives(this.#parts, { ...stretch, before });
    return { lives, positions: positions.sort((left, right) => left - right) };
  }
}
