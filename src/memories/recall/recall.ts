// Recall: which memories a model is given, within a budget of tokens. Whole statements only.
import type { KeptMemory } from "../../index/memory-fold.js";
import { itemAt } from "../../model/item-at.js";
import { LruCache } from "../../model/lru-cache.js";
import type { Mask } from "../../model/mask.js";
import type { MemoryType } from "../../model/memory.js";
import { parseTime } from "../../model/time.js";
import { countTokensIn, type TokenCounter } from "../../sessions/history/tokens.js";
import type { MemoriesById } from "../memory-cache.js";
import type { Recalled } from "../review/memory-answers.js";
import type { RecallQuery } from "../review/memory-query.js";
import type { Stems } from "../text/stems.js";

/** In this order, each with its share of the budget. Episodic memories are not recalled. */
const groups: readonly { readonly types: readonly MemoryType[]; readonly share: number }[] = [
  { types: ["identity", "preference"], share: 0.1 },
  { types: ["project"], share: 0.25 },
  { types: ["knowledge", "adaptation"], share: 1 },
];

/** What may be recalled for a project, an index for each group, at a version of the memories. */
interface ProjectIndexes {
  version: number;
  readonly groups: readonly RecallIndex[];
}

const PROJECTS_KEPT = 20;

/** A memory as the model gets it, masked. */
interface RenderedMemory {
  readonly content: string;
  readonly line: string;
  readonly tokens: number;
}

interface RecallParts {
  readonly count: TokenCounter;
  readonly stems: Stems;
  readonly mask: Pick<Mask, "text">;
}

export class Recall {
  readonly #rendered = new WeakMap<KeptMemory, RenderedMemory>();
  readonly #stems: Stems;
  readonly #count: TokenCounter;
  readonly #mask: RecallParts["mask"];
  readonly #indexesByProject = new LruCache<ProjectIndexes>(PROJECTS_KEPT);
  #indexesOf: MemoriesById | undefined;

  constructor({ count, stems, mask }: RecallParts) {
    this.#count = count;
    this.#stems = stems;
    this.#mask = mask;
  }

