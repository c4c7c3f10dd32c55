// The context packs that a session's interactions were recorded with: which of them hold a phrase.
import { HAS_CONTEXT } from "../indexing/entry-row.js";
import { partsOfPack } from "../indexing/given-texts.js";
import type { EntryPlace } from "../model/context.js";
import { isJsonObject, parseJsonObject } from "../model/json.js";
import { normalise } from "../model/normalise.js";
import { Turn } from "../model/turn.js";
import type { RowKey } from "../ports/entry-index.js";
import type { StoredBody } from "../ports/entry-log.js";
import type { ReadingParts } from "../read/reader.js";
import { indexOfText } from "../read/search/matching.js";
import { mayHold, type Sieve, sieveOf } from "../read/search/sieve.js";

const PAGE = 1_000;
/** Few are read at first, since the first is often the one; each may be as large as an entry can be. */
const CHUNK_FIRST = 4;
const CHUNK_MAX = 256;
const CHUNK_BYTES = 4 * 1024 * 1024;

export class RecordedPacks {
  readonly #parts: ReadingParts;
  readonly #session_id: string;
  readonly #before: number;
  readonly #phrase: string;
  readonly #sieves: readonly Sieve[];
  #positions: Promise<readonly number[]> | undefined;

  constructor(
    parts: ReadingParts,
    wish: { readonly session_id: string; readonly before: number; readonly phrase: string },
  ) {
    this.#parts = parts;
    this.#session_id = wish.session_id;
    this.#before = wish.before;
    this.#phrase = wish.phrase;
    this.#sieves = sieveOf([wish.phrase]);
  }

  async first(): Promise<EntryPlace | undefined> {
    return this.#find(await this.#inOrder());
  }

  async last(): Promise<EntryPlace | undefined> {
    return this.#find((await this.#inOrder()).toReversed());
  }

  async #find(positions: readonly number[]): Promise<EntryPlace | undefined> {
    const turn = new Turn();
    let size = CHUNK_FIRST;
    for (let at = 0; at < positions.length; ) {
      const bodies = await this.#parts.log.getBodies(positions.slice(at, at + size), CHUNK_BYTES);
      for (const stored of bodies) {
        const entry_id = stored === undefined ? undefined : this.#holder(stored);
        if (entry_id !== undefined) return { entry_id, position: (stored as StoredBody).position };
        if (turn.isOver) await turn.next();
      }
      at += bodies.length;
      size = Math.min(size * 2, CHUNK_MAX);
    }
    return undefined;
  }

  /** Positions in order. */
  #inOrder(): Promise<readonly number[]> {
    this.#positions ??= this.#list();
    return this.#positions;
  }

  async #list(): Promise<readonly number[]> {
    if (this.#session_id === "") return [];
    const filter = { session_id: this.#session_id, kinds: ["interaction"], references: [HAS_CONTEXT] };
    const positions: number[] = [];
    for (let after: RowKey | undefined; ; ) {
      const page = await this.#parts.index.list({ filter, limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const { position } of page) if (position < this.#before) positions.push(position);
      if (page.length < PAGE) break;
      after = page.at(-1);
    }
    return positions.sort((left, right) => left - right);
  }

  /** The id of the interaction, where its pack holds the phrase. */
  #holder({ body: text, flaw }: StoredBody): string | undefined {
    if (text === undefined || flaw !== undefined || !mayHold(text, this.#sieves)) return undefined;
    const { context_pack, id } = parseJsonObject(text) ?? {};
    if (!isJsonObject(context_pack)) return undefined;
    const holds = (one: string): boolean => indexOfText(normalise(one), this.#phrase) !== -1;
    return partsOfPack(context_pack).some((part) => part.texts().some(holds)) ? String(id) : undefined;
  }
}
