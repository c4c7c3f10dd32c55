// A session's history: read from its end backwards, only as far as the window reaches.

import { type Content, isBlank } from "../../model/content.js";
import type { Entry } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";
import { limits } from "../../model/limits.js";
import { EntryReader } from "../../search/lists/entry-reader.js";
import type { ReadingParts } from "../../search/lists/reader.js";
import { getSession } from "../session-list.js";
import type { HistoryQuery } from "../session-query.js";
import { toAnthropic } from "./anthropic.js";
import { type Step, snapDown, toStep } from "./consolidation.js";
import type { HistoryDocument } from "./history-document.js";
import { budgetTooSmall, historyTooLarge } from "./history-refusals.js";
import { type Item, interactionToItems, messageToItems, toolCallToItems } from "./items.js";
import { systemToOpenAi, turnToOpenAi } from "./openai.js";
import { messagesIn, type RepairOptions, repair, type Turn } from "./repair.js";
import { assertNoneUnplaced, positionsIn, presentStretch, type Stretch } from "./stretch.js";
import { HistoryTokens, loadTokenCounter } from "./tokens.js";
import { type Talk, type Window, windowsOf } from "./window.js";

export type ConsolidationPlan =
  | { readonly outcome: "not_in_session" }
  | { readonly outcome: "backwards"; readonly present: number }
  | { readonly outcome: "unmoved"; readonly present: number }
  | { readonly outcome: "moves"; readonly through: number };

type SystemItem = Item & { readonly type: "system" };

/** How much of a session history shows, and in whose form. */
export type WindowOptions = Pick<HistoryQuery, "max_messages" | "format" | "include_pending">;

/** System messages, then the turns; a consolidation's summary is the first of these. */
export interface HistoryTurns {
  readonly systems: readonly SystemItem[];
  readonly turns: readonly Turn[];
}

/** What stands in front of every window. */
interface Front {
  readonly systems: readonly SystemItem[];
  readonly summary: readonly Turn[];
  /** Positions at or before the boundary that the consolidation keeps, the newest first. */
  readonly kept: readonly number[];
}

/** Items of consecutive entries, and the position of the first of these. */
interface Page {
  readonly items: readonly Item[];
  readonly position: number;
}

/** The first page has a little more than the window, since now and then an item is repaired away. */
const CHUNK_MORE = 2;
const CHUNK_MIN = 16;
const CHUNK_MAX = 2_000;
/** Of users' messages few are read at first: mostly the nearest is the one. */
const USERS_FIRST = 2;
/** So many bytes of bodies are read at a time: they may hold much that history does not show. */
const READ_BYTES = 16 * 1024 * 1024;
/** What a character takes in JSON at most, and what the fields of a message take beside their values. */
const JSON_BYTES_PER_CHAR = 6;
const MESSAGE_CHARS = 100;

