// Which memories are like each other, and which contradict each other: what one says of another holds of both, also where the
// other was there first and could not know.
import type { KeptMemory } from "../../index/memory-fold.js";
import type { MemoriesById } from "./kept-memories.js";

export type Related = Pick<KeptMemory, "similar_to" | "conflicts_with">;

export class Relations {
  #of: MemoriesById | undefined;
  #version = -1;
  /** By the id of a memory that was there first: those that name it. */
  #naming = new Map<string, { readonly similar_to: string[]; readonly conflicts_with: string[] }>();

  /** What a memory is to others, in the order in which they came. */
  relatedTo({ id, similar_to, conflicts_with }: KeptMemory, memories: MemoriesById): Related {
    if (this.#of !== memories || this.#version !== memories.version) this.#look(memories);
    const naming = this.#naming.get(id);
    if (naming === undefined) return { similar_to, conflicts_with };
    return {
      similar_to: [...new Set([...similar_to, ...naming.similar_to])],
      conflicts_with: [...new Set([...conflicts_with, ...naming.conflicts_with])],
    };
  }

  #look(memories: MemoriesById): void {
    this.#naming = new Map();
    for (const { id, status, similar_to, conflicts_with } of memories.values()) {
      // What was turned down or put out of use is no news to the other.
      if (status !== "candidate" && status !== "active") continue;
      for (const other of similar_to) this.#namingOf(other).similar_to.push(id);
      for (const other of conflicts_with) this.#namingOf(other).conflicts_with.push(id);
    }
    this.#of = memories;
    this.#version = memories.version;
  }

  #namingOf(id: string): { readonly similar_to: string[]; readonly conflicts_with: string[] } {
    const known = this.#naming.get(id) ?? { similar_to: [], conflicts_with: [] };
    this.#naming.set(id, known);
    return known;
  }
}
