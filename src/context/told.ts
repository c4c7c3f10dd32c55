// Whether a text was in a model's context when it answered: where it stood, or else when it last did and why it fell out.

import type { EntryPlace, FallReason, GivenPlace, Told } from "../model/context.js";
import { itemAt } from "../model/item-at.js";
import { normalise } from "../model/normalise.js";
import { readRole } from "../model/roles.js";
import { TimeSlice } from "../model/scheduling.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { indexOfText, type Snippet, snippetOf, snippetOfMasked } from "../search/matching.js";
import { type TokenCounts, tokensOf } from "../sessions/history/tokens.js";
import type { ModelAnswer } from "./answers.js";
import { type Assembled, assemble, type PlacedPart, partsOf } from "./assemble.js";
import { comparable, comparableWithin } from "./comparable.js";
import { nearestTo } from "./nearest.js";
import { parentAnswer } from "./parent-answer.js";
import { RecordedPacks } from "./recorded-packs.js";
import { SaidBefore } from "./said-before.js";

type Sources = Parameters<typeof assemble>[0] & { readonly entries: EntryReader };

/** How many places are shown, those nearest to the end. */
const PLACES_MAX = 50;

export class ToldReader {
  readonly #parts: ReadingParts;
  readonly #sources: Sources;
  readonly #packs: RecordedPacks;
  readonly #tokens: TokenCounts;

  constructor(parts: ReadingParts, sources: Sources, tokens: TokenCounts) {
    this.#parts = parts;
    this.#sources = sources;
    this.#packs = new RecordedPacks(parts, sources.requests);
    this.#tokens = tokens;
  }

  async told(answer: ModelAnswer, asked: string): Promise<Told> {
    const told = await this.#ofSession(answer, asked);
    const parent = await parentAnswer(this.#parts, this.#sources.entries, answer);
    if (parent === undefined) return told;
    const { verdict } = await this.#ofSession(parent, asked);
    return { ...told, parent: { session_id: parent.session_id, verdict } };
  }

  async #ofSession(answer: ModelAnswer, asked: string): Promise<Told> {
    const phrase = comparable(asked);
    const assembled = await assemble(this.#sources, answer);
    const { exact, answer: place, lacks = [] } = assembled;
    const parts = withOwnPrompt(answer, assembled);
    const given = await this.#places(parts, phrase);
    const earlier = new EarlierAnswers(this.#parts, this.#packs, {
      session_id: answer.session_id,
      position: answer.position,
      phrase,
      recordedAt: exact ? await this.#recordedAt(answer) : answer.position,
      isGiven: (position) => this.#isGiven(position, phrase),
    });
    const first = await earlier.first();
    const known = { exact, answer: place, given, ...(lacks.length === 0 ? {} : { lacks }) };
    if (given.length > 0) {
      const own = (await isOnlyOwn(parts, phrase)) ? { only_own_words: true as const } : {};
      return { verdict: "given", ...known, ...own, first_given: first ?? place };
    }
    const last = await earlier.last();
    if (last !== undefined) {
      const { why, ...last_given } = last;
      return { verdict: "fell_out", ...known, last_given, first_given: first ?? last_given, why };
    }
    const nearest = await this.#nearest(parts, asked);
    // Missing definitions of tools alone prove nothing about a text.
    const isProven = lacks.every((part) => part === "tool definitions");
    return { verdict: isProven ? "never" : "unknown", ...known, ...(nearest === undefined ? {} : { nearest }) };
  }

  async #nearest(parts: readonly PlacedPart[], phrase: string): Promise<Told["nearest"]> {
    const texts = parts.flatMap((part) => part.texts().map((text, nth) => ({ part, text, nth })));
    const found = await nearestTo(
      phrase,
      texts.map(({ text }) => text),
    );
    const holder = found === undefined ? undefined : texts[found.nth];
    if (found === undefined || holder === undefined) return undefined;
    const { entry_id, role } = holder.part;
    const passage = normalise(holder.text.slice(found.start, found.end));
    const { snippet } = this.#snippet(holder.part, holder, passage);
    return { ...(entry_id === undefined ? {} : { entry_id }), role, snippet, ratio: found.ratio };
  }

  /** The request may have been recorded after the transcript. */
  async #recordedAt(answer: ModelAnswer): Promise<number> {
    const call = answer.kind === "message" ? await this.#sources.answers.recordedCall(answer) : undefined;
    return Math.max(answer.position, call?.position ?? 0);
  }

  async #isGiven(position: number, phrase: string): Promise<boolean> {
    const [answer] = await this.#sources.entries.readWhole([position]);
    if (answer?.kind !== "interaction" && answer?.kind !== "message") return false;
    const parts = withOwnPrompt(answer, await assemble(this.#sources, answer));
    return (await holdersIn(parts, phrase, 1)).length > 0;
  }

  /** From the end backwards, so only the tokens behind the first place shown are counted. */
  async #places(parts: readonly PlacedPart[], phrase: string): Promise<readonly GivenPlace[]> {
    const holders = await holdersIn(parts, phrase, PLACES_MAX);
    if (holders.length === 0) return [];
    const count = await this.#tokens.load();
    const turn = new TimeSlice();
    const places: GivenPlace[] = [];
    let tokens = 0;
    let at = parts.length;
    for (const holder of holders) {
      for (at -= 1; at > holder.at; at -= 1) {
        tokens += tokensOf(itemAt(parts, at), count);
        if (turn.isOver) await turn.next();
      }
      const { entry_id, role } = itemAt(parts, holder.at);
      const { snippet } = this.#snippet(itemAt(parts, holder.at), holder, phrase);
      const behind = count(holder.text.slice(holder.end));
      places.push({ ...(entry_id === undefined ? {} : { entry_id }), role, snippet, tokens_from_end: tokens + behind });
      tokens += tokensOf(itemAt(parts, holder.at), count);
    }
    return places.reverse();
  }

  /** A part's field name can mark its value as a secret, so the whole part is masked, too. */
  #snippet(part: PlacedPart, { text, nth }: Pick<Holder, "text" | "nth">, phrase: string): Snippet {
    const { mask } = this.#parts;
    const masked = part.texts(mask.value(part.value))[nth] ?? "";
    return masked === mask.text(text) ? snippetOf(text, [phrase], mask) : snippetOfMasked(masked, [phrase]);
  }
}

