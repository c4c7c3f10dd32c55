// How what was given for an answer differs from what was given for the one before.

import type { ContextChange, GivenMessage } from "../model/context.js";
import { itemAt } from "../model/item-at.js";

/** Messages that are the same to the byte are the same, as often as both have them. */
export function compareMessages(
  entry_id: string,
  then: readonly GivenMessage[],
  now: readonly GivenMessage[],
): ContextChange {
  const left = new Map<string, number>();
  const names = then.map(nameOf);
  for (const name of names) left.set(name, (left.get(name) ?? 0) + 1);
  const added: number[] = [];
  for (const [at, message] of now.entries()) {
    const name = nameOf(message);
    const count = left.get(name) ?? 0;
    if (count === 0) added.push(at);
    else left.set(name, count - 1);
  }
  // Of several that say the same the last ones are those that went.
  const removed: GivenMessage[] = [];
  for (const [at, message] of [...then.entries()].reverse()) {
    const name = itemAt(names, at);
    const count = left.get(name) ?? 0;
    if (count === 0) continue;
    left.set(name, count - 1);
    removed.push(message);
  }
  return { entry_id, kept: now.length - added.length, added, removed: removed.reverse() };
}

/** Where it was recorded is no part of what it says. */
function nameOf({ entry_id: _, ...message }: GivenMessage): string {
  return JSON.stringify(message);
}
