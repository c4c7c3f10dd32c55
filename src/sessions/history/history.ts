// A session's history: read from its end backwards, only as far as the window reaches.

import { type Content, isBlank } from "../../model/content.js";
import type { Entry } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";
import type { JsonObject } from "../../model/json.js";
import { limits } from "../../model/limits.js";
import type { RecorderError } from "../../model/rejection.js";
import { EntryReader } from "../../search/lists/entry-reader.js";
import type { ReadingParts } from "../../search/lists/reader.js";
import { getSession } from "../session-list.js";
import type { HistoryQuery } from "../session-query.js";
import { toAnthropic } from "./anthropic.js";
import { type Step, snapDown, toStep } from "./consolidation.js";
import type { HistoryDocument } from "./history-document.js";
import { budgetTooSmall, historyTooLarge, tooManyTokens, tooMuchToRead } from "./history-refusals.js";
import { type AssistantPart, type Item, interactionToItems, messageToItems, toolCallToItems } from "./items.js";
import { groupToOpenAi, systemToOpenAi } from "./openai.js";
import { type MessageGroup, messagesIn, type RepairOptions, repair } from "./repair.js";
import { assertNoneUnplaced, type HistorySpan, positionsIn, presentSpan } from "./span.js";
import { HistoryTokens, loadTokenCounter } from "./tokens.js";
export type ConsolidationPlan =
  | { readonly outcome: "not_in_session" }
  | { readonly outcome: "backwards"; readonly present: number }
  | { readonly outcome: "unmoved"; readonly present: number }
  | { readonly outcome: "moves"; readonly through: number };

type SystemItem = Item & { readonly type: "system" };

/** How much of a session history shows, and in whose form. */
export type WindowOptions = Pick<HistoryQuery, "max_messages" | "format" | "include_pending">;

/** System messages, then the turns; a consolidation's summary is the first of these. */
export interface HistoryGroups {
  readonly systems: readonly SystemItem[];
  readonly turns: readonly MessageGroup[];
}