export class HistoryReader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
  }

  async history(query: HistoryQuery): Promise<HistoryDocument> {
    const { max_messages, max_tokens } = query;
    const session = await getSession(this.#parts.index, query.session_id);
    if (session === undefined || max_messages === 0) return render(NOTHING, query);
    const stretch = await presentStretch(this.#parts.index, session);
    await assertNoneUnplaced(this.#parts.index, stretch);
    const front = await this.#front(stretch);
    // No message takes less than a token.
    const most = Math.max(1, Math.min(max_messages, max_tokens ?? max_messages));
    const talk = await this.#talk(stretch, front, { ...query, max_messages: most, chars_max: limits.history_bytes });
    if (talk.is_cut && max_tokens === undefined) throw historyTooLarge();
    const windows = windowsOf(talk);
    const [least] = windows;
    if (least === undefined) return render(NOTHING, query);
    if (least.messages > max_messages) throw budgetTooSmall("max_messages", least.messages);
    const renderWindow = (window: Window): HistoryDocument => render(shownIn(front, talk, window), query);
    const within = windows.filter(({ messages }) => messages <= max_messages);
    const chosen = max_tokens === undefined ? within.at(-1) : await widestWithin(max_tokens, within, renderWindow);
    if (typeof chosen === "number") throw budgetTooSmall("max_tokens", chosen);
    const history = renderWindow(chosen as Window);
    if (isTooLarge(history)) throw historyTooLarge();
    return history;
  }

  /** The window at the end of a stretch, with what stands in front of it; the least there is where nothing fits. */
  async turnsIn(stretch: Stretch, options: WindowOptions): Promise<HistoryTurns> {
    const front = await this.#front(stretch);
    const talk = await this.#talk(stretch, front, { ...options, chars_max: Number.POSITIVE_INFINITY });
    const windows = windowsOf(talk);
    const window = windows.findLast(({ messages }) => messages <= options.max_messages) ?? windows[0];
    return window === undefined ? { systems: front.systems, turns: [] } : shownIn(front, talk, window);
  }

  /** What a consolidation through this position would really cover; see the outcomes. */
  async planConsolidation(session_id: string, through: number): Promise<ConsolidationPlan> {
    const session = await getSession(this.#parts.index, session_id);
    const [named] = await this.#parts.index.sessionPositions({
      session_id,
      order: "asc",
      limit: 1,
      above: through - 1,
    });
    if (session === undefined || named !== through) return { outcome: "not_in_session" };
    const present = session.consolidated_through;
    if (through < present) return { outcome: "backwards", present };
    const stretch = await presentStretch(this.#parts.index, session);
    const end = snapDown(await this.#steps(stretch), through);
    if (end === undefined || end <= stretch.above) return { outcome: "unmoved", present };
    return { outcome: "moves", through: end };
  }

  async #steps(stretch: Stretch): Promise<readonly Step[]> {
    const steps: Step[] = [];
    for await (const positions of positionsIn(this.#parts.index, stretch, { kinds: stretch.kinds })) {
      const kept = positions.filter((position) => !stretch.withdrawn.has(position));
      for (const entry of await this.#entries.readWhole(kept, stretch.before)) {
        const isTalk = entry.kind === "message" || entry.kind === "tool_call" || entry.kind === "interaction";
        if (isTalk) steps.push(toStep(entry));
      }
    }
    return steps;
  }

  async #front(stretch: Stretch): Promise<Front> {
    return { systems: await this.#systems(stretch), ...(await this.#consolidated(stretch)) };
  }

  /** Neither a clear nor a consolidation takes them away; the index knows where they are. */
  async #systems(stretch: Stretch): Promise<readonly SystemItem[]> {
    if (!stretch.kinds.includes("message")) return [];
    const systems: SystemItem[] = [];
    const filter = { kinds: ["message"], role: "system" };
    for await (const positions of positionsIn(this.#parts.index, { ...stretch, above: 0 }, filter)) {
      for await (const { items } of this.#read(positions, stretch)) {
        for (const item of items) if (item.type === "system") systems.push(item);
      }
    }
    return systems;
  }

  /** What the newest consolidation leaves in place of what came before it. */
  async #consolidated(stretch: Stretch): Promise<Omit<Front, "systems">> {
    const { consolidated_at, cleared_through, before = Number.POSITIVE_INFINITY } = stretch;
    const [entry] = consolidated_at === 0 ? [] : await this.#entries.readWhole([consolidated_at]);
    if (entry?.kind !== "consolidation") return { summary: [], kept: [] };
    const { summary: content, through, kept, id: entry_id, position } = entry;
    const from = { entry_id, position };
    const isKept = (at: number): boolean => at > cleared_through && at <= through && at < before;
    return {
      summary: isBlank(content) ? [] : [{ type: "user", content, name: "", calls: [], from }],
      kept: [...new Set(kept.filter(isKept))].sort((left, right) => right - left),
    };
  }

  /** The end of a session's talk: more than the window may hold, or all of it; `is_cut` where that was too large. */
  async #talk(
    stretch: Stretch,
    { summary, kept }: Front,
    { chars_max, ...options }: WindowOptions & { readonly chars_max: number },
  ): Promise<Talk & { readonly is_cut: boolean }> {
    const repairing = { ...options, drops_blank_users: options.format === "anthropic" };
    const has_summary = summary.length > 0;
    let items: readonly Item[] = [];
    let chars = 0;
    for await (const page of this.#backwards(stretch, kept, options.max_messages)) {
      items = [...page.items, ...items];
      for (const item of page.items) chars += charsOf(item);
      // No item is more than one message.
      if (items.length <= options.max_messages && chars <= chars_max) continue;
      const turns = repair(items, repairing);
      const isFull = countMessages(turns) > options.max_messages;
      const is_cut = !isFull && chars > chars_max && charsIn(turns) > chars_max;
      if (!isFull && !is_cut) continue;
      const isOpened = turns.some(({ type }) => type === "user");
      const opening = isOpened ? undefined : await this.#userBefore(page.position, stretch, kept, repairing);
      return { turns, has_summary, opening, is_whole: false, is_cut };
    }
    return { turns: repair(items, repairing), has_summary, is_whole: true, is_cut: false };
  }

  /** The stretch's entries from its end, then those that the consolidation keeps. */
  async *#backwards(stretch: Stretch, kept: readonly number[], max_messages: number): AsyncGenerator<Page> {
    const { session_id, above, kinds } = stretch;
    const range = { session_id, order: "desc", above, kinds } as const;
    let { before: after } = stretch;
    let limit = Math.min(CHUNK_MAX, Math.max(CHUNK_MIN, max_messages + CHUNK_MORE));
    for (;;) {
      const next = after === undefined ? {} : { after };
      const positions = await this.#parts.index.sessionPositions({ ...range, limit, ...next });
      yield* this.#read(positions, stretch);
      if (positions.length < limit) break;
      after = positions.at(-1);
      limit = Math.min(CHUNK_MAX, limit * 2);
    }
    yield* this.#read(kept, stretch);
  }

  /** The nearest user's message before a position; the index knows who spoke, so that no others are read. */
  async #userBefore(
    position: number,
    stretch: Stretch,
    kept: readonly number[],
    repairing: RepairOptions,
  ): Promise<Turn | undefined> {
    const { session_id, above } = stretch;
    const range = { session_id, order: "desc", above, kinds: ["message"], role: "user" } as const;
    const isUser = ({ type }: Turn): boolean => type === "user";
    let after = position;
    for (let limit = USERS_FIRST; ; limit = Math.min(CHUNK_MAX, limit * 2)) {
      const positions = await this.#parts.index.sessionPositions({ ...range, after, limit });
      for await (const { items } of this.#read(positions, stretch)) {
        // Results of tools may lie in a user's message, and are not the user's.
        const user = repair(items, repairing).findLast(isUser);
        if (user !== undefined) return user;
      }
      if (positions.length < limit) break;
      after = positions.at(-1) as number;
    }
    for await (const { items } of this.#read(
      kept.filter((at) => at < position),
      stretch,
    )) {
      const user = repair(items, repairing).findLast(isUser);
      if (user !== undefined) return user;
    }
    return undefined;
  }

  /** Items in order of position, in the order of the positions page by page; what was withdrawn is left out. */
  async *#read(positions: readonly number[], stretch: Stretch): AsyncGenerator<Page> {
    const { session_id, kinds, withdrawn, before } = stretch;
    const wanted = positions.filter((position) => !withdrawn.has(position));
    for (let at = 0; at < wanted.length; ) {
      const some = await this.#entries.readSome(wanted.slice(at), { before, bytes_max: READ_BYTES });
      // A consolidation may keep positions of other sessions, by mistake.
      const own = some.entries.filter((entry) => entry.session_id === session_id && kinds.includes(entry.kind));
      const items = own.sort((left, right) => left.position - right.position).flatMap(toItems);
      yield { items, position: Math.min(...wanted.slice(at, at + some.used)) };
      at += some.used;
    }
  }
}

