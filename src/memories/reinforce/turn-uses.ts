// Which memories a turn was given, used or confirmed, of those that were active when it was recorded.
import type { KeptMemory } from "../../index/memory-fold.js";
import type { MemoriesById } from "../read/kept-memories.js";
import type { MemoryUse } from "../read/pass-steps.js";
import { RecentlyUsed } from "../recall/recently-used.js";
import { spokenIn, textsOfPack } from "../text/spoken.js";
import type { Stems } from "../text/stems.js";
import type { Turn } from "../turn-reader.js";
import { MemoryIndex } from "./matching.js";
import { type Gift, giftsIn, type SessionGifts } from "./session-given.js";
import { type SessionSoFar, usesOf } from "./uses.js";

/** An index of statements costs more than asking it, and changes only when one is promoted or forgotten. */
interface KeptIndex {
  readonly of: MemoriesById;
  /** Of the memories when it was last looked whether one was promoted. */
  version: number;
  readonly count: number;
  /** Position of the last promotion, in whichever project. */
  readonly promoted: number;
  readonly index: MemoryIndex;
  /** What was found in gifts of sessions, which are looked at with every turn of the session. */
  readonly found: WeakMap<Gift, ReadonlySet<string>>;
}

const INDEXES_KEPT = 20;

export class TurnUsesReader {
  readonly #stems: Stems;
  readonly #gifts: SessionGifts;
  readonly #indexes = new RecentlyUsed<KeptIndex>(INDEXES_KEPT);

  constructor(parts: { readonly stems: Stems; readonly gifts: SessionGifts }) {
    this.#stems = parts.stems;
    this.#gifts = parts.gifts;
  }

  async usesIn(turn: Turn, memories: MemoriesById): Promise<readonly MemoryUse[]> {
    const kept = this.#indexOf(memories, turn.project);
    if (kept.count === 0) return [];
    const { index } = kept;
    const interactions = turn.entries.filter((entry) => entry.kind === "interaction");
    const heard = {
      said: turn.entries.flatMap(spokenIn),
      memories_used: interactions.flatMap((entry) => entry.memories_used),
      packs: interactions.flatMap((entry) => textsOfPack(entry.context_pack)),
    };
    const { given, used, confirmed } = usesOf(heard, index, await this.#sessionOf(turn, kept));
    const ids = new Set([...given, ...used, ...confirmed]);
    return [...ids].sort().flatMap((memory_id) => {
      const memory = memories.get(memory_id);
      if (memory === undefined || !wasActive(memory, turn.first)) return [];
      const uses = { given: given.has(memory_id), used: used.has(memory_id), confirmed: confirmed.has(memory_id) };
      return [{ memory_id, ...uses }];
    });
  }

  async #sessionOf(turn: Turn, kept: KeptIndex): Promise<SessionSoFar> {
    const { session_id, first, last } = turn;
    const gifts = session_id === "" ? turn.entries.flatMap(giftsIn) : await this.#gifts.through(session_id, last);
    const given = new Set<string>();
    const recalled = new Set<string>();
    for (const gift of gifts) {
      if (!gift.isRecalled && gift.position >= first) continue;
      for (const id of idsIn(gift, kept)) (gift.isRecalled ? recalled : given).add(id);
    }
    return { given, recalled };
  }

  /** All that were ever active in a project, and global ones: which of them were at a time is asked of each. */
  #indexOf(memories: MemoriesById, project: string): KeptIndex {
    const known = this.#indexes.get(project);
    const kept = known !== undefined && isStill(known, memories) ? known : this.#newIndex(memories, project);
    kept.version = memories.version;
    this.#indexes.use(project, kept);
    return kept;
  }

  #newIndex(memories: MemoriesById, project: string): KeptIndex {
    const own = [...memories.values()].filter((memory) => {
      return memory.promoted > 0 && (memory.project === "" || memory.project === project);
    });
    let promoted = 0;
    for (const memory of memories.values()) promoted = Math.max(promoted, memory.promoted);
    const index = new MemoryIndex(own, this.#stems);
    return { of: memories, version: memories.version, count: own.length, promoted, index, found: new WeakMap() };
  }
}

/** Whether nothing was promoted since. */
function isStill({ of, version, promoted }: KeptIndex, memories: MemoriesById): boolean {
  if (of !== memories) return false;
  return memories.changedSince(version)?.every((id) => (memories.get(id)?.promoted ?? 0) <= promoted) ?? false;
}

function idsIn(gift: Gift, { index, found }: KeptIndex): ReadonlySet<string> {
  const known = found.get(gift);
  if (known !== undefined) return known;
  const ids = new Set([...gift.ids, ...(gift.text === "" ? [] : index.containedIn(gift.text))]);
  found.set(gift, ids);
  return ids;
}

/** Whether it was active when this position was recorded. */
function wasActive({ promoted, status, decided }: KeptMemory, position: number): boolean {
  return promoted > 0 && promoted < position && (status === "active" || decided > position);
}