/** What stands in front of every window. */
interface Front {
  readonly systems: readonly SystemItem[];
  readonly summary: readonly MessageGroup[];
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

/** More tokens are not counted to tell how many are needed: of some texts a million take seconds. */
const LEAST_TOKENS_MAX = 1_000_000;

/** What may be read for one history. */
interface Intake {
  chars_left: number;
  /** How much of it may be shown. */
  readonly chars_max: number;
  /** An item without what the history does not show of it, which is not held. */
  readonly toShown: (item: Item) => Item;
}

const UNLIMITED: Intake = {
  chars_left: Number.POSITIVE_INFINITY,
  chars_max: Number.POSITIVE_INFINITY,
  toShown: (item) => item,
};

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
    if (max_messages === 0) return render(NOTHING, query);
    const stretch = session === undefined ? undefined : await presentSpan(this.#parts.index, session);
    await assertNoneUnplaced(this.#parts.index, stretch ?? UNKNOWN);
    if (stretch === undefined) return render(NOTHING, query);
    const intake = { chars_left: limits.history_read_chars, chars_max: limits.history_bytes, toShown: shownBy(query) };
    const front = await this.#front(stretch, intake);
    // No message takes less than a token.
    const most = Math.max(1, Math.min(max_messages, max_tokens ?? max_messages));
    const talk = await this.#talk(stretch, front, { ...query, max_messages: most }, intake);
    const windows = windowsOf(talk);
    const [least] = windows;
    const renderWindow = (window: Window): HistoryDocument => render(shownIn(front, talk, window), query);
    const refusal = (): RecorderError => {
      const isLeastToo = least !== undefined && isTooLarge(renderWindow(least));
      return historyTooLarge(isLeastToo ? "newest" : "messages");
    };
    if (talk.is_cut && max_tokens === undefined) throw refusal();
    if (least === undefined) return render(NOTHING, query);
    if (least.messages > max_messages) throw budgetTooSmall("max_messages", least.messages);
    const within = windows.filter(({ messages }) => messages <= max_messages);
    const chosen = max_tokens === undefined ? within.at(-1) : await widestWithin(max_tokens, within, renderWindow);
    if (chosen === "uncounted") throw tooManyTokens(LEAST_TOKENS_MAX);
    if (typeof chosen === "number") throw budgetTooSmall("max_tokens", chosen);
    const history = renderWindow(chosen as Window);
    if (isTooLarge(history)) throw refusal();
    return history;
  }

  /** The window at the end of a stretch, with what stands in front of it; the least there is where nothing fits. */
  async turnsIn(stretch: HistorySpan, options: WindowOptions): Promise<HistoryGroups> {
    const front = await this.#front(stretch, UNLIMITED);
    const talk = await this.#talk(stretch, front, options, UNLIMITED);
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
    const stretch = await presentSpan(this.#parts.index, session);
    const end = snapDown(await this.#steps(stretch), through);
    if (end === undefined || end <= stretch.above) return { outcome: "unmoved", present };
    return { outcome: "moves", through: end };
  }

  async #steps(stretch: HistorySpan): Promise<readonly Step[]> {
    const steps: Step[] = [];
    for await (const positions of positionsIn(this.#parts.index, stretch, { kinds: stretch.kinds })) {
      const kept = positions.filter((position) => !stretch.withdrawn.has(position));
      for (let at = 0; at < kept.length; ) {
        const { before } = stretch;
        const { entries, used } = await this.#entries.readSome(kept.slice(at), { before, bytes_max: READ_BYTES });
        for (const entry of entries) {
          const isTalk = entry.kind === "message" || entry.kind === "tool_call" || entry.kind === "interaction";
          if (isTalk) steps.push(toStep(entry));
        }
        at += used;
      }
    }
    return steps;
  }

  async #front(stretch: HistorySpan, intake: Intake): Promise<Front> {
    return { systems: await this.#systems(stretch, intake), ...(await this.#consolidated(stretch)) };
  }

  /** Neither a clear nor a consolidation takes them away; the index knows where they are. */
  async #systems(stretch: HistorySpan, intake: Intake): Promise<readonly SystemItem[]> {
    if (!stretch.kinds.includes("message")) return [];
    const systems: SystemItem[] = [];
    let chars = 0;
    const filter = { kinds: ["message"], role: "system" };
    for await (const positions of positionsIn(this.#parts.index, { ...stretch, above: 0 }, filter)) {
      for await (const { items } of this.#read(positions, stretch, intake)) {
        for (const item of items) {
          if (item.type !== "system") continue;
          systems.push(item);
          chars += charsOf(item);
        }
        // They are part of every history, so that nothing less can be asked for.
        if (chars > intake.chars_max) throw historyTooLarge("systems");
      }
    }
    return systems;
  }

  /** What the newest consolidation leaves in place of what came before it. */
  async #consolidated(stretch: HistorySpan): Promise<Omit<Front, "systems">> {
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
    stretch: HistorySpan,
    { summary, kept }: Front,
    options: WindowOptions,
    intake: Intake,
  ): Promise<Talk & { readonly is_cut: boolean }> {
    const repairing = { ...options, drops_blank_users: options.format === "anthropic" };
    const has_summary = summary.length > 0;
    const { chars_max } = intake;
    let items: readonly Item[] = [];
    let chars = 0;
    for await (const page of this.#backwards(stretch, kept, options.max_messages, intake)) {
      items = [...page.items, ...items];
      for (const item of page.items) chars += charsOf(item);
      // No item is more than one message.
      if (items.length <= options.max_messages && chars <= chars_max) continue;
      const turns = repair(items, repairing);
      const isFull = countMessages(turns) > options.max_messages;
      const is_cut = !isFull && chars > chars_max && charsIn(turns) > chars_max;
      if (!isFull && !is_cut) continue;
      const isOpened = turns.some(({ type }) => type === "user");
      const opening = isOpened
        ? undefined
        : await this.#userBefore(page.position, { stretch, kept, intake }, repairing);
      return { turns, has_summary, opening, is_whole: false, is_cut };
    }
    return { turns: repair(items, repairing), has_summary, is_whole: true, is_cut: false };
  }

  /** The stretch's entries from its end, then those that the consolidation keeps. */
  async *#backwards(
    stretch: HistorySpan,
    kept: readonly number[],
    max_messages: number,
    intake: Intake,
  ): AsyncGenerator<Page> {
    const { session_id, above, kinds } = stretch;
    const range = { session_id, order: "desc", above, kinds } as const;
    let { before: after } = stretch;
    let limit = Math.min(CHUNK_MAX, Math.max(CHUNK_MIN, max_messages + CHUNK_MORE));
    for (;;) {
      const next = after === undefined ? {} : { after };
      const positions = await this.#parts.index.sessionPositions({ ...range, limit, ...next });
      yield* this.#read(positions, stretch, intake);
      if (positions.length < limit) break;
      after = positions.at(-1);
      limit = Math.min(CHUNK_MAX, limit * 2);
    }
    yield* this.#read(kept, stretch, intake);
  }

  /** The nearest user's message before a position; the index knows who spoke, so that no others are read. */
  async #userBefore(
    position: number,
    {
      stretch,
      kept,
      intake,
    }: { readonly stretch: HistorySpan; readonly kept: readonly number[]; readonly intake: Intake },
    repairing: RepairOptions,
  ): Promise<MessageGroup | undefined> {
    const { session_id, above } = stretch;
    const range = { session_id, order: "desc", above, kinds: ["message"], role: "user" } as const;
    const isUser = ({ type }: MessageGroup): boolean => type === "user";
    let after = position;
    for (let limit = USERS_FIRST; ; limit = Math.min(CHUNK_MAX, limit * 2)) {
      const positions = await this.#parts.index.sessionPositions({ ...range, after, limit });
      for await (const { items } of this.#read(positions, stretch, intake)) {
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
      intake,
    )) {
      const user = repair(items, repairing).findLast(isUser);
      if (user !== undefined) return user;
    }
    return undefined;
  }

