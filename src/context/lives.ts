// How long something that was said in a session stayed before the model: until the session was cleared or consolidated, the
// message was withdrawn, or more had followed it than history shows.
import { HAS_CONTEXT } from "../indexing/entry-row.js";
import type { FallReason } from "../model/context.js";
import type { EntryRow } from "../ports/entry-index.js";
import { EntryReader } from "../read/entry-reader.js";
import { toItems } from "../read/history/history.js";
import type { Item } from "../read/history/items.js";
import { messagesIn, repair } from "../read/history/repair.js";
import { positionsIn, type Stretch } from "../read/history/stretch.js";
import type { ReadingParts } from "../read/reader.js";
import { getSession } from "../read/session-list.js";
import { isAnswerRow } from "./answers.js";
import { WINDOW } from "./assemble.js";

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

const ROWS_AT_ONCE = 64;
/** Of the entries before it as many are read at first as a turn mostly has. */
const TURN_ENTRIES = 4;
/** So many entries that follow something are looked through for the one that pushed it out, this many at a time after the first. */
const FOLLOWING_MAX = WINDOW.max_messages + 250;
const FOLLOWING_MORE = 64;

export class Lives {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;
  readonly #stretch: Stretch & { readonly before: number };
  #marks: Promise<Marks> | undefined;

  constructor(parts: ReadingParts, stretch: Stretch & { readonly before: number }) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
    this.#stretch = stretch;
  }

  /** The first answer that was given what stands at a position; an interaction is given its own prompt. */
  async firstAnswer(position: number, isOwnPrompt: boolean): Promise<number | undefined> {
    if (isOwnPrompt) return position;
    const { position: before } = await this.#markedEnd(position);
    return this.#answer({ after: position, before, order: "asc" });
  }

  /** The last one. */
  async lastAnswer(position: number, isOwnPrompt: boolean): Promise<LastGiven | undefined> {
    const end = await this.#windowEnd(position, await this.#markedEnd(position));
    const last = await this.#answer({ after: position, before: end.position, order: "desc" });
    const given = last ?? (isOwnPrompt ? position : undefined);
    return given === undefined ? undefined : { position: given, why: end.why };
  }

  async #markedEnd(position: number): Promise<End> {
    this.#marks ??= this.#readMarks();
    const { clears, consolidations, withdrawals } = await this.#marks;
    const covering = consolidations.find((one) => one.position > position && one.through >= position);
    const ends: readonly (readonly [FallReason, number | undefined])[] = [
      ["clear", clears.find((clear) => clear > position)],
      ["consolidation", covering?.position],
      ["removed", withdrawals.get(position)],
    ];
    let end: End = { position: this.#stretch.before, why: undefined };
    for (const [why, at] of ends) if (at !== undefined && at < end.position) end = { position: at, why };
    return end;
  }

  async #readMarks(): Promise<Marks> {
    const clears: number[] = [];
    const consolidations: { readonly position: number; readonly through: number }[] = [];
    const withdrawals = new Map<number, number>();
    const all = { ...this.#stretch, above: 0 };
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
  async #windowEnd(position: number, end: End): Promise<End> {
    const [row] = await this.#parts.index.rowsAt([position]);
    if (row?.role === "system") return end;
    const { session_id, kinds, withdrawn } = this.#stretch;
    const range = { session_id, order: "asc", kinds } as const;
    let items = await this.#itemsThrough(position);
    // Mostly as many as push it out: an interaction makes two messages.
    let limit = kinds.includes("interaction") ? WINDOW.max_messages / 2 : WINDOW.max_messages;
    for (let [after, looked] = [position, 0]; looked < FOLLOWING_MAX; limit = FOLLOWING_MORE) {
      const behind = await this.#parts.index.sessionPositions({ ...range, after, limit });
      const kept = behind.filter((one) => one < end.position && !withdrawn.has(one));
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
  async #itemsThrough(position: number): Promise<readonly Item[]> {
    const { session_id, kinds } = this.#stretch;
    let items: readonly Item[] = [];
    let limit = TURN_ENTRIES;
    for (let after = position + 1; !items.some(({ type }) => type === "user"); limit = ROWS_AT_ONCE) {
      const before = await this.#parts.index.sessionPositions({ session_id, order: "desc", after, kinds, limit });
      items = [...(await this.#entries.read(before.toReversed())).flatMap(toItems), ...items];
      if (before.length < limit) break;
      after = before.at(-1) as number;
    }
    return items;
  }

  /** The first or the last answer between two positions that was put together from the session. */
  async #answer(range: {
    readonly after: number;
    readonly before: number;
    readonly order: "asc" | "desc";
  }): Promise<number | undefined> {
    const { session_id } = this.#stretch;
    const { order, after, before } = range;
    for (let from = order === "asc" ? after : before; ; ) {
      const query = { session_id, order, limit: ROWS_AT_ONCE, above: after, kinds: ["interaction", "message"] };
      const positions = await this.#parts.index.sessionPositions({ ...query, after: from });
      const inside = positions.filter((position) => position < before);
      const rows = (await this.#parts.index.rowsAt(inside)).filter(isPutTogether);
      const found = order === "asc" ? rows[0] : rows.at(-1);
      if (found !== undefined) return found.position;
      if (inside.length < ROWS_AT_ONCE) return undefined;
      from = inside.at(-1) as number;
    }
  }
}

/** Where the context itself was recorded, nothing is put together. */
function isPutTogether(row: EntryRow): boolean {
  const hasContext = row.references.some(
    ({ what, reference }) => what === HAS_CONTEXT.what && reference === HAS_CONTEXT.reference,
  );
  return isAnswerRow(row) && !hasContext;
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
