// Which part of a session history shows: the last so many messages, from a user's turn on.
import type { Item } from "./items.js";
import { messagesIn, type RepairOptions, repair, type Turn } from "./repair.js";

export interface Window {
  readonly turns: readonly Turn[];
  /** Whether more of the session could not change the window. */
  readonly is_settled: boolean;
}

/**
 * The window at the end of a suffix of the session. A call before the suffix could only take results away that are left
 * out of the suffix anyway, so a window that starts inside the suffix is the window of the whole session.
 */
export function windowOf(suffix: readonly Item[], options: RepairOptions & { readonly max_messages: number }): Window {
  const turns = repair(suffix, options);
  let start = turns.length;
  let messages = 0;
  while (start > 0 && messages + messagesIn(turns[start - 1] as Turn) <= options.max_messages) {
    start -= 1;
    messages += messagesIn(turns[start] as Turn);
  }
  const firstUser = turns.findIndex((turn, index) => index >= start && turn.type === "user");
  // A window without a user's turn reaches back to the nearest one.
  const from = firstUser >= 0 ? firstUser : turns.findLastIndex((turn, index) => index < start && turn.type === "user");
  const is_settled = start > 0 && from >= 0;
  return { turns: from < 0 ? [] : turns.slice(from), is_settled };
}