  /** Items in order of position, in the order of the positions page by page; what was withdrawn is left out. */
  async *#read(positions: readonly number[], stretch: HistorySpan, intake: Intake): AsyncGenerator<Page> {
    const { session_id, kinds, withdrawn, before } = stretch;
    const wanted = positions.filter((position) => !withdrawn.has(position));
    for (let at = 0; at < wanted.length; ) {
      const some = await this.#entries.readSome(wanted.slice(at), { before, bytes_max: READ_BYTES });
      intake.chars_left -= some.chars;
      if (intake.chars_left < 0) throw tooMuchToRead();
      // A consolidation may keep positions of other sessions, by mistake.
      const own = some.entries.filter((entry) => entry.session_id === session_id && kinds.includes(entry.kind));
      const items = own
        .sort((left, right) => left.position - right.position)
        .flatMap(toItems)
        .map(intake.toShown);
      yield { items, position: Math.min(...wanted.slice(at, at + some.used)) };
      at += some.used;
    }
  }
}

const NOTHING: HistoryGroups = { systems: [], turns: [] };
/** All entries of a session that nobody knows may have been altered. */
const UNKNOWN = { above: 0, kinds: ["message", "tool_call", "interaction"] };

/** What an entry adds to history, each item with the entry that it comes from. */
export function toItems(entry: Entry): readonly Item[] {
  if (entry.kind === "message") return messageToItems(entry);
  if (entry.kind === "tool_call") return toolCallToItems(entry);
  return entry.kind === "interaction" ? interactionToItems(entry) : [];
}

function shownIn({ systems, summary }: Front, { turns }: Talk, { from, opening }: Window): HistoryGroups {
  return { systems, turns: [...summary, ...(opening === undefined ? [] : [opening]), ...turns.slice(from)] };
}

function render({ systems, turns }: HistoryGroups, query: HistoryQuery): HistoryDocument {
  if (query.format === "anthropic") return toAnthropic(systems, turns);
  return { messages: [...systems.map(systemToOpenAi), ...turns.flatMap((turn) => groupToOpenAi(turn, query))] };
}

/** Thinking is shown in Anthropic's form alone, other reasoning in OpenAI's where it is asked for. */
function shownBy({ format, include_reasoning }: HistoryQuery): (item: Item) => Item {
  return (item) => {
    if (item.type !== "assistant") return item;
    const { pieces, ...left } = item;
    const said = include_reasoning && format !== "anthropic" ? left : { ...left, reasoning: {} };
    return pieces === undefined || format !== "anthropic" ? said : { ...said, pieces };
  };
}

