// Recall: which memories a model is given, within a budget of tokens. Whole statements only.
import type { KeptMemory } from "../indexing/memory-fold.js";
import type { MemoryType } from "../model/memory.js";
import { parseTime } from "../model/time.js";
import { countTokensIn, type TokenCounter } from "../read/history/tokens.js";
import type { RecallQuery } from "../read/memories/memory-query.js";
import type { Recalled } from "../read/memories/recalled.js";
import type { Stems } from "./stems.js";

/** In this order, each with the share of the budget that it may take. What only happened once is not recalled. */
const groups: readonly { readonly types: readonly MemoryType[]; readonly share: number }[] = [
  { types: ["identity", "preference"], share: 0.1 },
  { types: ["project"], share: 0.25 },
  { types: ["knowledge", "adaptation"], share: 1 },
];

/** What is worked out of a statement once. */
interface Worked {
  readonly stems: ReadonlySet<string>;
  tokens?: number;
}

export class Recall {
  readonly #worked = new WeakMap<KeptMemory, Worked>();
  readonly #count: TokenCounter;
  readonly #stems: Stems;

  constructor(count: TokenCounter, stems: Stems) {
    this.#count = count;
    this.#stems = stems;
  }

  recall(memories: Iterable<KeptMemory>, query: RecallQuery): Recalled {
    const { budget_tokens } = query;
    const fitting = [...memories].filter((memory) => isRecallable(memory, query));
    const matches = this.#matches(fitting, query.q);
    const taken: KeptMemory[] = [];
    let left = budget_tokens;
    for (const { types, share } of groups) {
      let room = Math.min(left, Math.floor(budget_tokens * share));
      const own = fitting.filter(({ type }) => types.includes(type));
      for (const memory of bestFirst(own, matches, room)) {
        if (room === 0) break;
        const tokens = this.#tokensOf(memory);
        if (tokens > room) continue;
        taken.push(memory);
        room -= tokens;
        left -= tokens;
      }
    }
    return {
      context_pack: {
        ...{ budget_tokens, tokens: budget_tokens - left },
        memories: taken.map(({ id, type, content }) => ({ id, type, content })),
        text: taken.map(lineOf).join(""),
      },
      memories_used: taken.map(({ id }) => id),
    };
  }

  /** How well each matches what is asked: stems that few statements have say more. */
  #matches(memories: readonly KeptMemory[], q: string): ReadonlyMap<KeptMemory, number> {
    const asked = this.#stems.of(q);
    const matches = new Map<KeptMemory, number>();
    if (asked.size === 0) return matches;
    const havingStem = new Map<string, KeptMemory[]>();
    for (const memory of memories) {
      for (const stem of asked) {
        if (!this.#work(memory).stems.has(stem)) continue;
        const having = havingStem.get(stem);
        if (having === undefined) havingStem.set(stem, [memory]);
        else having.push(memory);
      }
    }
    for (const having of havingStem.values()) {
      const worth = Math.log(1 + memories.length / having.length);
      for (const memory of having) matches.set(memory, (matches.get(memory) ?? 0) + worth);
    }
    return matches;
  }

  #tokensOf(memory: KeptMemory): number {
    const worked = this.#work(memory);
    worked.tokens ??= countTokensIn(lineOf(memory), this.#count);
    return worked.tokens;
  }

  #work(memory: KeptMemory): Worked {
    const known = this.#worked.get(memory);
    if (known !== undefined) return known;
    const worked = { stems: this.#stems.of(memory.content) };
    this.#worked.set(memory, worked);
    return worked;
  }
}

/** A line each: tokens never reach across one, so that the tokens of all are those of each together. */
function lineOf({ content }: KeptMemory): string {
  return `- ${content.replaceAll(/\s+/g, " ")}\n`;
}

function isRecallable(memory: KeptMemory, { project, now_ms }: RecallQuery): boolean {
  if (memory.status !== "active" || !memory.supported) return false;
  if (memory.project !== "" && memory.project !== project) return false;
  const until = memory.valid_until === undefined ? undefined : parseTime(memory.valid_until);
  return until === undefined || until > now_ms;
}

/** By match, then by confidence, then the newest; as many as could fit, since a line takes two tokens at least. */
function bestFirst(
  memories: readonly KeptMemory[],
  matches: ReadonlyMap<KeptMemory, number>,
  room: number,
): readonly KeptMemory[] {
  if (room === 0) return [];
  return memories.toSorted(
    (left, right) =>
      (matches.get(right) ?? 0) - (matches.get(left) ?? 0) ||
      right.confidence - left.confidence ||
      right.decided_ms - left.decided_ms ||
      right.proposed - left.proposed,
  );
}