const NOTHING: HistoryTurns = { systems: [], turns: [] };

/** What an entry adds to history, each item with the entry that it comes from. */
export function toItems(entry: Entry): readonly Item[] {
  if (entry.kind === "message") return messageToItems(entry);
  if (entry.kind === "tool_call") return toolCallToItems(entry);
  return entry.kind === "interaction" ? interactionToItems(entry) : [];
}

function shownIn({ systems, summary }: Front, { turns }: Talk, { from, opening }: Window): HistoryTurns {
  return { systems, turns: [...summary, ...(opening === undefined ? [] : [opening]), ...turns.slice(from)] };
}

function render({ systems, turns }: HistoryTurns, query: HistoryQuery): HistoryDocument {
  if (query.format === "anthropic") return toAnthropic(systems, turns);
  return { messages: [...systems.map(systemToOpenAi), ...turns.flatMap((turn) => turnToOpenAi(turn, query))] };
}

/** The widest window that fits, found by halving; where none does, the tokens of the smallest. */
async function widestWithin(
  max_tokens: number,
  windows: readonly Window[],
  renderWindow: (window: Window) => HistoryDocument,
): Promise<Window | number> {
  const tokens = new HistoryTokens(await loadTokenCounter());
  const fits = (at: number): boolean => tokens.of(renderWindow(itemAt(windows, at)), max_tokens) <= max_tokens;
  if (!fits(0)) return tokens.of(renderWindow(itemAt(windows, 0)), Number.POSITIVE_INFINITY);
  let widest = 0;
  for (let beyond = windows.length; beyond - widest > 1; ) {
    const middle = (widest + beyond) >>> 1;
    if (fits(middle)) widest = middle;
    else beyond = middle;
  }
  return itemAt(windows, widest);
}

function countMessages(turns: readonly Turn[]): number {
  return turns.reduce((sum, turn) => sum + messagesIn(turn), 0);
}

/** As characters are counted here they take a byte each at least. */
function charsIn(turns: readonly Turn[]): number {
  let chars = 0;
  for (const { content, calls } of turns) {
    chars += charsOfContent(content);
    for (const { call, result } of calls) {
      chars += call.arguments.length + (result === undefined ? 0 : charsOfContent(result.content));
    }
  }
  return chars;
}

function charsOf(item: Item): number {
  const said = charsOfContent(item.content);
  return item.type === "assistant" ? item.calls.reduce((sum, call) => sum + call.arguments.length, said) : said;
}

function charsOfContent(content: Content): number {
  return typeof content === "string" ? content.length : JSON.stringify(content).length;
}

/** Measured exactly only where it may be, since most histories are far from it. */
function isTooLarge(history: HistoryDocument): boolean {
  let chars = "system" in history ? history.system.length : 0;
  for (const message of history.messages) {
    chars += MESSAGE_CHARS;
    for (const value of Object.values(message)) {
      chars += typeof value === "string" ? value.length : JSON.stringify(value).length;
    }
  }
  if (chars * JSON_BYTES_PER_CHAR <= limits.history_bytes) return false;
  return Buffer.byteLength(JSON.stringify(history)) > limits.history_bytes;
}
