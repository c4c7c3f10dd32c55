// A session's history: read backwards from its end, only as far as the window reaches.

import { NO_CALLS, sameCallsIn } from "../../index/call-steps.js";
import { type Content, isBlank } from "../../model/content.js";
import type { Entry } from "../../model/entry.js";
import { itemAt } from "../../model/item-at.js";
import type { JsonObject } from "../../model/json.js";
import { isJsonLarger } from "../../model/json-size.js";
import { limits } from "../../model/limits.js";
import type { RecorderError } from "../../model/rejection.js";
import type { SameCalls } from "../../model/same-calls.js";
import { EntryReader } from "../../search/lists/entry-reader.js";
import type { ReadingParts } from "../../search/lists/reader.js";
import { getSession } from "../session-list.js";
import type { HistoryQuery } from "../session-query.js";
import { toAnthropic } from "./anthropic.js";
import { type Step, snapDown, toStep } from "./consolidation.js";
import { givenItems } from "./given-items.js";
import type { HistoryDocument } from "./history-document.js";
import { budgetTooSmall, contextTooLarge, historyTooLarge, type TooLarge, tooManyTokens } from "./history-refusals.js";
import {
  type AssistantPart,
  type Item,
  interactionToItems,
  messageToItems,
  type SystemItem,
  summaryToItems,
  toolCallToItems,
} from "./items.js";
import { groupToOpenAi, systemToOpenAi } from "./openai.js";
import { type MessageGroup, messagesIn, type RepairOptions, repair, startsTurn } from "./repair.js";
import { assertNoneUnplaced, type HistorySpan, positionsIn, presentSpan } from "./span.js";
import { HistoryTokens, loadTokenCounter } from "./tokens.js";
export type ConsolidationPlan =
  | { readonly outcome: "not_in_session" }
  | { readonly outcome: "backwards"; readonly present: number }
  | { readonly outcome: "unmoved"; readonly present: number }
  | { readonly outcome: "moves"; readonly through: number };

/** How much of a session history shows, and in which form. */
export type WindowOptions = Pick<HistoryQuery, "max_messages" | "format" | "include_pending">;

/** System messages, then the groups; a consolidation's summary is the first of these. */
export interface HistoryGroups {
  readonly systems: readonly SystemItem[];
  readonly groups: readonly MessageGroup[];
}

/** What precedes every window. */
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

/** The first page is a little larger than the window, because repairing may remove an item. */
const CHUNK_MORE = 2;
const CHUNK_MIN = 16;
const CHUNK_MAX = 2_000;
/** Few user messages are read at first: the nearest is usually the right one. */
const USERS_FIRST = 2;
/** Bytes of bodies read at a time. */
const READ_BYTES = 16 * 1024 * 1024;

/** Counting stops here: a million tokens of some texts take seconds. */
const LEAST_TOKENS_MAX = 1_000_000;

