// How what a source proposes is taken by whoever decides. A source of which most is turned down is paused.
import type { KeptMemory } from "../../index/memory-fold.js";
import type { MemorySource } from "../../model/memory.js";
import type { MemoriesById } from "../read/kept-memories.js";
import type { Acceptance } from "../read/memory-answers.js";

const VERDICTS = 30;
const ACCEPTED_MIN = 0.4;

/** Reckoned once for each change of the memories, since every proposal asks. */
export class Acceptances {
  #of: MemoriesById | undefined;
  #version = -1;
  #known: readonly Acceptance[] = [];

  of(memories: MemoriesById): readonly Acceptance[] {
    if (this.#of !== memories || this.#version !== memories.version) this.#known = acceptanceOf(memories.values());
    this.#of = memories;
    this.#version = memories.version;
    return this.#known;
  }
}

/** By source and generation, in the order of their names. A person's own additions are nobody's proposals. */
function acceptanceOf(memories: Iterable<KeptMemory>): readonly Acceptance[] {
  const verdicts = new Map<string, { readonly memory: KeptMemory; readonly at: number; readonly isYes: boolean }[]>();
  for (const memory of memories) {
    const isYes = memory.promoted > 0;
    if (memory.source === "person" || (!isYes && memory.status !== "rejected")) continue;
    const key = JSON.stringify([memory.source, memory.generation]);
    const known = verdicts.get(key) ?? [];
    known.push({ memory, at: isYes ? memory.promoted : memory.decided, isYes });
    verdicts.set(key, known);
  }
  return [...verdicts]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, all]) => {
      const [source, generation] = JSON.parse(key) as [MemorySource, string];
      const last = all.toSorted((left, right) => right.at - left.at).slice(0, VERDICTS);
      const accepted = last.filter(({ isYes }) => isYes).length;
      const is_paused = last.length === VERDICTS && accepted < ACCEPTED_MIN * VERDICTS;
      return { source, generation, accepted, rejected: last.length - accepted, is_paused };
    });
}
