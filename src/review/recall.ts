// Recall: which memories a model is given, within a budget of tokens. Whole statements only.
import type { KeptMemory } from "../indexing/memory-fold.js";
import type { MemoryType } from "../model/memory.js";
import { parseTime } from "../model/time.js";
import { countTokensIn, type TokenCounter } from "../read/history/tokens.js";
import type { RecallQuery } from "../read/memories/memory-query.js";
import type { MemoriesById } from "../read/memories/memory-shelf.js";
import type { Recalled } from "../read/memories/recalled.js";
import type { Stems } from "./stems.js";

/** In this order, each with the share of the budget that it may take. What only happened once is not recalled. */
const groups: readonly { readonly types: readonly MemoryType[]; readonly share: number }[] = [
  { types: ["identity", "preference"], share: 0.1 },
  { types: ["project"], share: 0.25 },
  { types: ["knowledge", "adaptation"], share: 1 },
];

/** The memories of a group that may be recalled, best first where nothing is asked, and which of them have a stem. */
interface Shelf {
  readonly memories: readonly KeptMemory[];
  /** Of the shortest of them: with less room than this nothing more is looked for. */
  readonly tokens_min: number;
  readonly havingStem: ReadonlyMap<string, readonly KeptMemory[]>;
}

export class Recall {
  readonly #tokens = new WeakMap<KeptMemory, number>();
  readonly #stems: Stems;
  readonly #count: TokenCounter;
  /** Of the memories as they are now, by project: putting them in order takes longer than all else. */
  #shelves = new Map<string, readonly Shelf[]>();
  #shelvesOf: MemoriesById | undefined;

  constructor(count: TokenCounter, stems: Stems) {
    this.#count = count;
    this.#stems = stems;
  }

  recall(memories: MemoriesById, query: RecallQuery): Recalled {
    const { budget_tokens, now_ms } = query;
    const asked = this.#stems.of(query.q);
    const taken: KeptMemory[] = [];
    let left = budget_tokens;
    for (const [at, shelf] of this.#shelvesFor(memories, query.project).entries()) {
      let room = Math.min(left, Math.floor(budget_tokens * (groups[at]?.share ?? 0)));
      for (const memory of bestFirst(shelf, asked)) {
        if (room < shelf.tokens_min) break;
        if (hasExpired(memory, now_ms)) continue;
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

  #shelvesFor(memories: MemoriesById, project: string): readonly Shelf[] {
    if (this.#shelvesOf !== memories) this.#shelves = new Map();
    this.#shelvesOf = memories;
    const known = this.#shelves.get(project);
    if (known !== undefined) return known;
    const own = [...memories.values()].filter((memory) => isRecallable(memory, project)).sort(newestAndSurestFirst);
    const shelves = groups.map(({ types }) => this.#shelf(own.filter(({ type }) => types.includes(type))));
    this.#shelves.set(project, shelves);
    return shelves;
  }

  #shelf(memories: readonly KeptMemory[]): Shelf {
    const havingStem = new Map<string, KeptMemory[]>();
    let tokens_min = Number.POSITIVE_INFINITY;
    for (const memory of memories) {
      tokens_min = Math.min(tokens_min, this.#tokensOf(memory));
      for (const stem of this.#stems.of(memory.content)) {
        const having = havingStem.get(stem);
        if (having === undefined) havingStem.set(stem, [memory]);
        else having.push(memory);
      }
    }
    return { memories, tokens_min, havingStem };
  }

  #tokensOf(memory: KeptMemory): number {
    const known = this.#tokens.get(memory);
    if (known !== undefined) return known;
    const tokens = countTokensIn(lineOf(memory), this.#count);
    this.#tokens.set(memory, tokens);
    return tokens;
  }
}

/** A line each: tokens never reach across one, so that the tokens of all are those of each together. */
function lineOf({ content }: KeptMemory): string {
  return `- ${content.replaceAll(/\s+/g, " ")}\n`;
}

function isRecallable(memory: KeptMemory, project: string): boolean {
  return memory.status === "active" && memory.supported && (memory.project === "" || memory.project === project);
}

function hasExpired({ valid_until }: KeptMemory, now_ms: number): boolean {
  const until = valid_until === undefined ? undefined : parseTime(valid_until);
  return until !== undefined && until <= now_ms;
}

/** What matches what is asked comes first, those with stems that few others have before others; then the rest. */
function* bestFirst({ memories, havingStem }: Shelf, asked: ReadonlySet<string>): Generator<KeptMemory> {
  const matches = new Map<KeptMemory, number>();
  for (const stem of asked) {
    const having = havingStem.get(stem) ?? [];
    const worth = Math.log(1 + memories.length / Math.max(1, having.length));
    for (const memory of having) matches.set(memory, (matches.get(memory) ?? 0) + worth);
  }
  const matching = [...matches].sort(([left, more], [right, less]) => less - more || newestAndSurestFirst(left, right));
  for (const [memory] of matching) yield memory;
  for (const memory of memories) if (!matches.has(memory)) yield memory;
}

function newestAndSurestFirst(left: KeptMemory, right: KeptMemory): number {
  return right.confidence - left.confidence || right.decided_ms - left.decided_ms || right.proposed - left.proposed;
}