/** What may be read for one history. */
interface ReadBudget {
  chars_left: number;
  /** How many characters may be shown. */
  readonly chars_max: number;
  /** Drops the parts of an item that the history does not show. */
  readonly toShown: (item: Item) => Item;
  /** Why too much is refused. */
  readonly refusal: (what: TooLarge) => RecorderError;
}

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
    const span = session === undefined ? undefined : await presentSpan(this.#parts.index, session);
    await assertNoneUnplaced(this.#parts.index, span ?? UNKNOWN);
    if (span === undefined) return render(NOTHING, query);
    const budget = budgetOf({ toShown: shownBy(query), refusal: historyTooLarge });
    // Every message takes at least one token.
    const most = Math.max(1, Math.min(max_messages, max_tokens ?? max_messages));
    const { front, conversation } = await this.#shown(span, { ...query, max_messages: most }, budget);
    const windows = windowsOf(conversation);
    const [least] = windows;
    const renderWindow = (window: Window): HistoryDocument => render(shownIn(front, conversation, window), query);
    const refusal = (): RecorderError => {
      const isLeastToo = least !== undefined && isTooLarge(renderWindow(least));
      return historyTooLarge(isLeastToo ? "newest" : "messages");
    };
    if (conversation.is_cut && max_tokens === undefined) throw refusal();
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

  /** In a session of interactions, what the newest request says; else what was said. */
  async #shown(span: HistorySpan, query: HistoryQuery, budget: ReadBudget) {
    const items = span.kinds.includes("message") ? undefined : await this.#newestRequest(span, budget);
    if (items === undefined) {
      const front = await this.#front(span, budget);
      return { front, conversation: await this.#conversation(span, front, query, budget) };
    }
    const systems = items.filter((item) => item.type === "system");
    const groups = repair(items, { ...query, drops_blank_users: query.format === "anthropic" });
    const is_cut = charsIn(groups) > budget.chars_max;
    const conversation = { groups, has_summary: false, is_whole: true, is_cut };
    return { front: { systems, summary: [], kept: [] }, conversation };
  }

  async #newestRequest({ session_id, above }: HistorySpan, budget: ReadBudget): Promise<readonly Item[] | undefined> {
    const range = { session_id, above, order: "desc", limit: 1, kinds: ["interaction"] } as const;
    const [entry] = await this.#entries.readWhole(await this.#parts.index.sessionPositions(range));
    return entry?.kind === "interaction" ? givenItems(entry)?.map(budget.toShown) : undefined;
  }

  /** The window at the end of a span with what precedes it; the smallest window if none fits. */
  async groupsIn(span: HistorySpan, options: WindowOptions): Promise<HistoryGroups> {
    const budget = budgetOf({ toShown: (item) => item, refusal: contextTooLarge });
    const front = await this.#front(span, budget);
    const conversation = await this.#conversation(span, front, options, budget);
    if (conversation.is_cut) throw contextTooLarge();
    const windows = windowsOf(conversation);
    const window = windows.findLast(({ messages }) => messages <= options.max_messages) ?? windows[0];
    return window === undefined ? { systems: front.systems, groups: [] } : shownIn(front, conversation, window);
  }

  /** What is named, in the given order, and behind it the span: for a tool that listed what the model is given from there on. */
  async groupsBehind(span: HistorySpan, named: readonly number[]): Promise<HistoryGroups> {
    const budget = budgetOf({ toShown: (item) => item, refusal: contextTooLarge });
    // What a program put there stays where it is listed, or written once more.
    const listed = new Set(named);
    const isGiven = ({ from, is_injected }: SystemItem): boolean =>
      !is_injected || from === undefined || from.position > span.above || listed.has(from.position);
    const systems = (await this.#systems(span, budget)).filter(isGiven);
    const itemsAt = new Map<number, Item[]>();
    for await (const { items } of this.#read(named, { ...span, kinds: [...span.kinds, "consolidation"] }, budget)) {
      for (const item of items) {
        const at = item.from?.position ?? 0;
        itemsAt.set(at, [...(itemsAt.get(at) ?? []), item]);
      }
    }
    const before = named.flatMap((position) => itemsAt.get(position) ?? []);
    let after: readonly Item[] = [];
    for await (const page of this.#backwards(span, [], CHUNK_MAX, budget)) after = [...page.items, ...after];
    const groups = repair([...before, ...after], { include_pending: false, drops_blank_users: false });
    if (charsIn(groups) > budget.chars_max) throw contextTooLarge();
    return { systems, groups };
  }

  /** What a consolidation through this position would actually cover; see the outcomes. */
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
    const span = await presentSpan(this.#parts.index, session);
    const end = snapDown(await this.#steps(span), through);
    if (end === undefined || end <= span.above) return { outcome: "unmoved", present };
    return { outcome: "moves", through: end };
  }

  async #steps(span: HistorySpan): Promise<readonly Step[]> {
    const steps: Step[] = [];
    for await (const positions of positionsIn(this.#parts.index, span, { kinds: span.kinds })) {
      const kept = positions.filter((position) => !span.withdrawn.has(position));
      for (let at = 0; at < kept.length; ) {
        const { before } = span;
        const { entries, used } = await this.#entries.readSome(kept.slice(at), { before, bytes_max: READ_BYTES });
        const same = await this.#sameCalls(entries, span);
        for (const entry of withoutSame(entries, span, same)) {
          const isConversation = entry.kind === "message" || entry.kind === "tool_call" || entry.kind === "interaction";
          if (isConversation) steps.push(toStep(entry, same.prompted.has(entry.position)));
        }
        at += used;
      }
    }
    return steps;
  }

  async #sameCalls(entries: readonly Entry[], { session_id, is_mixed }: HistorySpan): Promise<SameCalls> {
    const positions = entries.flatMap(({ kind, position }) => (kind === "interaction" ? [position] : []));
    const [from, through] = [positions[0], positions.at(-1)];
    if (!is_mixed || from === undefined || through === undefined) return NO_CALLS;
    return sameCallsIn(this.#parts.index, {
      session_id,
      from: Math.min(from, through),
      through: Math.max(from, through),
    });
  }

  async #front(span: HistorySpan, budget: ReadBudget): Promise<Front> {
    return { systems: await this.#systems(span, budget), ...(await this.#consolidated(span)) };
  }

  /** System messages survive clears and consolidations. */
  async #systems(span: HistorySpan, budget: ReadBudget): Promise<readonly SystemItem[]> {
    if (!span.kinds.includes("message")) return [];
    const systems: SystemItem[] = [];
    let chars = 0;
    const filter = { kinds: ["message"], role: "system" };
    for await (const positions of positionsIn(this.#parts.index, { ...span, above: 0 }, filter)) {
      for await (const { items } of this.#read(positions, span, budget)) {
        for (const item of items) {
          if (item.type !== "system") continue;
          systems.push(item);
          chars += charsOf(item);
        }
        // They are part of every history, so asking for less would not help.
        if (chars > budget.chars_max) throw budget.refusal("systems");
      }
    }
    return systems;
  }

  /** What the newest consolidation keeps from before it. */
  async #consolidated(span: HistorySpan): Promise<Omit<Front, "systems">> {
    const { consolidated_at, cleared_through, before = Number.POSITIVE_INFINITY } = span;
    const [entry] = consolidated_at === 0 ? [] : await this.#entries.readWhole([consolidated_at]);
    if (entry?.kind !== "consolidation") return { summary: [], kept: [] };
    const { summary: content, through, kept, id: entry_id, position } = entry;
    const from = { entry_id, position };
    const isKept = (at: number): boolean => at > cleared_through && at <= through && at < before;
    return {
      summary: isBlank(content) ? [] : [{ type: "user", content, name: "", is_injected: false, calls: [], from }],
      kept: [...new Set(kept.filter(isKept))].sort((left, right) => right - left),
    };
  }

  /** The end of the conversation: more than the window can hold, or all of it; `is_cut` if that was too large. */
  async #conversation(
    span: HistorySpan,
    { summary, kept }: Front,
    options: WindowOptions,
    budget: ReadBudget,
  ): Promise<Conversation & { readonly is_cut: boolean }> {
    const repairing = { ...options, drops_blank_users: options.format === "anthropic" };
    const has_summary = summary.length > 0;
    const { chars_max } = budget;
    let items: readonly Item[] = [];
    let chars = 0;
    for await (const page of this.#backwards(span, kept, options.max_messages, budget)) {
      items = [...page.items, ...items];
      for (const item of page.items) chars += charsOf(item);
      // Each item is at most one message.
      if (items.length <= options.max_messages && chars <= chars_max) continue;
      const groups = repair(items, repairing);
      const isFull = countMessages(groups) > options.max_messages;
      const is_cut = !isFull && chars > chars_max && charsIn(groups) > chars_max;
      if (!isFull && !is_cut) continue;
      const isOpened = groups.some(startsTurn);
      const opening = isOpened ? undefined : await this.#userBefore(page.position, { span, kept, budget }, repairing);
      return { groups, has_summary, opening, is_whole: false, is_cut };
    }
    return { groups: repair(items, repairing), has_summary, is_whole: true, is_cut: false };
  }

  /** The span's entries from its end, then those that the consolidation keeps. */
  async *#backwards(
    span: HistorySpan,
    kept: readonly number[],
    max_messages: number,
    budget: ReadBudget,
  ): AsyncGenerator<Page> {
    const { session_id, above, kinds } = span;
    const range = { session_id, order: "desc", above, kinds } as const;
    let { before: after } = span;
    let limit = Math.min(CHUNK_MAX, Math.max(CHUNK_MIN, max_messages + CHUNK_MORE));
    for (;;) {
      const next = after === undefined ? {} : { after };
      const positions = await this.#parts.index.sessionPositions({ ...range, limit, ...next });
      yield* this.#read(positions, span, budget);
      if (positions.length < limit) break;
      after = positions.at(-1);
      limit = Math.min(CHUNK_MAX, limit * 2);
    }
    yield* this.#read(kept, span, budget);
  }

  /** The nearest message before a position that a turn begins with; where there is none, the nearest injected one. */
  async #userBefore(
    position: number,
    {
      span,
      kept,
      budget,
    }: { readonly span: HistorySpan; readonly kept: readonly number[]; readonly budget: ReadBudget },
    repairing: RepairOptions,
  ): Promise<MessageGroup | undefined> {
    const { session_id, above } = span;
    const range = { session_id, order: "desc", above, kinds: ["message"], role: "user" } as const;
    let injected: MessageGroup | undefined;
    const findIn = (items: readonly Item[]): MessageGroup | undefined => {
      const groups = repair(items, repairing);
      injected ??= groups.findLast(({ type }) => type === "user");
      return groups.findLast(startsTurn);
    };
    let after = position;
    for (let limit = USERS_FIRST; ; limit = Math.min(CHUNK_MAX, limit * 2)) {
      const positions = await this.#parts.index.sessionPositions({ ...range, after, limit });
      for await (const { items } of this.#read(positions, span, budget)) {
        // A user message may contain only tool results.
        const user = findIn(items);
        if (user !== undefined) return user;
      }
      if (positions.length < limit) break;
      after = positions.at(-1) as number;
    }
    for await (const { items } of this.#read(
      kept.filter((at) => at < position),
      span,
      budget,
    )) {
      const user = findIn(items);
      if (user !== undefined) return user;
    }
    return injected;
  }

  /** Items page by page, in order of position within a page; withdrawn messages are left out. */
  async *#read(positions: readonly number[], span: HistorySpan, budget: ReadBudget): AsyncGenerator<Page> {
    const { session_id, kinds, withdrawn, before } = span;
    const wanted = positions.filter((position) => !withdrawn.has(position));
    for (let at = 0; at < wanted.length; ) {
      const some = await this.#entries.readSome(wanted.slice(at), { before, bytes_max: READ_BYTES });
      budget.chars_left -= some.chars;
      if (budget.chars_left < 0) throw budget.refusal("read");
      // A consolidation may keep positions of other sessions, by mistake.
      const own = some.entries.filter((entry) => entry.session_id === session_id && kinds.includes(entry.kind));
      own.sort((left, right) => left.position - right.position);
      const same = await this.#sameCalls(own, span);
      const items = withoutSame(own, span, same)
        .flatMap((entry) => toItems(entry, same.prompted.has(entry.position)))
        .map(budget.toShown);
      yield { items, position: Math.min(...wanted.slice(at, at + some.used)) };
      at += some.used;
    }
  }
}

