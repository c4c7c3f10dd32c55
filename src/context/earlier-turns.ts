// Earlier answers of a session that were given a phrase: by the contexts that were recorded, and by what was said.
import type { EntryPlace, FallReason } from "../model/context.js";
import { EntryReader } from "../read/entry-reader.js";
import type { ReadingParts } from "../read/reader.js";
import type { Answer } from "./answers.js";
import { RecordedPacks } from "./recorded-packs.js";
import { SaidBefore } from "./said-before.js";

interface Wish {
  readonly answer: Answer;
  /** Whether it is recorded what the answer was given: then whatever is not in it was taken away. */
  readonly exact: boolean;
  readonly phrase: string;
}

export class EarlierTurns {
  readonly #parts: ReadingParts;
  readonly #wish: Wish;
  readonly #packs: RecordedPacks;
  readonly #said: SaidBefore;

  constructor(parts: ReadingParts, wish: Wish) {
    const { session_id, position: before } = wish.answer;
    this.#parts = parts;
    this.#wish = wish;
    this.#packs = new RecordedPacks(parts, { session_id, before, phrase: wish.phrase });
    this.#said = new SaidBefore(parts, { session_id, before, phrase: wish.phrase });
  }

  async first(): Promise<EntryPlace | undefined> {
    const [pack, said] = [await this.#packs.first(), await this.#said.first()];
    if (said === undefined || (pack !== undefined && pack.position <= said)) return pack;
    return this.#place(said);
  }

  async last(): Promise<(EntryPlace & { readonly why: FallReason }) | undefined> {
    const pack = await this.#packs.last();
    const said = await this.#said.last({ isTaken: !this.#wish.exact });
    if (pack !== undefined && (said === undefined || said.position <= pack.position)) {
      return { ...pack, why: await this.#markAfter(pack.position) };
    }
    const place = said === undefined ? undefined : await this.#place(said.position);
    return place === undefined ? undefined : { ...place, why: said?.why ?? "removed" };
  }

  async #place(position: number): Promise<EntryPlace | undefined> {
    const [entry] = await new EntryReader(this.#parts).read([position]);
    return entry === undefined ? undefined : { entry_id: entry.id, position };
  }

  /** A marker between the two says why; without one, whoever put the context together left it out. */
  async #markAfter(after: number): Promise<FallReason> {
    const { session_id, position: before } = this.#wish.answer;
    const range = { session_id, order: "asc", after, limit: 1, kinds: ["clear", "consolidation"] } as const;
    const [mark] = await this.#parts.index.sessionPositions(range);
    const [row] = mark === undefined || mark >= before ? [] : await this.#parts.index.rowsAt([mark]);
    return row === undefined ? "removed" : (row.kind as "clear" | "consolidation");
  }
}
