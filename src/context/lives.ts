// How long something that was said in a session stayed before the model: until the session was cleared or consolidated, the
// message was withdrawn, or more had followed it than history shows. System messages stay, and a consolidation's summary does
// until the next one.
import type { FallReason } from "../model/context.js";
import { EntryReader } from "../search/lists/entry-reader.js";
import type { ReadingParts } from "../search/lists/reader.js";
import { toItems } from "../sessions/history/history.js";
import type { Item } from "../sessions/history/items.js";
import { messagesIn, repair } from "../sessions/history/repair.js";
import { positionsIn } from "../sessions/history/stretch.js";
import { getSession } from "../sessions/session-list.js";
import { WINDOW } from "./assemble.js";

/** Something that was said. */
export interface Saying {
  /** Of the entry that history has it from. */
  readonly position: number;
  /** From here on it was there: later than its position where a response completed an interaction. */
  readonly from: number;
  readonly isInteraction: boolean;
  readonly isSystem: boolean;
  /** Whether it is the summary of a consolidation. */
  readonly isSummary: boolean;
}

/** An answer, by its position, and why later ones were not given what it was; undefined where nothing took it away. */
export interface LastGiven {
  readonly position: number;
  readonly why: FallReason | undefined;
}

/** What ends lives in a session. */
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

/** Of the entries before it as many are read at first as a turn mostly has. */
const TURN_ENTRIES = 4;
const TURN_MORE = 64;
/** So many entries that follow something are looked through for the one that pushed it out, this many at a time after the first. */
const FOLLOWING_MAX = WINDOW.max_messages + 250;
const FOLLOWING_MORE = 64;

export class Lives {
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

  /** The place of what took it away, of markers and messages; else the end of the session as it was. */
  async markedEnd({ position, isInteraction, isSystem, isSummary }: Saying): Promise<End> {
    const { clears, consolidations, withdrawals } = await this.#readMarks();
    const isCovered = ({ through, kept }: Consolidation): boolean =>
      isSummary || (through >= position && !kept.includes(position));
    const covering = consolidations.find((one) => one.position > position && isCovered(one));
    const ends: readonly (readonly [FallReason, number | undefined])[] = [
      ["clear", isSystem ? undefined : clears.find((clear) => clear > position)],
      ["consolidation", isSystem ? undefined : covering?.position],
      // Behind the first message of a session its interactions are no longer part of the history.
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
    // A session without any is not walked through for them, which takes longer than all else.
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

  /** The place behind the last answer whose window still showed it, where that comes before the end. */
  async windowEnd({ position, isSystem, isSummary, isInteraction }: Saying, end: End): Promise<End> {
    if (isSystem || isSummary) return end;
    const { session_id } = this.#session;
    const { withdrawals } = await this.#readMarks();
    const kinds = isInteraction ? ["interaction"] : ["message", "tool_call"];
    const range = { session_id, order: "asc", kinds } as const;
    let items = await this.#itemsThrough(position, kinds);
    // Mostly as many as push it out: an interaction makes two messages.
    let limit = isInteraction ? WINDOW.max_messages / 2 : WINDOW.max_messages;
    for (let [after, looked] = [position, 0]; looked < FOLLOWING_MAX; limit = FOLLOWING_MORE) {
      const behind = await this.#parts.index.sessionPositions({ ...range, after, limit });
      const kept = behind.filter((one) => one < end.position && !withdrawals.has(one));
      items = [...items, ...(await this.#entries.read(kept)).flatMap(toItems)];
      const hidden = hiddenFrom(items, position);
      if (hidden !== undefined) return { position: hidden + 1, why: "window" };
      after = behind.at(-1) ?? end.position;
      if (behind.length < limit || after >= end.position) return end;
      looked += behind.length;
    }
    return end;
  }

  /** From the user's turn that it belongs to, and it itself as the last. */
  async #itemsThrough(position: number, kinds: readonly string[]): Promise<readonly Item[]> {
    const { session_id } = this.#session;
    let items: readonly Item[] = [];
    let limit = TURN_ENTRIES;
    for (let after = position + 1; !items.some(({ type }) => type === "user"); limit = TURN_MORE) {
      const before = await this.#parts.index.sessionPositions({ session_id, order: "desc", after, kinds, limit });
      items = [...(await this.#entries.read(before.toReversed())).flatMap(toItems), ...items];
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
  const start = turns.findLastIndex(({ type }, nth) => nth <= at && type === "user");
  let messages = 0;
  // Those from the item on, and the message that opens the turn.
  let behind = 1;
  let hasOther = false;
  for (const [nth, turn] of turns.entries()) {
    if (nth < start || start === -1) continue;
    messages += messagesIn(turn);
    if (nth >= at) behind += messagesIn(turn);
    hasOther ||= nth > start && turn.type === "user";
    const needed = hasOther ? messages : at > start ? behind : 0;
    if (needed > WINDOW.max_messages) return turn.from?.position;
  }
  return undefined;
}