function budgetOf(how: Pick<ReadBudget, "toShown" | "refusal">): ReadBudget {
  return { chars_left: limits.history_read_chars, chars_max: limits.history_bytes, ...how };
}

const NOTHING: HistoryGroups = { systems: [], groups: [] };
/** The span of an unknown session: all its entries may have been altered. */
const UNKNOWN = { above: 0, kinds: ["message", "tool_call", "interaction"] };

/** Interactions that are the same call as a message, or that nobody answered, add nothing among messages. */
function withoutSame(entries: readonly Entry[], { is_mixed }: HistorySpan, same: SameCalls): readonly Entry[] {
  if (!is_mixed) return entries;
  return entries.filter((entry) => {
    if (entry.kind !== "interaction") return true;
    return !same.messageOf.has(entry.position) && !(same.prompted.has(entry.position) && entry.response.trim() === "");
  });
}

/** What an entry adds to history, each item with its entry. */
export function toItems(entry: Entry, is_prompted = false): readonly Item[] {
  if (entry.kind === "message") return messageToItems(entry);
  if (entry.kind === "tool_call") return toolCallToItems(entry);
  if (entry.kind === "consolidation") return summaryToItems(entry);
  return entry.kind === "interaction" ? interactionToItems(entry, is_prompted) : [];
}

