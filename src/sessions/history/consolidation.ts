// Where a consolidation may end: never inside a turn, and never between a call and its result.
import type { EntryOf } from "../../model/entry.js";
import { readRole } from "../../model/roles.js";
import { type Item, messageToItems, opensTurn, toolCallToItems } from "./items.js";

/** A message or tool call of the session, after the present boundary. */
export interface Step {
  readonly position: number;
  readonly startsTurn: boolean;
  readonly endsTurn: boolean;
  readonly items: readonly Item[];
}

/** With `is_prompted` for an interaction whose prompt a message says already. */
export function toStep(
  entry: EntryOf<"message"> | EntryOf<"tool_call"> | EntryOf<"interaction">,
  is_prompted = false,
): Step {
  const { position } = entry;
  // An interaction is a whole turn, once it has its response or has failed.
  if (entry.kind === "interaction") {
    const isAnswered = entry.response.trim() !== "" || entry.error !== "";
    return { position, startsTurn: !is_prompted, endsTurn: isAnswered, items: [] };
  }
  const full = entry.kind === "message" ? messageToItems(entry) : toolCallToItems(entry);
  // Only calls and results are compared, since all texts of a session may need more than memory.
  const items = full.map((item): Item => {
    if (item.type !== "assistant") return { ...item, content: "" };
    const { orderedParts: _, ...said } = item;
    return { ...said, content: "", reasoning: {}, calls: item.calls.map((call) => ({ ...call, arguments: "" })) };
  });
  const isAnswer = entry.kind === "message" && readRole(entry.role) === "assistant";
  const startsTurn = items.some(opensTurn);
  return { position, startsTurn, endsTurn: isAnswer, items };
}

/** The last message of the last complete turn at or before `through`; undefined if no turn is complete by then. */
export function snapDown(steps: readonly Step[], through: number): number | undefined {
  const pairs = callsWithResults(steps);
  return turnEnds(steps).findLast(
    (end) => end <= through && pairs.every(({ call, result }) => call > end || result <= end),
  );
}

/** A turn ends before the next one starts; the last one ends with an answer without tool calls. */
function turnEnds(steps: readonly Step[]): readonly number[] {
  const talk = steps.filter(
    (step) => step.startsTurn || step.endsTurn || step.items.some((item) => item.type !== "system"),
  );
  return talk.filter((step, index) => talk[index + 1]?.startsTurn ?? isFinalAnswer(step)).map((step) => step.position);
}

function isFinalAnswer(step: Step): boolean {
  return step.endsTurn && step.items.every((item) => item.type !== "assistant" || item.calls.length === 0);
}

function callsWithResults(steps: readonly Step[]): readonly { readonly call: number; readonly result: number }[] {
  const nearest = new Map<string, number>();
  const pairs: { call: number; result: number }[] = [];
  for (const step of steps) {
    for (const item of step.items) {
      if (item.type === "assistant") for (const call of item.calls) nearest.set(call.id, step.position);
      const call = item.type === "result" ? nearest.get(item.call_id) : undefined;
      if (call !== undefined) pairs.push({ call, result: step.position });
    }
  }
  return pairs;
}
