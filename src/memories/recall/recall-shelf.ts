// Memories that may be recalled, best first where nothing is asked, and which of them have a stem. Memories change with every
// turn that uses them, and putting all in order again would take longer than all else of a recall.

import type { KeptMemory } from "../../index/memory-fold.js";
import { itemAt } from "../../model/item-at.js";
import type { Stems } from "../text/stems.js";

export class RecallShelf {
  readonly #stems: Stems;
  readonly #tokensOf: (memory: KeptMemory) => number;
  readonly #memories = new Map<string, KeptMemory>();
  readonly #inOrder: KeptMemory[] = [];
  readonly #idsByStem = new Map<string, Set<string>>();
  #tokens_min = Number.POSITIVE_INFINITY;

  /** @param memories Those that it begins with. */
  constructor(
    memories: readonly KeptMemory[],
    parts: { readonly stems: Stems; readonly tokensOf: (memory: KeptMemory) => number },
  ) {
    this.#stems = parts.stems;
    this.#tokensOf = parts.tokensOf;
    this.#inOrder = memories.toSorted(surestFirst);
    for (const memory of memories) this.#note(memory);
  }

  /** No memory here is shorter: with less room than this nothing more is looked for. */
  get tokens_min(): number {
    return this.#tokens_min;
  }

  /** Takes a memory in, or in the place of what it was; without one, lets go of what had this id. */
  put(id: string, memory: KeptMemory | undefined): void {
    const before = this.#memories.get(id);
    if (before !== undefined) {
      this.#inOrder.splice(placeOf(before, this.#inOrder), 1);
      if (before.content !== memory?.content) this.#forget(before);
    }
    if (memory === undefined) return;
    this.#inOrder.splice(placeOf(memory, this.#inOrder), 0, memory);
    this.#note(memory);
  }

  /** What matches what is asked comes first, those with stems that few others have before others; then the rest. */
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

  #note(memory: KeptMemory): void {
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

  #forget({ id, content }: KeptMemory): void {
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

/** Where a memory stands in the order, or would. */
function placeOf(memory: KeptMemory, inOrder: readonly KeptMemory[]): number {
  let [from, to] = [0, inOrder.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (surestFirst(itemAt(inOrder, middle), memory) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}