/** The widest window that fits, found by halving; where none does, the tokens of the smallest, if they are not too many to count. */
async function widestWithin(
  max_tokens: number,
  windows: readonly Window[],
  renderWindow: (window: Window) => HistoryDocument,
): Promise<Window | number | "uncounted"> {
  const tokens = new HistoryTokens(await loadTokenCounter());
  const fits = (at: number): boolean => tokens.of(renderWindow(itemAt(windows, at)), max_tokens) <= max_tokens;
  if (!fits(0)) {
    const least = tokens.of(renderWindow(itemAt(windows, 0)), LEAST_TOKENS_MAX);
    return least > LEAST_TOKENS_MAX ? "uncounted" : least;
  }
  let widest = 0;
  for (let beyond = windows.length; beyond - widest > 1; ) {
    const middle = (widest + beyond) >>> 1;
    if (fits(middle)) widest = middle;
    else beyond = middle;
  }
  return itemAt(windows, widest);
}

function countMessages(turns: readonly MessageGroup[]): number {
  return turns.reduce((sum, turn) => sum + messagesIn(turn), 0);
}

/** As characters are counted here they take a byte each at least. */
function charsIn(turns: readonly MessageGroup[]): number {
  let chars = 0;
  for (const { content, calls, pieces, reasoning = {} } of turns) {
    chars += charsOfContent(content) + charsOfReasoning(pieces, reasoning);
    for (const { call, result } of calls) {
      chars += call.arguments.length + (result === undefined ? 0 : charsOfContent(result.content));
    }
  }
  return chars;
}

function charsOf(item: Item): number {
  const said = charsOfContent(item.content);
  if (item.type !== "assistant") return said;
  const thought = charsOfReasoning(item.pieces, item.reasoning);
  return item.calls.reduce((sum, call) => sum + call.arguments.length, said + thought);
}

/** What an assistant's content and calls do not have already. */
function charsOfReasoning(pieces: readonly AssistantPart[] = [], reasoning: JsonObject): number {
  let chars = 0;
  for (const piece of pieces) if ("thinking" in piece) chars += JSON.stringify(piece.thinking).length;
  for (const value of Object.values(reasoning)) chars += JSON.stringify(value).length;
  return chars;
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

// Which windows over a session's turns history may show, the smallest first: each begins with a user's message and holds
// whole groups, an assistant's message with its calls and all their results.

/** The end of a session's talk, as far as it was read. */
interface Talk {
  readonly turns: readonly MessageGroup[];
  /** Whether a consolidation's summary stands in front, which is a user's message. */
  readonly has_summary: boolean;
  /** Whether nothing comes before the turns, so that the summary opens those that stand before any user's message. */
  readonly is_whole: boolean;
  /** The user's message that the first turns belong to, where it stands before them. */
  readonly opening?: MessageGroup | undefined;
}

/** The turns from one on; where that is in the middle of a user's turn, the message that opens it stands in front. */
interface Window {
  readonly from: number;
  readonly opening?: MessageGroup | undefined;
  /** In OpenAI's form, which is the form that is counted. */
  readonly messages: number;
}

/** Only the newest user's turn is ever cut, and from its middle; of a turn before it all is shown or nothing. */
function windowsOf({ turns, has_summary, is_whole, opening }: Talk): readonly Window[] {
  if (turns.length === 0) return has_summary ? [{ from: 0, messages: 0 }] : [];
  const lastUser = turns.findLastIndex(({ type }) => type === "user");
  const opener = turns[lastUser] ?? opening;
  if (opener === undefined && !has_summary) return [];
  const windows: Window[] = [];
  let messages = 0;
  for (let from = turns.length - 1; from >= 0; from -= 1) {
    const turn = itemAt(turns, from);
    messages += messagesIn(turn);
    if (turn.type === "user") {
      // The same as the window before, which had the opening put in front of its groups.
      if (from === lastUser && from < turns.length - 1) windows.pop();
      windows.push({ from, messages });
    } else if (from > lastUser) {
      windows.push({ from, opening: opener, messages: messages + (opener === undefined ? 0 : 1) });
    } else if (from === 0 && is_whole && has_summary) {
      windows.push({ from, messages });
    }
  }
  return windows;
}