  recall(memories: MemoriesById, query: RecallQuery): Recalled {
    const { budget_tokens, now_ms } = query;
    const asked = this.#stems.of(query.q);
    const taken: KeptMemory[] = [];
    let left = budget_tokens;
    for (const [at, index] of this.#indexesFor(memories, query.project).entries()) {
      let room = Math.min(left, Math.floor(budget_tokens * (groups[at]?.share ?? 0)));
      for (const memory of index.bestFirst(asked)) {
        if (room < index.tokens_min) break;
        if (hasExpired(memory, now_ms)) continue;
        const { tokens } = this.#render(memory);
        if (tokens > room) continue;
        taken.push(memory);
        room -= tokens;
        left -= tokens;
      }
    }
    return {
      context_pack: {
        budget_tokens,
        tokens: budget_tokens - left,
        memories: taken.map((memory) => {
          const { id, type } = memory;
          return { id, type, content: this.#render(memory).content };
        }),
        text: taken.map((memory) => this.#render(memory).line).join(""),
      },
      memories_used: taken.map(({ id }) => id),
    };
  }

  #indexesFor(memories: MemoriesById, project: string): readonly RecallIndex[] {
    if (this.#indexesOf !== memories) this.#indexesByProject.clear();
    this.#indexesOf = memories;
    const known = this.#indexesByProject.get(project);
    const changed = known === undefined ? undefined : memories.changedSince(known.version);
    const indexes = known === undefined || changed === undefined ? this.#buildIndexes(memories, project) : known;
    for (const id of new Set(changed)) {
      const memory = memories.get(id);
      const isWanted = memory !== undefined && isRecallable(memory, project);
      for (const [at, { types }] of groups.entries()) {
        const isHere = isWanted && types.includes(memory.type);
        indexes.groups[at]?.put(id, isHere ? memory : undefined);
      }
    }
    indexes.version = memories.version;
    this.#indexesByProject.set(project, indexes);
    return indexes.groups;
  }

  #buildIndexes(memories: MemoriesById, project: string): ProjectIndexes {
    const own = [...memories.values()].filter((memory) => isRecallable(memory, project));
    const parts = { stems: this.#stems, tokensOf: (memory: KeptMemory) => this.#render(memory).tokens };
    const indexes = groups.map(({ types }) => {
      return new RecallIndex(
        own.filter(({ type }) => types.includes(type)),
        parts,
      );
    });
    return { version: memories.version, groups: indexes };
  }

  #render(memory: KeptMemory): RenderedMemory {
    const known = this.#rendered.get(memory);
    if (known !== undefined) return known;
    const content = this.#mask.text(memory.content);
    const line = lineOf(content);
    const rendered = { content, line, tokens: countTokensIn(line, this.#count) };
    this.#rendered.set(memory, rendered);
    return rendered;
  }
}

/** One line each: no token spans two lines, so the counts add up. */
function lineOf(content: string): string {
  return `- ${content.replaceAll(/\s+/g, " ")}\n`;
}

function isRecallable(memory: KeptMemory, project: string): boolean {
  return memory.status === "active" && memory.supported && (memory.project === "" || memory.project === project);
}

function hasExpired({ valid_until }: KeptMemory, now_ms: number): boolean {
  const until = valid_until === undefined ? undefined : parseTime(valid_until);
  return until !== undefined && until <= now_ms;
}

/** Recallable memories in their order, and by stem. It is updated in place, because memories change with every turn. */
class RecallIndex {
  readonly #stems: Stems;
  readonly #tokensOf: (memory: KeptMemory) => number;
  readonly #memories = new Map<string, KeptMemory>();
  readonly #inOrder: KeptMemory[] = [];
  readonly #idsByStem = new Map<string, Set<string>>();
  #tokens_min = Number.POSITIVE_INFINITY;

  constructor(
    memories: readonly KeptMemory[],
    parts: { readonly stems: Stems; readonly tokensOf: (memory: KeptMemory) => number },
  ) {
    this.#stems = parts.stems;
    this.#tokensOf = parts.tokensOf;
    this.#inOrder = memories.toSorted(surestFirst);
    for (const memory of memories) this.#add(memory);
  }

  /** The size of the shortest memory: with less room the search ends. */
  get tokens_min(): number {
    return this.#tokens_min;
  }

  /** Adds or replaces a memory; without one, removes what had this id. */
  put(id: string, memory: KeptMemory | undefined): void {
    const before = this.#memories.get(id);
    if (before !== undefined) {
      this.#inOrder.splice(placeOf(before, this.#inOrder), 1);
      if (before.content !== memory?.content) this.#remove(before);
    }
    if (memory === undefined) return;
    this.#inOrder.splice(placeOf(memory, this.#inOrder), 0, memory);
    this.#add(memory);
  }

  /** Memories that match the query, those with rare stems first; then the rest. */
  *bestFirst(asked: ReadonlySet<string>): Generator<KeptMemory> {
    const matches = new Map<string, number>();
    for (const stem of asked) {
      const having = this.#idsByStem.get(stem);
      if (having === undefined) continue;
      const worth = Math.log(1 + this.#inOrder.length / having.size);
      for (const id of having) matches.set(id, (matches.get(id) ?? 0) + worth);
    }
    const matching = [...matches].map(([id, match]) => ({ match, memory: this.#memories.get(id) as KeptMemory }));
    matching.sort((left, right) => right.match - left.match || surestFirst(left.memory, right.memory));
    for (const { memory } of matching) yield memory;
    for (const memory of this.#inOrder) if (!matches.has(memory.id)) yield memory;
  }

  #add(memory: KeptMemory): void {
    const { id, content } = memory;
    this.#tokens_min = Math.min(this.#tokens_min, this.#tokensOf(memory));
    const isKnown = this.#memories.has(id);
    this.#memories.set(id, memory);
    if (isKnown) return;
    for (const stem of this.#stems.of(content)) {
      const having = this.#idsByStem.get(stem);
      if (having === undefined) this.#idsByStem.set(stem, new Set([id]));
      else having.add(id);
    }
  }

  #remove({ id, content }: KeptMemory): void {
    this.#memories.delete(id);
    for (const stem of this.#stems.of(content)) {
      const having = this.#idsByStem.get(stem);
      having?.delete(id);
      if (having?.size === 0) this.#idsByStem.delete(stem);
    }
  }
}

/** By confidence, then the newest; no two have the same place. */
function surestFirst(left: KeptMemory, right: KeptMemory): number {
  return right.confidence - left.confidence || right.decided_ms - left.decided_ms || right.proposed - left.proposed;
}

/** The index of a memory in the order, or where it would be. */
function placeOf(memory: KeptMemory, inOrder: readonly KeptMemory[]): number {
  let [from, to] = [0, inOrder.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (surestFirst(itemAt(inOrder, middle), memory) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
