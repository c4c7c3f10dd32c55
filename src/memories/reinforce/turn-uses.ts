// Which memories a turn was given, used or confirmed, of those that were active when it was recorded.
import type { KeptMemory } from "../../index/memory-fold.js";
import { LruCache } from "../../model/lru-cache.js";
import type { MemoriesById } from "../memory-cache.js";
import type { ConversationTurn } from "../pass-reader.js";
import type { MemoryUse } from "../pass-steps.js";
import { type Spoken, spokenIn, textsOfPack } from "../text/quoted-entry.js";
import type { Stems } from "../text/stems.js";
import { MemoryIndex } from "./matching.js";
import { type GivenItem, type GivenItems, givenItemsIn } from "./session-given.js";

/** Cached, because building an index costs more than asking it. It changes only when a memory is promoted or forgotten. */
interface CachedIndex {
  readonly of: MemoriesById;
  /** Of the memories, when promotions were last checked. */
  version: number;
  readonly count: number;
  /** Position of the last promotion, in whichever project. */
  readonly promoted: number;
  readonly index: MemoryIndex;
  /** What was found in the items that sessions were given; every turn of a session asks again. */
  readonly found: WeakMap<GivenItem, ReadonlySet<string>>;
}

const INDEXES_MAX = 20;

export class TurnUsesReader {
  readonly #stems: Stems;
  readonly #given: GivenItems;
  readonly #indexes = new LruCache<CachedIndex>(INDEXES_MAX);

  constructor(parts: { readonly stems: Stems; readonly given: GivenItems }) {
    this.#stems = parts.stems;
    this.#given = parts.given;
  }

  async usesIn(turn: ConversationTurn, memories: MemoriesById): Promise<readonly MemoryUse[]> {
    const kept = this.#indexOf(memories, turn.project);
    if (kept.count === 0) return [];
    const { index } = kept;
    const interactions = turn.entries.filter((entry) => entry.kind === "interaction");
    const content = {
      said: turn.entries.flatMap(spokenIn),
      memories_used: interactions.flatMap((entry) => entry.memories_used),
      packs: interactions.flatMap((entry) => textsOfPack(entry.context_pack)),
    };
    const { given, used, confirmed } = usesOf(content, index, await this.#sessionOf(turn, kept));
    const ids = new Set([...given, ...used, ...confirmed]);
    return [...ids].sort().flatMap((memory_id) => {
      const memory = memories.get(memory_id);
      if (memory === undefined || !wasActive(memory, turn.first)) return [];
      const uses = { given: given.has(memory_id), used: used.has(memory_id), confirmed: confirmed.has(memory_id) };
      return [{ memory_id, ...uses }];
    });
  }

  async #sessionOf(turn: ConversationTurn, kept: CachedIndex): Promise<SessionSoFar> {
    const { session_id, first, last } = turn;
    const items = session_id === "" ? turn.entries.flatMap(givenItemsIn) : await this.#given.through(session_id, last);
    const given = new Set<string>();
    const recalled = new Set<string>();
    for (const item of items) {
      if (!item.isRecalled && item.position >= first) continue;
      for (const id of idsIn(item, kept)) (item.isRecalled ? recalled : given).add(id);
    }
    return { given, recalled };
  }

  /** Of all memories that were ever active in a project, and global ones. */
  #indexOf(memories: MemoriesById, project: string): CachedIndex {
    const known = this.#indexes.get(project);
    const kept = known !== undefined && isCurrent(known, memories) ? known : this.#newIndex(memories, project);
    kept.version = memories.version;
    this.#indexes.set(project, kept);
    return kept;
  }

  #newIndex(memories: MemoriesById, project: string): CachedIndex {
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
function isCurrent({ of, version, promoted }: CachedIndex, memories: MemoriesById): boolean {
  if (of !== memories) return false;
  return memories.changedSince(version)?.every((id) => (memories.get(id)?.promoted ?? 0) <= promoted) ?? false;
}

function idsIn(item: GivenItem, { index, found }: CachedIndex): ReadonlySet<string> {
  const known = found.get(item);
  if (known !== undefined) return known;
  const ids = new Set([...item.ids, ...(item.text === "" ? [] : index.containedIn(item.text))]);
  found.set(item, ids);
  return ids;
}

/** Whether it was active when this position was recorded. */
function wasActive({ promoted, status, decided }: KeptMemory, position: number): boolean {
  return promoted > 0 && promoted < position && (status === "active" || decided > position);
}

interface TurnContent {
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

/** What the session had before a turn ended. What came later does not count, so a turn means the same whenever it is read. */
interface SessionSoFar {
  /** Ids of the memories that earlier turns were given. */
  readonly given: ReadonlySet<string>;
  /** Ids of those that were recalled or listed. */
  readonly recalled: ReadonlySet<string>;
}

/**
 * Which memories a turn was given, which its answer used, and which were confirmed without having been given. An echo proves
 * nothing, so only the last counts for a memory.
 *
 * @param index Of the memories that were active when the turn was recorded, of its project and global ones.
 * @internal Exported for tests.
 */
export function usesOf(turn: TurnContent, index: MemoryIndex, session: SessionSoFar): Uses {
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
