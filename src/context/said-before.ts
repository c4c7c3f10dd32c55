// What was said in a session before an answer: whether answers were given it, and for how long.
import type { FallReason } from "../model/context.js";
import type { RowKey } from "../ports/entry-index.js";
import { stretchBefore } from "../read/history/stretch.js";
import type { ReadingParts } from "../read/reader.js";
import { Matcher } from "../read/search/matching.js";
import { type Life, Lives } from "./lives.js";

interface Wish {
  readonly session_id: string;
  readonly before: number;
  readonly phrase: string;
}

/** An answer, and why later ones were not given what it was. */
export interface LastGiven {
  readonly position: number;
  readonly why: FallReason | undefined;
}

/** Where it may have been said, and how long that stayed. */
interface Said {
  readonly lives: Lives | undefined;
  readonly positions: readonly number[];
}

const PAGE = 1_024;
/** So many entries that say it are looked at from either end, where no answer was given the first ones. */
const TRIED_MAX = 32;

export class SaidBefore {
  readonly #parts: ReadingParts;
  readonly #matcher: Matcher;
  readonly #said: Promise<Said>;

  constructor(parts: ReadingParts, wish: Wish) {
    this.#parts = parts;
    this.#matcher = new Matcher({ terms: [wish.phrase], excluded: [] });
    this.#said = this.#find(wish);
  }

  /** The first answer that was given it. */
  async first(): Promise<number | undefined> {
    const { positions, lives } = await this.#said;
    return (await this.#firstLife(positions, lives, () => true))?.first;
  }

  /** The last answer that was given it, where it was taken away since, or where that is not asked. */
  async last({ isTaken }: { readonly isTaken: boolean }): Promise<LastGiven | undefined> {
    const { positions, lives } = await this.#said;
    const life = await this.#firstLife(positions.toReversed(), lives, ({ why }) => !isTaken || why !== undefined);
    return life === undefined ? undefined : { position: life.last, why: life.why };
  }

  async #firstLife(
    positions: readonly number[],
    lives: Lives | undefined,
    isWanted: (life: Life) => boolean,
  ): Promise<Life | undefined> {
    let tried = 0;
    for (const position of positions) {
      if (tried >= TRIED_MAX) break;
      const [stored] = await this.#parts.log.getBodies([position]);
      const match = stored === undefined ? undefined : this.#matcher.match(stored);
      if (match === undefined) continue;
      const life = await lives?.lifeOf(position, match.found?.field === "prompt");
      if (life !== undefined && isWanted(life)) return life;
      tried += 1;
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
