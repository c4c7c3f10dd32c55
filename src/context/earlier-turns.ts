// Earlier answers of a session that were given a phrase: by the contexts that were recorded, and by what was said.
import type { EntryPlace, FallReason } from "../model/context.js";
import { EntryReader } from "../read/entry-reader.js";
import type { ReadingParts } from "../read/reader.js";
import type { Answer } from "./answers.js";
import type { RecordedPacks } from "./recorded-packs.js";
import { SaidBefore } from "./said-before.js";

interface Wish {
  readonly answer: Answer;
  /** Whether it is recorded what the answer was given: then whatever is not in it was taken away. */
  readonly exact: boolean;
  readonly phrase: string;
}

export class EarlierTurns {
  readonly #parts: ReadingParts;
  readonly #packs: RecordedPacks;
  readonly #wish: Wish;
  readonly #said: SaidBefore;

  constructor(parts: ReadingParts, packs: RecordedPacks, wish: Wish) {
    const { session_id, position: before } = wish.answer;
    this.#parts = parts;
    this.#packs = packs;
    this.#wish = wish;
    this.#said = new SaidBefore(parts, { session_id, before, phrase: wish.phrase });
  }

  async first(): Promise<EntryPlace | undefined> {
    const given = (await this.#uses())?.first ?? Number.POSITIVE_INFINITY;
    const said = (await this.#said.first()) ?? Number.POSITIVE_INFINITY;
    const first = Math.min(given, said);
    return Number.isFinite(first) ? this.#place(first) : undefined;
  }

  async last(): Promise<(EntryPlace & { readonly why: FallReason }) | undefined> {
    const given = (await this.#uses())?.last;
    const said = await this.#said.last({ isTaken: !this.#wish.exact });
    const isGivenLast = given !== undefined && (said === undefined || said.position <= given);
    const place = await this.#place(isGivenLast ? given : said?.position);
    if (place === undefined) return undefined;
    return { ...place, why: isGivenLast ? await this.#markAfter(place.position) : (said?.why ?? "removed") };
  }

  #uses(): ReturnType<RecordedPacks["uses"]> {
    const { session_id, position: before } = this.#wish.answer;
    return this.#packs.uses({ session_id, before, phrase: this.#wish.phrase });
  }

  async #place(position: number | undefined): Promise<EntryPlace | undefined> {
    const [entry] = position === undefined ? [] : await new EntryReader(this.#parts).read([position]);
    return entry === undefined ? undefined : { entry_id: entry.id, position: entry.position };
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
