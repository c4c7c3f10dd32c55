// Which windows over a session's turns history may show, the smallest first: each begins with a user's message and holds
// whole groups, an assistant's message with its calls and all their results.
import { itemAt } from "../../model/item-at.js";
import { messagesIn, type Turn } from "./repair.js";

/** The end of a session's talk, as far as it was read. */
export interface Talk {
  readonly turns: readonly Turn[];
  /** Whether a consolidation's summary stands in front, which is a user's message. */
  readonly has_summary: boolean;
  /** Whether nothing comes before the turns, so that the summary opens those that stand before any user's message. */
  readonly is_whole: boolean;
  /** The user's message that the first turns belong to, where it stands before them. */
  readonly opening?: Turn | undefined;
}

/** The turns from one on; where that is in the middle of a user's turn, the message that opens it stands in front. */
export interface Window {
  readonly from: number;
  readonly opening?: Turn | undefined;
  /** In OpenAI's form, which is the form that is counted. */
  readonly messages: number;
}

/** Only the newest user's turn is ever cut, and from its middle; of a turn before it all is shown or nothing. */
export function windowsOf({ turns, has_summary, is_whole, opening }: Talk): readonly Window[] {
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