function shownIn({ systems, summary }: Front, { groups }: Conversation, { from, opening }: Window): HistoryGroups {
  return { systems, groups: [...summary, ...(opening === undefined ? [] : [opening]), ...groups.slice(from)] };
}

function render({ systems, groups }: HistoryGroups, query: HistoryQuery): HistoryDocument {
  if (query.format === "anthropic") return toAnthropic(systems, groups);
  return { messages: [...systems.map(systemToOpenAi), ...groups.flatMap((group) => groupToOpenAi(group, query))] };
}

/** Thinking is shown only in Anthropic's form, other reasoning in OpenAI's if requested. */
function shownBy({ format, include_reasoning }: HistoryQuery): (item: Item) => Item {
  return (item) => {
    if (item.type !== "assistant") return item;
    const { orderedParts, ...left } = item;
    const said = include_reasoning && format !== "anthropic" ? left : { ...left, reasoning: {} };
    return orderedParts === undefined || format !== "anthropic" ? said : { ...said, orderedParts };
  };
}

/** The widest window that fits, by binary search; if none fits, the tokens of the smallest, if they can be counted. */
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

function countMessages(groups: readonly MessageGroup[]): number {
  return groups.reduce((sum, group) => sum + messagesIn(group), 0);
}

/** Characters; each takes at least one byte. */
function charsIn(groups: readonly MessageGroup[]): number {
  let chars = 0;
  for (const { content, calls, orderedParts, reasoning = {} } of groups) {
    chars += charsOfContent(content) + charsOfReasoning(orderedParts, reasoning);
    for (const { call, result } of calls) {
      chars += call.arguments.length + (result === undefined ? 0 : charsOfContent(result.content));
    }
  }
  return chars;
}

