// What was said in a session before an answer, and which of the answers put together from it were given it. How long something
// stayed is told by its life; the context of the answer itself has the last word, since what was said may have been repaired away.

import { rowPages } from "../index/row-pages.js";
import { bodyToEntry } from "../model/body.js";
import { idClaim } from "../model/claims.js";
import { itemAt } from "../model/item-at.js";
import { readRole } from "../model/roles.js";
import { TimeSlice } from "../model/scheduling.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { Matcher } from "../search/matching.js";
import { type LastGiven, Lives, type Saying } from "./lives.js";

interface Wish {
  readonly session_id: string;
  readonly before: number;
  readonly phrase: string;
  /** Positions of the earlier answers that may have been put together from what was said, in order. */
  readonly answers: readonly number[];
  readonly isGiven: (position: number) => Promise<boolean>;
}

/** All of them mostly: whoever wants the first and the last needs every candidate, and each page looks for them anew. */
const PAGE = 16_384;
/** Few are read at first, since the first is mostly the one; many where texts are not indexed yet. */
const CHUNK_FIRST = 4;
const CHUNK_MAX = 256;
const CHUNK_BYTES = 1024 * 1024;
/** So many entries that say it are looked at from either end, where no answer was given the first ones. */
const TRIED_MAX = 32;
/** So many contexts are looked at for one that says it, and for all. */
const LOOKS_MAX = 8;
const ALL_LOOKS_MAX = 40;
const FEW_ANSWERS = 200;

export class SaidBefore {
  readonly #parts: ReadingParts;
  readonly #wish: Wish;
  readonly #matcher: Matcher;
  readonly #lives: Lives;
  #found: Promise<readonly number[]> | undefined;

  constructor(parts: ReadingParts, wish: Wish) {
    this.#parts = parts;
    this.#wish = wish;
    this.#matcher = new Matcher({ terms: [wish.phrase], excluded: [] });
    this.#lives = new Lives(parts, wish);
  }

  /** The first answer that was given it, where that comes before a position. */
  async first(below: number): Promise<number | undefined> {
    let best: number | undefined;
    const looks = { left: ALL_LOOKS_MAX };
    if ((this.#wish.answers[0] ?? below) >= below) return undefined;
    const positions = (await this.#positions()).filter((position) => position < below);
    for await (const said of this.#saying(positions, (position) => position < (best ?? below))) {
      const limit = best ?? below;
      if (said.from >= limit) continue;
      const { position: end } = await this.#lives.markedEnd(said);
      const answers = this.#wish.answers.filter((answer) => answer > said.from && answer < Math.min(limit, end));
      best = (await this.#firstGiven(answers, looks)) ?? best;
    }
    return best;
  }

  /** The last answer that was given it, where that comes behind a position, and what took it away. */
  async last(above: number): Promise<LastGiven | undefined> {
    let best: LastGiven | undefined;
    const looks = { left: ALL_LOOKS_MAX };
    if ((this.#wish.answers.at(-1) ?? 0) <= above) return undefined;
    const lasting = await this.#lives.lasting();
    // What was said before leaves the window no later, and a system's words or a summary not at all.
    const isWanted = (position: number): boolean => best?.why !== "window" || lasting.has(position);
    for await (const said of this.#saying((await this.#positions()).toReversed(), isWanted)) {
      best = (await this.#lastOf(said, best?.position ?? above, looks)) ?? best;
    }
    return best;
  }

  async #lastOf(said: Saying, above: number, looks: { left: number }): Promise<LastGiven | undefined> {
    const marked = await this.#lives.markedEnd(said);
    const between = (end: number): readonly number[] =>
      this.#wish.answers.filter((answer) => answer > Math.max(said.from, above) && answer < end).toReversed();
    const possible = between(marked.position);
    const [newest] = possible;
    if (newest === undefined) return undefined;
    // Behind so many answers the window has mostly moved on.
    const mayBeStill = possible.length <= FEW_ANSWERS;
    const isStill = mayBeStill ? await this.#firstGiven([newest], looks) : undefined;
    if (isStill !== undefined && marked.why !== undefined) return { position: newest, why: marked.why };
    const end = await this.#lives.windowEnd(said, marked);
    const position =
      isStill ?? (await this.#firstGiven(between(mayBeStill ? Math.min(end.position, newest) : end.position), looks));
    return position === undefined ? undefined : { position, why: end.why };
  }

  async #firstGiven(answers: readonly number[], looks: { left: number }): Promise<number | undefined> {
    for (const answer of answers.slice(0, LOOKS_MAX)) {
      looks.left -= 1;
      if (looks.left < 0) return undefined;
      if (await this.#wish.isGiven(answer)) return answer;
    }
    return undefined;
  }

  /** Those of the entries at these positions that really say it, as long as they are wanted. */
  async *#saying(positions: readonly number[], isWanted: (position: number) => boolean): AsyncGenerator<Saying> {
    const turn = new TimeSlice();
    let tried = 0;
    let size = CHUNK_FIRST;
    for (let at = 0; at < positions.length; ) {
      if (!isWanted(itemAt(positions, at))) {
        at += 1;
        continue;
      }
      const bodies = await this.#parts.log.getBodies(positions.slice(at, at + size), CHUNK_BYTES);
      for (const stored of bodies) {
        const isAsked = stored !== undefined && isWanted(stored.position);
        const match = isAsked ? this.#matcher.match(stored) : undefined;
        if (turn.isOver) await turn.next();
        if (stored === undefined || match?.body === undefined) continue;
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

  /** Entries that may hold the phrase and were part of some history, in order; looked up once, when they are first needed. */
  #positions(): Promise<readonly number[]> {
    this.#found ??= this.#find(this.#wish);
    return this.#found;
  }

  async #find({ session_id, phrase, answers }: Wish): Promise<readonly number[]> {
    const last = answers.at(-1) ?? 0;
    const firstMessage = await this.#lives.firstMessage();
    const kinds = firstMessage < last ? ["message", "tool_call"] : [];
    // Interactions are history only until there is a message.
    if ((answers[0] ?? last) <= firstMessage) kinds.push("interaction", "response");
    if (await this.#lives.hasSummaries()) kinds.push("consolidation");
    if (kinds.length === 0) return [];
    const positions: number[] = [];
    const query = { filter: { session_id, kinds }, needles: [phrase] };
    for await (const page of rowPages((place) => this.#parts.index.candidates({ ...query, ...place }), PAGE)) {
      for (const { position } of page) if (position < last) positions.push(position);
    }
    return positions.sort((left, right) => left - right);
  }
}
