// What a turn says about memories: which it was given, which its answer used, and which were confirmed without having been
// given. An echo proves nothing, so that only the last of these counts for a memory.
import type { Spoken } from "../read/quoted-entry.js";
import type { MemoryIndex } from "./matching.js";

interface TurnHeard {
  /** What was said in the turn, by whom. */
  readonly said: readonly Spoken[];
  readonly memories_used: readonly string[];
  /** Texts of its context packs (`textsOfPack`). */
  readonly packs: readonly string[];
}

interface Uses {
  readonly given: ReadonlySet<string>;
  readonly used: ReadonlySet<string>;
  readonly confirmed: ReadonlySet<string>;
}

/** What the session had before a turn ended. What came later is not asked: a turn means the same at once and in a year. */
export interface SessionSoFar {
  /** Ids of the memories that earlier turns were given. */
  readonly given: ReadonlySet<string>;
  /** Ids of those that were recalled or listed. */
  readonly recalled: ReadonlySet<string>;
}

/** @param index Of the memories that were active when the turn was recorded, of its project and global ones. */
export function usesOf(turn: TurnHeard, index: MemoryIndex, session: SessionSoFar): Uses {
  const given = new Set([...turn.memories_used, ...session.recalled].filter((id) => index.has(id)));
  for (const text of turn.packs) for (const id of index.containedIn(text)) given.add(id);
  const used = new Set<string>();
  const confirmed = new Set<string>();
  for (const { by, text } of turn.said) {
    if (by === "system") continue;
    for (const id of index.matchedIn(text)) {
      if (given.has(id)) {
        if (by === "assistant") used.add(id);
      } else if (!session.given.has(id)) confirmed.add(id);
    }
  }
  return { given, used, confirmed };
}
