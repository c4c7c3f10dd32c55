// Recall: which memories a model is given, within a budget of tokens. Whole statements only.
import type { KeptMemory } from "../../index/memory-fold.js";
import type { Mask } from "../../model/mask.js";
import type { MemoryType } from "../../model/memory.js";
import { parseTime } from "../../model/time.js";
import { countTokensIn, type TokenCounter } from "../../sessions/history/tokens.js";
import type { MemoriesById } from "../read/kept-memories.js";
import type { Recalled } from "../read/memory-answers.js";
import type { RecallQuery } from "../read/memory-query.js";
import type { Stems } from "../text/stems.js";
import { RecallShelf } from "./recall-shelf.js";
import { RecentlyUsed } from "./recently-used.js";

/** In this order, each with the share of the budget that it may take. What only happened once is not recalled. */
const groups: readonly { readonly types: readonly MemoryType[]; readonly share: number }[] = [
  { types: ["identity", "preference"], share: 0.1 },
  { types: ["project"], share: 0.25 },
  { types: ["knowledge", "adaptation"], share: 1 },
];

/** What may be recalled for a project, a shelf for each group, as it was at a version of the memories. */
interface Shelves {
  version: number;
  readonly groups: readonly RecallShelf[];
}

const PROJECTS_KEPT = 20;

/** A memory as it is handed on: secrets masked, since a model is told it. */
interface Told {
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
  readonly #told = new WeakMap<KeptMemory, Told>();
  readonly #stems: Stems;
  readonly #count: TokenCounter;
  readonly #mask: RecallParts["mask"];
  readonly #shelvesByProject = new RecentlyUsed<Shelves>(PROJECTS_KEPT);
  #shelvesOf: MemoriesById | undefined;

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
    for (const [at, shelf] of this.#shelvesFor(memories, query.project).entries()) {
      let room = Math.min(left, Math.floor(budget_tokens * (groups[at]?.share ?? 0)));
      for (const memory of shelf.bestFirst(asked)) {
        if (room < shelf.tokens_min) break;
        if (hasExpired(memory, now_ms)) continue;
        const { tokens } = this.#toldOf(memory);
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
          return { id, type, content: this.#toldOf(memory).content };
        }),
        text: taken.map((memory) => this.#toldOf(memory).line).join(""),
      },
      memories_used: taken.map(({ id }) => id),
    };
  }

  #shelvesFor(memories: MemoriesById, project: string): readonly RecallShelf[] {
    if (this.#shelvesOf !== memories) this.#shelvesByProject.clear();
    this.#shelvesOf = memories;
    const known = this.#shelvesByProject.get(project);
    const changed = known === undefined ? undefined : memories.changedSince(known.version);
    const shelves = known === undefined || changed === undefined ? this.#allShelves(memories, project) : known;
    for (const id of new Set(changed)) {
      const memory = memories.get(id);
      const isWanted = memory !== undefined && isRecallable(memory, project);
      for (const [at, { types }] of groups.entries()) {
        const isHere = isWanted && types.includes(memory.type);
        shelves.groups[at]?.put(id, isHere ? memory : undefined);
      }
    }
    shelves.version = memories.version;
    this.#shelvesByProject.use(project, shelves);
    return shelves.groups;
  }

  #allShelves(memories: MemoriesById, project: string): Shelves {
    const own = [...memories.values()].filter((memory) => isRecallable(memory, project));
    const parts = { stems: this.#stems, tokensOf: (memory: KeptMemory) => this.#toldOf(memory).tokens };
    const shelves = groups.map(({ types }) => {
      return new RecallShelf(
        own.filter(({ type }) => types.includes(type)),
        parts,
      );
    });
    return { version: memories.version, groups: shelves };
  }

  #toldOf(memory: KeptMemory): Told {
    const known = this.#told.get(memory);
    if (known !== undefined) return known;
    const content = this.#mask.text(memory.content);
    const line = lineOf(content);
    const told = { content, line, tokens: countTokensIn(line, this.#count) };
    this.#told.set(memory, told);
    return told;
  }
}

/** A line each: tokens never reach across one, so that the tokens of all are those of each together. */
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
