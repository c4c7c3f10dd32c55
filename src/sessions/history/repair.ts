// Makes a sequence of items valid for any provider: every call is directly followed by its one result, and broken pairs are
// left out. Only the view is repaired, never what is stored.
import { type Content, isBlank } from "../../model/content.js";
import type { JsonObject } from "../../model/json.js";
import type { AssistantPart, Item, ItemOrigin, ResultItem, ToolCall } from "./items.js";

/** A message with its calls and their results. */
export interface MessageGroup {
  readonly type: "user" | "assistant";
  readonly content: Content;
  readonly name: string;
  /** Whether it is a user's message that a program put there: no turn begins with it. */
  readonly is_injected: boolean;
  /** The calls that are kept, each with its result; a pending one has none. */
  readonly calls: readonly { readonly call: ToolCall; readonly result?: ResultItem }[];
  /** In an assistant's item. */
  readonly orderedParts?: readonly AssistantPart[] | undefined;
  readonly reasoning?: JsonObject | undefined;
  readonly from?: ItemOrigin | undefined;
}

export interface RepairOptions {
  /** Keeps calls of the last message that have no result yet. */
  readonly include_pending: boolean;
  /** Whether user messages with nothing but white space are left out too. */
  readonly drops_blank_users: boolean;
}

const NONE: MessageGroup["calls"] = [];

interface PendingCall {
  readonly call: ToolCall;
  result?: ResultItem;
}

export function repair(items: readonly Item[], options: RepairOptions): readonly MessageGroup[] {
  const slots = pairUp(items);
  const messages = items.flatMap((item) => (item.type === "user" || item.type === "assistant" ? [item] : []));
  const isShown = (item: (typeof messages)[number]): boolean => {
    if (!isBlank(item.content)) return true;
    return item.type === "user" ? !options.drops_blank_users : item.calls.length > 0;
  };
  const last = messages.findLast(isShown);
  const groups: MessageGroup[] = [];
  for (const item of messages) {
    if (item.type === "user") {
      const { type, content, name, is_injected, from } = item;
      const unused = { calls: NONE, orderedParts: undefined, reasoning: undefined };
      if (isShown(item)) groups.push({ type, content, name, is_injected, ...unused, from });
      continue;
    }
    const keepsPending = options.include_pending && item === last;
    const calls = (slots.get(item) ?? []).filter((slot) => slot.result !== undefined || keepsPending);
    if (calls.length === 0 && isBlank(item.content)) continue;
    // All groups have the same fields, which makes them faster.
    const { type, content, name, orderedParts, reasoning, from } = item;
    groups.push({ type, content, name, is_injected: false, calls, orderedParts, reasoning, from });
  }
  return groups;
}

/** Whether a turn begins with it. */
export function startsTurn({ type, is_injected }: MessageGroup): boolean {
  return type === "user" && !is_injected;
}

/** How many messages a group makes in OpenAI's form, which is the form that is counted. */
export function messagesIn(group: MessageGroup): number {
  return 1 + group.calls.filter((call) => call.result !== undefined).length;
}

/**
 * A result belongs to the nearest call with its id before it; the first one counts, and a tool message before a
 * `tool_call` entry.
 */
function pairUp(items: readonly Item[]): ReadonlyMap<Item, readonly PendingCall[]> {
  const callsByItem = new Map<Item, readonly PendingCall[]>();
  const nearest = new Map<string, PendingCall>();
  for (const item of items) {
    if (item.type === "assistant") {
      const slots: PendingCall[] = item.calls.map((call) => ({ call }));
      for (const slot of slots) nearest.set(slot.call.id, slot);
      callsByItem.set(item, slots);
    } else if (item.type === "result") {
      const slot = nearest.get(item.call_id);
      if (slot === undefined) continue;
      if (slot.result === undefined || (slot.result.is_spare && !item.is_spare)) slot.result = item;
    }
  }
  return callsByItem;
}
