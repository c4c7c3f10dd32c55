// Turns of a session, told by its rows: a turn begins with a prompt. A prompt that was recorded as a message and as an
// interaction, or again with every call of an agent's loop, begins one turn.
import type { EntryRow } from "./port.js";
import { carries, FAILED } from "./references.js";
import type { SessionFacts } from "./session-facts.js";

/** What an entry does to the turn: it asks, answers, calls tools, returns a result, fails, or was interrupted. */
export type TurnEvent = "asked" | "answered" | "called" | "returned" | "failed" | "stopped";

/** The prompt of a turn, by its digest, and how it was recorded. */
export interface TurnPrompt {
  readonly asks: number;
  readonly by: { readonly message: boolean; readonly interaction: boolean };
}

export function factsIn({ facts }: Pick<EntryRow, "facts">): SessionFacts {
  return (facts?.session as SessionFacts | undefined) ?? {};
}

/** Undefined for entries that are not part of a turn. */
export function eventOf(row: EntryRow): TurnEvent | undefined {
  const { stops, calls, asks, answer } = factsIn(row);
  if (stops) return "stopped";
  switch (row.kind) {
    case "error":
      return "failed";
    case "tool_call":
      return carries(row, FAILED) ? "failed" : "returned";
    case "message":
      if (row.role === "tool") return "returned";
      if (row.role === "user") return asks === undefined ? undefined : "asked";
      return row.role === "assistant" ? (calls ? "called" : answer === undefined ? undefined : "answered") : undefined;
    case "interaction":
    case "response":
      if (carries(row, FAILED)) return "failed";
      return calls ? "called" : answer === undefined && row.kind === "interaction" ? "asked" : "answered";
    default:
      return undefined;
  }
}

/** The prompt of the row, if it has one. */
export function promptOf(row: EntryRow): TurnPrompt | undefined {
  const { asks } = factsIn(row);
  if (asks === undefined) return undefined;
  return { asks, by: { message: row.kind === "message", interaction: row.kind === "interaction" } };
}

/** Both prompts as one; undefined if the later one begins a turn of its own. */
export function joined(
  open: TurnPrompt | undefined,
  next: TurnPrompt,
  last: TurnEvent | undefined,
): TurnPrompt | undefined {
  if (open === undefined || open.asks !== next.asks) return undefined;
  if (next.by.message && open.by.message) return undefined;
  // The same prompt after its answer was asked again, unless it is the first interaction of a turn of messages.
  if (next.by.interaction && open.by.interaction && last === "answered") return undefined;
  const { message, interaction } = open.by;
  return {
    asks: open.asks,
    by: { message: message || next.by.message, interaction: interaction || next.by.interaction },
  };
}

/** Pauses up to this long are work; longer ones are not. */
const PAUSE_MS_MAX = 10 * 60_000;

/** The time between two entries in a row, if it counts as active. Imported clocks may run backwards. */
export function activeBetween(before_ms: number, after_ms: number): number {
  const passed = after_ms - before_ms;
  return passed > 0 && passed <= PAUSE_MS_MAX ? passed : 0;
}
