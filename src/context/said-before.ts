// Which answers without a recorded context were given a phrase that the session had said. Lifetimes narrow the candidates down;
// the reconstructed context of an answer decides.

import { textsOf } from "../index/derivation.js";
import { rowPages } from "../index/port.js";
import { bodyToEntry } from "../model/body.js";
import { idClaim } from "../model/claims.js";
import type { FallReason } from "../model/context.js";
import { itemAt } from "../model/item-at.js";
import type { JsonObject } from "../model/json.js";
import { readRole } from "../model/roles.js";
import { TimeSlice } from "../model/scheduling.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { indexOfText, Matcher } from "../search/matching.js";
import { toItems } from "../sessions/history/history.js";
import { type Item, opensTurn } from "../sessions/history/items.js";
import { messagesIn, repair, startsTurn } from "../sessions/history/repair.js";
import { positionsIn } from "../sessions/history/span.js";
import { getSession } from "../sessions/session-list.js";
import { WINDOW } from "./assemble.js";
import { comparableWithin, fragmentsOf } from "./comparable.js";

interface SaidQuery {
  readonly session_id: string;
  readonly before: number;
  /** In the form that texts are compared in. */
  readonly phrase: string;
  /** Positions of the earlier answers without a recorded context, in order. */
  readonly answers: readonly number[];
  readonly isGiven: (position: number) => Promise<boolean>;
}

/** Large, because all candidates are needed and each page searches again. */
const PAGE = 16_384;
/** Few bodies are read at first, because the first mostly matches; more where texts are not indexed yet. */
const CHUNK_FIRST = 4;
const CHUNK_MAX = 256;
const CHUNK_BYTES = 1024 * 1024;
/** How many entries are searched from either end: words that are anywhere in a long session are in many of them. */
const LOOKED_AT_MAX = 20_000;
/** How many entries that say it are tried from either end. */
const TRIED_MAX = 32;
/** How many contexts are read for one such entry, and for all of them. */
const LOOKS_MAX = 8;
const ALL_LOOKS_MAX = 40;
const FEW_ANSWERS = 200;

export class SaidBefore {
  readonly #parts: ReadingParts;
  readonly #query: SaidQuery;
  readonly #fragments: readonly string[];
  readonly #matcher: Matcher;
  readonly #lifetimes: ContextLifetimes;
  #found: Promise<readonly number[]> | undefined;

  constructor(parts: ReadingParts, query: SaidQuery) {
    this.#parts = parts;
    this.#query = query;
    this.#fragments = fragmentsOf(query.phrase);
    this.#matcher = new Matcher({ terms: this.#fragments, excluded: [] });
    this.#lifetimes = new ContextLifetimes(parts, query);
  }

