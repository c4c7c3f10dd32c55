// How long something that was said in a session stayed before the model: until the session was cleared or consolidated, the
// message was withdrawn, or more had followed it than history shows.
import type { FallReason } from "../model/context.js";
import { EntryReader } from "../read/entry-reader.js";
import { toItems } from "../read/history/history.js";
import type { Item } from "../read/history/items.js";
import { messagesIn, repair } from "../read/history/repair.js";
import { positionsIn } from "../read/history/stretch.js";
import type { ReadingParts } from "../read/reader.js";
import { getSession } from "../read/session-list.js";
import { WINDOW } from "./assemble.js";

/** Something that was said. */
export interface Saying {
  /** Of the entry that history has it from. */
  readonly position: number;
  /** From here on it was there: later than its position where a response completed an interaction. */
  readonly from: number;
  readonly isInteraction: boolean;
  readonly isSystem: boolean;
}

/** An answer, by its position, and why later ones were not given what it was; undefined where nothing took it away. */
export interface LastGiven {
  readonly position: number;
  readonly why: FallReason | undefined;
}

/** What ends lives in a session. */
interface Marks {
  readonly clears: readonly number[];
  readonly consolidations: readonly { readonly position: number; readonly through: number }[];
  readonly withdrawals: ReadonlyMap<number, number>;
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
  async markedEnd({ position, isInteraction }: Saying): Promise<End> {
    const { clears, consolidations, withdrawals } = await this.#readMarks();
    const covering = consolidations.find((one) => one.position > position && one.through >= position);
    const ends: readonly (readonly [FallReason, number | undefined])[] = [
      ["clear", clears.find((clear) => clear > position)],
      ["consolidation", covering?.position],
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

  /** Positions of the session's system messages. */
  async systems(): Promise<ReadonlySet<number>> {
    const systems = new Set<number>();
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
    const consolidations: { readonly position: number; readonly through: number }[] = [];
    const withdrawals = new Map<number, number>();
    const all = { ...this.#session, above: 0 };
    const session = await getSession(this.#parts.index, all.session_id);
    // A session without any is not walked through for them, which takes longer than all else.
    const kinds = ["clear", "consolidation", "withdrawal"].filter((kind) => (session?.by_kind[kind] ?? 0) > 0);
    if (kinds.length === 0) return { clears, consolidations, withdrawals };
    for await (const page of positionsIn(this.#parts.index, all, { kinds })) {
      for (const { position, kind, facts } of await this.#parts.index.rowsAt(page)) {
        if (kind === "clear") clears.push(position);
        else if (kind === "consolidation") consolidations.push({ position, through: Number(facts?.through ?? 0) });
        else withdrawals.set(Number(facts?.withdraws), position);
      }
    }
    return { clears, consolidations, withdrawals };
  }

  /** The place behind the last answer whose window still showed it, where that comes before the end. */
  async windowEnd({ position, isSystem, isInteraction }: Saying, end: End): Promise<End> {
    if (isSystem) return end;
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
 * turn, so that an item goes with the turn that it belongs to, once there is another one to begin with.
 */
function hiddenFrom(items: readonly Item[], position: number): number | undefined {
  const turns = repair(items, { include_pending: false, drops_blank_users: false });
  const at = turns.findIndex(
    ({ from, calls }) => from?.position === position || calls.some(({ result }) => result?.from?.position === position),
  );
  const start = turns.findLastIndex(({ type }, nth) => nth <= at && type === "user");
  let messages = 0;
  let hasOther = false;
  for (const [nth, turn] of turns.entries()) {
    if (nth < start || start === -1) continue;
    messages += messagesIn(turn);
    hasOther ||= nth > start && turn.type === "user";
    if (messages > WINDOW.max_messages && hasOther) return turn.from?.position;
  }
  return undefined;
}
