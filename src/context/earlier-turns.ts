// Earlier answers of a session that were given a phrase: by the contexts that were recorded, and by what was said.
import type { EntryPlace, FallReason } from "../model/context.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import type { ReadingParts } from "../search/lists/reader.js";
import type { RecordedPacks } from "./recorded-packs.js";
import { SaidBefore } from "./said-before.js";

interface Wish {
  readonly session_id: string;
  /** Where the answer stands. */
  readonly position: number;
  /** Where what it was given was recorded: with an interaction that may have come later. */
  readonly recordedAt: number;
  readonly phrase: string;
  /** Whether the answer at a position was given the phrase. */
  readonly isGiven: (position: number) => Promise<boolean>;
}

export class EarlierTurns {
  readonly #parts: ReadingParts;
  readonly #packs: RecordedPacks;
  readonly #wish: Wish;
  #said: Promise<SaidBefore> | undefined;
  #used: ReturnType<RecordedPacks["uses"]> | undefined;

  constructor(parts: ReadingParts, packs: RecordedPacks, wish: Wish) {
    this.#parts = parts;
    this.#packs = packs;
    this.#wish = wish;
  }

  async first(): Promise<EntryPlace | undefined> {
    const given = (await this.#uses())?.first;
    const said = await (await this.#saidBefore()).first(given ?? this.#wish.position);
    return this.#place(said ?? given);
  }

  async last(): Promise<(EntryPlace & { readonly why: FallReason }) | undefined> {
    const given = (await this.#uses())?.last;
    const said = await (await this.#saidBefore()).last(given ?? 0);
    const place = await this.#place(said?.position ?? given);
    if (place === undefined) return undefined;
    return { ...place, why: said === undefined ? await this.#markAfter(place.position) : (said.why ?? "removed") };
  }

  #uses(): ReturnType<RecordedPacks["uses"]> {
    const { session_id, recordedAt: before, phrase } = this.#wish;
    this.#used ??= this.#packs.uses({ session_id, before, phrase });
    return this.#used;
  }

  #saidBefore(): Promise<SaidBefore> {
    this.#said ??= this.#findSaid();
    return this.#said;
  }

  async #findSaid(): Promise<SaidBefore> {
    const { session_id, position: before, phrase, isGiven } = this.#wish;
    const all = await this.#packs.putTogether(session_id);
    const answers = all.filter((position) => position < before);
    return new SaidBefore(this.#parts, { session_id, before, phrase, answers, isGiven });
  }

  async #place(position: number | undefined): Promise<EntryPlace | undefined> {
    const [entry] = position === undefined ? [] : await new EntryReader(this.#parts).read([position]);
    return entry === undefined ? undefined : { entry_id: entry.id, position: entry.position };
  }

  /** A marker between the two says why; without one, whoever put the context together left it out. */
  async #markAfter(after: number): Promise<FallReason> {
    const { session_id, position: before } = this.#wish;
    const range = { session_id, order: "asc", after, limit: 1, kinds: ["clear", "consolidation"] } as const;
    const [mark] = await this.#parts.index.sessionPositions(range);
    const [row] = mark === undefined || mark >= before ? [] : await this.#parts.index.rowsAt([mark]);
    return row === undefined ? "removed" : (row.kind as "clear" | "consolidation");
  }
}