interface Holder {
  /** Which part it is, and which of its texts. */
  readonly at: number;
  readonly nth: number;
  readonly text: string;
  /** Where in the text the phrase ends. */
  readonly end: number;
}

/** The last parts that hold the phrase, each with the last of its texts that does; from the end backwards. */
async function holdersIn(parts: readonly PlacedPart[], phrase: string, most: number): Promise<readonly Holder[]> {
  const holders: Holder[] = [];
  const turn = new TimeSlice();
  for (let at = parts.length - 1; at >= 0 && holders.length < most; at -= 1) {
    const texts = itemAt(parts, at).texts();
    const nth = texts.findLastIndex((one) => holds(one, phrase));
    const text = texts[nth];
    // The compared text may be a little longer or shorter; that is exact enough to count what follows.
    if (text !== undefined)
      holders.push({ at, nth, text, end: indexOfText(comparableWithin(text), phrase) + phrase.length });
    if (turn.isOver) await turn.next();
  }
  return holders;
}

function holds(text: string, phrase: string): boolean {
  return indexOfText(comparableWithin(text), phrase) !== -1;
}

/** Whether nobody but the model itself said it. */
async function isOnlyOwn(parts: readonly PlacedPart[], phrase: string): Promise<boolean> {
  const turn = new TimeSlice();
  for (const part of parts) {
    if (readRole(part.role) !== "assistant" && part.texts().some((text) => holds(text, phrase))) return false;
    if (turn.isOver) await turn.next();
  }
  return true;
}

/** A prompt was sent even where the recorded messages lack it. */
function withOwnPrompt(answer: ModelAnswer, assembled: Assembled): readonly PlacedPart[] {
  const parts = partsOf(assembled);
  if (answer.kind !== "interaction") return parts;
  const { id: entry_id, prompt } = answer;
  const saysIt = (part: PlacedPart): boolean => part.role === "user" && part.texts().join("\n").includes(prompt);
  const isThere = parts.findLast(saysIt) !== undefined;
  if (isThere) return parts;
  return [...parts, { role: "user", value: { role: "user", content: prompt }, texts: () => [prompt], entry_id }];
}

interface EarlierQuery {
  readonly session_id: string;
  /** Where the answer stands. */
  readonly position: number;
  /** Where what it was given was recorded: with an interaction that may have come later. */
  readonly recordedAt: number;
  /** In the form that contexts are compared in. */
  readonly phrase: string;
  /** Whether the answer at a position was given the phrase. */
  readonly isGiven: (position: number) => Promise<boolean>;
}

/** Earlier answers of a session that were given a phrase: by recorded contexts, and by what the session had said. */
class EarlierAnswers {
  readonly #parts: ReadingParts;
  readonly #packs: RecordedPacks;
  readonly #query: EarlierQuery;
  #said: Promise<SaidBefore> | undefined;
  #used: ReturnType<RecordedPacks["uses"]> | undefined;

  constructor(parts: ReadingParts, packs: RecordedPacks, query: EarlierQuery) {
    this.#parts = parts;
    this.#packs = packs;
    this.#query = query;
  }

  async first(): Promise<EntryPlace | undefined> {
    const given = (await this.#uses())?.first;
    const said = await (await this.#saidBefore()).first(given ?? this.#query.position);
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
    const { session_id, recordedAt: before, phrase } = this.#query;
    this.#used ??= this.#packs.uses({ session_id, before, phrase });
    return this.#used;
  }

  #saidBefore(): Promise<SaidBefore> {
    this.#said ??= this.#findSaid();
    return this.#said;
  }

  async #findSaid(): Promise<SaidBefore> {
    const { session_id, position: before, phrase, isGiven } = this.#query;
    const all = await this.#packs.unrecorded(session_id);
    const answers = all.filter((position) => position < before);
    return new SaidBefore(this.#parts, { session_id, before, phrase, answers, isGiven });
  }

  async #place(position: number | undefined): Promise<EntryPlace | undefined> {
    const [entry] = position === undefined ? [] : await new EntryReader(this.#parts).read([position]);
    return entry === undefined ? undefined : { entry_id: entry.id, position: entry.position };
  }

  /** A marker between the two says why; without one, the caller left it out. */
  async #markAfter(after: number): Promise<FallReason> {
    const { session_id, position: before } = this.#query;
    const range = { session_id, order: "asc", after, limit: 1, kinds: ["clear", "consolidation"] } as const;
    const [mark] = await this.#parts.index.sessionPositions(range);
    const [row] = mark === undefined || mark >= before ? [] : await this.#parts.index.rowsAt([mark]);
    return row === undefined ? "removed" : (row.kind as "clear" | "consolidation");
  }
}