  /** The first answer that was given it, where that comes before a position. */
  async first(below: number): Promise<number | undefined> {
    let best: number | undefined;
    const looks = { left: ALL_LOOKS_MAX };
    if ((this.#query.answers[0] ?? below) >= below) return undefined;
    const positions = (await this.#positions()).filter((position) => position < below);
    for await (const said of this.#utterances(positions, (position) => position < (best ?? below))) {
      const limit = best ?? below;
      if (said.from >= limit) continue;
      const { position: end } = await this.#lifetimes.markedEnd(said);
      const answers = this.#query.answers.filter((answer) => answer > said.from && answer < Math.min(limit, end));
      best = (await this.#firstGiven(answers, looks)) ?? best;
    }
    return best;
  }

  /** The last answer that was given it, where that comes behind a position, and what took it away. */
  async last(above: number): Promise<LastGiven | undefined> {
    let best: LastGiven | undefined;
    const looks = { left: ALL_LOOKS_MAX };
    if ((this.#query.answers.at(-1) ?? 0) <= above) return undefined;
    const lasting = await this.#lifetimes.lasting();
    // What was said earlier leaves the window earlier; system messages and summaries never leave it.
    const isWanted = (position: number): boolean => best?.why !== "window" || lasting.has(position);
    for await (const said of this.#utterances((await this.#positions()).toReversed(), isWanted)) {
      best = (await this.#lastOf(said, best?.position ?? above, looks)) ?? best;
    }
    return best;
  }

  async #lastOf(said: Utterance, above: number, looks: { left: number }): Promise<LastGiven | undefined> {
    const marked = await this.#lifetimes.markedEnd(said);
    const between = (end: number): readonly number[] =>
      this.#query.answers.filter((answer) => answer > Math.max(said.from, above) && answer < end).toReversed();
    const possible = between(marked.position);
    const [newest] = possible;
    if (newest === undefined) return undefined;
    // After many answers the window has mostly moved on.
    const mayBeStill = possible.length <= FEW_ANSWERS;
    const isStill = mayBeStill ? await this.#firstGiven([newest], looks) : undefined;
    if (isStill !== undefined && marked.why !== undefined) return { position: newest, why: marked.why };
    const end = await this.#lifetimes.windowEnd(said, marked);
    const position =
      isStill ?? (await this.#firstGiven(between(mayBeStill ? Math.min(end.position, newest) : end.position), looks));
    return position === undefined ? undefined : { position, why: end.why };
  }

  async #firstGiven(answers: readonly number[], looks: { left: number }): Promise<number | undefined> {
    for (const answer of answers.slice(0, LOOKS_MAX)) {
      looks.left -= 1;
      if (looks.left < 0) return undefined;
      if (await this.#query.isGiven(answer)) return answer;
    }
    return undefined;
  }

  /** The entries at these positions that really say it, as long as they are wanted. */
  async *#utterances(positions: readonly number[], isWanted: (position: number) => boolean): AsyncGenerator<Utterance> {
    const turn = new TimeSlice();
    let tried = 0;
    let size = CHUNK_FIRST;
    for (let at = 0; at < Math.min(positions.length, LOOKED_AT_MAX); ) {
      if (!isWanted(itemAt(positions, at))) {
        at += 1;
        continue;
      }
      const bodies = await this.#parts.log.getBodies(positions.slice(at, at + size), CHUNK_BYTES);
      for (const stored of bodies) {
        const isAsked = stored !== undefined && isWanted(stored.position);
        const match = isAsked ? this.#matcher.match(stored) : undefined;
        if (turn.isOver) await turn.next();
        if (stored === undefined || match?.body === undefined || !this.#holds(stored.kind, match.body)) continue;
        const { position } = stored;
        const entry = bodyToEntry(stored, match.body);
        if (entry.kind === "response") {
          const [of] = await this.#parts.log.find([idClaim(entry.interaction_id)]);
          if (of !== undefined)
            yield { position: of, from: position, isInteraction: true, isSystem: false, isSummary: false };
        } else {
          const isSystem = entry.kind === "message" && readRole(entry.role) === "system";
          const [isInteraction, isSummary] = [entry.kind === "interaction", entry.kind === "consolidation"];
          yield { position, from: position, isInteraction, isSystem, isSummary };
        }
        tried += 1;
        if (tried >= TRIED_MAX) return;
      }
      at += bodies.length;
      size = Math.min(size * 2, CHUNK_MAX);
    }
  }

  #holds(kind: string, body: JsonObject): boolean {
    const { phrase } = this.#query;
    return textsOf(kind, body).some(({ text }) => indexOfText(comparableWithin(text), phrase) !== -1);
  }

  /** Entries that may hold the phrase and were part of a history, in order; looked up once. */
  #positions(): Promise<readonly number[]> {
    this.#found ??= this.#find(this.#query);
    return this.#found;
  }

  async #find({ session_id, answers }: SaidQuery): Promise<readonly number[]> {
    const last = answers.at(-1) ?? 0;
    const firstMessage = await this.#lifetimes.firstMessage();
    const kinds = firstMessage < last ? ["message", "tool_call"] : [];
    // Interactions are part of the history only until there is a message.
    if ((answers[0] ?? last) <= firstMessage) kinds.push("interaction", "response");
    if (await this.#lifetimes.hasSummaries()) kinds.push("consolidation");
    if (kinds.length === 0) return [];
    const positions: number[] = [];
    const query = { filter: { session_id, kinds }, needles: this.#fragments };
    for await (const page of rowPages((place) => this.#parts.index.candidates({ ...query, ...place }), PAGE)) {
      for (const { position } of page) if (position < last) positions.push(position);
    }
    return positions.sort((left, right) => left - right);
  }
}

/** Something that was said. */
interface Utterance {
  /** Of the entry that history has it from. */
  readonly position: number;
  /** From here on it was there: later than its position where a response completed an interaction. */
  readonly from: number;
  readonly isInteraction: boolean;
  readonly isSystem: boolean;
  /** Whether it is the summary of a consolidation. */
  readonly isSummary: boolean;
}

/** The position of an answer, and why later ones were not given the same; undefined where nothing removed it. */
interface LastGiven {
  readonly position: number;
  readonly why: FallReason | undefined;
}

/** What ends the lifetime of a message. */
interface Marks {
  readonly clears: readonly number[];
  readonly consolidations: readonly Consolidation[];
  readonly withdrawals: ReadonlyMap<number, number>;
}

interface Consolidation {
  readonly position: number;
  /** The greatest of it and those before it. */
  readonly through: number;
  readonly kept: readonly number[];
}

interface End {
  readonly position: number;
  readonly why: FallReason | undefined;
}

/** How many entries before it are read at first: about as many as a turn has. */
const TURN_ENTRIES = 4;
const TURN_MORE = 64;
/** How many following entries are read to find the one that pushed it out, and how many at a time after the first read. */
const FOLLOWING_MAX = WINDOW.max_messages + 250;
const FOLLOWING_MORE = 64;

/**
 * How long a message stays in the context: until the session is cleared or consolidated, the message is withdrawn, or the window
 * moves past it. System messages stay; a consolidation's summary stays until the next one.
 */
class ContextLifetimes {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;
  readonly #session: { readonly session_id: string; readonly before: number };
  #marks: Promise<Marks> | undefined;
  #firstMessage: Promise<number> | undefined;

  /** In a session as it was before a position. */
  constructor(parts: ReadingParts, session: { readonly session_id: string; readonly before: number }) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
    this.#session = session;
  }

  /** Where a marker or withdrawal removed it; otherwise the end of the session as it was. */
  async markedEnd({ position, isInteraction, isSystem, isSummary }: Utterance): Promise<End> {
    const { clears, consolidations, withdrawals } = await this.#readMarks();
    const isCovered = ({ through, kept }: Consolidation): boolean =>
      isSummary || (through >= position && !kept.includes(position));
    const covering = consolidations.find((one) => one.position > position && isCovered(one));
    const ends: readonly (readonly [FallReason, number | undefined])[] = [
      ["clear", isSystem ? undefined : clears.find((clear) => clear > position)],
      ["consolidation", isSystem ? undefined : covering?.position],
      // After the first message of a session its interactions are no longer part of the history.
      ["removed", isInteraction ? (await this.firstMessage()) + 1 : withdrawals.get(position)],
    ];
    let end: End = { position: this.#session.before, why: undefined };
    for (const [why, at] of ends) if (at !== undefined && at < end.position) end = { position: at, why };
    return end;
  }

  /** The position of the session's first message, infinite where there is none. */
  firstMessage(): Promise<number> {
    this.#firstMessage ??= this.#findMessage();
    return this.#firstMessage;
  }

  /** Whether there are summaries of consolidations. */
  async hasSummaries(): Promise<boolean> {
    return (await this.#readMarks()).consolidations.length > 0;
  }

  /** Positions of the session's system messages and consolidations, which no window pushes out. */
  async lasting(): Promise<ReadonlySet<number>> {
    const systems = new Set((await this.#readMarks()).consolidations.map(({ position }) => position));
    const { session_id } = this.#session;
    const filter = { kinds: ["message"], role: "system" };
    for await (const page of positionsIn(this.#parts.index, { session_id, above: 0 }, filter)) {
      for (const position of page) systems.add(position);
    }
    return systems;
  }

  async #findMessage(): Promise<number> {
    const { session_id } = this.#session;
    const range = { session_id, order: "asc", limit: 1, kinds: ["message"] } as const;
    return (await this.#parts.index.sessionPositions(range))[0] ?? Number.POSITIVE_INFINITY;
  }

  #readMarks(): Promise<Marks> {
    this.#marks ??= this.#findMarks();
    return this.#marks;
  }

  async #findMarks(): Promise<Marks> {
    const clears: number[] = [];
    const consolidations: Consolidation[] = [];
    const consolidated: number[] = [];
    const withdrawals = new Map<number, number>();
    const all = { ...this.#session, above: 0 };
    const session = await getSession(this.#parts.index, all.session_id);
    // Only sessions that have any are walked, which takes longest.
    const kinds = ["clear", "consolidation", "withdrawal"].filter((kind) => (session?.by_kind[kind] ?? 0) > 0);
    if (kinds.length === 0) return { clears, consolidations, withdrawals };
    for await (const page of positionsIn(this.#parts.index, all, { kinds })) {
      for (const { position, kind, facts } of await this.#parts.index.rowsAt(page)) {
        if (kind === "clear") clears.push(position);
        else if (kind === "consolidation") consolidated.push(position);
        else withdrawals.set(Number(facts?.withdraws), position);
      }
    }
    let through = 0;
    for (const entry of await this.#entries.read(consolidated)) {
      if (entry.kind !== "consolidation") continue;
      through = Math.max(through, entry.through);
      consolidations.push({ position: entry.position, through, kept: entry.kept });
    }
    return { clears, consolidations, withdrawals };
  }

  /** The place after the last answer whose window still showed it, where that comes before the end. */
  async windowEnd({ position, isSystem, isSummary, isInteraction }: Utterance, end: End): Promise<End> {
    if (isSystem || isSummary) return end;
    const { session_id } = this.#session;
    const { withdrawals } = await this.#readMarks();
    const kinds = isInteraction ? ["interaction"] : ["message", "tool_call"];
    const range = { session_id, order: "asc", kinds } as const;
    let items = await this.#itemsThrough(position, kinds);
    // About as many as push it out: an interaction makes two messages.
    let limit = isInteraction ? WINDOW.max_messages / 2 : WINDOW.max_messages;
    for (let [after, looked] = [position, 0]; looked < FOLLOWING_MAX; limit = FOLLOWING_MORE) {
      const behind = await this.#parts.index.sessionPositions({ ...range, after, limit });
      const kept = behind.filter((one) => one < end.position && !withdrawals.has(one));
      items = [...items, ...(await this.#entries.read(kept)).flatMap((entry) => toItems(entry))];
      const hidden = hiddenFrom(items, position);
      if (hidden !== undefined) return { position: hidden + 1, why: "window" };
      after = behind.at(-1) ?? end.position;
      if (behind.length < limit || after >= end.position) return end;
      looked += behind.length;
    }
    return end;
  }

  /** From the beginning of its turn up to itself. */
  async #itemsThrough(position: number, kinds: readonly string[]): Promise<readonly Item[]> {
    const { session_id } = this.#session;
    let items: readonly Item[] = [];
    let limit = TURN_ENTRIES;
    for (let after = position + 1; !items.some(opensTurn); limit = TURN_MORE) {
      const before = await this.#parts.index.sessionPositions({ session_id, order: "desc", after, kinds, limit });
      items = [...(await this.#entries.read(before.toReversed())).flatMap((entry) => toItems(entry)), ...items];
      if (before.length < limit) break;
      after = before.at(-1) as number;
    }
    return items;
  }
}

/**
 * The position of the message that pushed an item out of the window; undefined where none did. A window begins with a user's
 * turn: an item goes with all of its turn once there is another one, and before that with what came before it in its turn.
 */
function hiddenFrom(items: readonly Item[], position: number): number | undefined {
  const turns = repair(items, { include_pending: false, drops_blank_users: false });
  const at = turns.findIndex(
    ({ from, calls }) => from?.position === position || calls.some(({ result }) => result?.from?.position === position),
  );
  const start = turns.findLastIndex((turn, nth) => nth <= at && startsTurn(turn));
  let messages = 0;
  // Those from the item on, and the message that opens the turn.
  let behind = 1;
  let hasOther = false;
  for (const [nth, turn] of turns.entries()) {
    if (nth < start || start === -1) continue;
    messages += messagesIn(turn);
    if (nth >= at) behind += messagesIn(turn);
    hasOther ||= nth > start && startsTurn(turn);
    const needed = hasOther ? messages : at > start ? behind : 0;
    if (needed > WINDOW.max_messages) return turn.from?.position;
  }
  return undefined;
}