function charsOf(item: Item): number {
  const said = charsOfContent(item.content);
  if (item.type !== "assistant") return said;
  const thought = charsOfReasoning(item.orderedParts, item.reasoning);
  return item.calls.reduce((sum, call) => sum + call.arguments.length, said + thought);
}

/** Reasoning that is not part of content and calls. */
function charsOfReasoning(orderedParts: readonly AssistantPart[] = [], reasoning: JsonObject): number {
  let chars = 0;
  for (const part of orderedParts) {
    if ("thinking" in part) chars += JSON.stringify(part.thinking).length;
    if ("server" in part) chars += JSON.stringify(part.server).length;
  }
  for (const value of Object.values(reasoning)) chars += JSON.stringify(value).length;
  return chars;
}

function charsOfContent(content: Content): number {
  return typeof content === "string" ? content.length : JSON.stringify(content).length;
}

function isTooLarge(history: HistoryDocument): boolean {
  return isJsonLarger(history, limits.history_bytes);
}

/** The end of a session's conversation, as far as it was read. */
interface Conversation {
  readonly groups: readonly MessageGroup[];
  /** Whether a consolidation's summary precedes the groups, as a user message. */
  readonly has_summary: boolean;
  /** Whether nothing comes before the groups: then the summary opens those before the first user message. */
  readonly is_whole: boolean;
  /** The user message that the first groups answer, if it comes before them. */
  readonly opening?: MessageGroup | undefined;
}

/** The groups from an index on; if that is inside a turn, the user message that opens the turn precedes them. */
interface Window {
  readonly from: number;
  readonly opening?: MessageGroup | undefined;
  /** In OpenAI's form, which is the form that is counted. */
  readonly messages: number;
}

/**
 * The windows that a history may show, the smallest first: each begins with a user's turn and holds whole groups. Only the
 * newest turn is ever cut; earlier ones are shown whole or not at all. The whole conversation may begin with messages that
 * were injected before the first turn.
 */
function windowsOf({ groups, has_summary, is_whole, opening }: Conversation): readonly Window[] {
  if (groups.length === 0) return has_summary ? [{ from: 0, messages: 0 }] : [];
  // Where nobody said anything, injected messages are all that there is to begin with.
  const hasTurns = has_summary || opening !== undefined || groups.some(startsTurn);
  const isUser = ({ type }: MessageGroup): boolean => type === "user";
  const opens = hasTurns ? startsTurn : isUser;
  const lastUser = groups.findLastIndex(opens);
  const opener = groups[lastUser] ?? opening;
  if (opener === undefined && !has_summary) return [];
  const windows: Window[] = [];
  let messages = 0;
  for (let from = groups.length - 1; from >= 0; from -= 1) {
    const group = itemAt(groups, from);
    messages += messagesIn(group);
    if (opens(group)) {
      // The same as the window before, which already has this opening in front.
      if (from === lastUser && from < groups.length - 1) windows.pop();
      windows.push({ from, messages });
    } else if (from > lastUser) {
      windows.push({ from, opening: opener, messages: messages + (opener === undefined ? 0 : 1) });
    } else if (from === 0 && is_whole && (has_summary || isUser(group))) {
      windows.push({ from, messages });
    }
  }
  return windows;
}
