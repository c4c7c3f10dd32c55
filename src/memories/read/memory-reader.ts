// Memories as they are read: the list, the queue, one of them with its history.
import type { KeptMemory } from "../../index/memory-fold.js";
import type { Entry } from "../../model/entry.js";
import { formatCursor } from "../../search/cursor.js";
import { EntryReader } from "../../search/lists/entry-reader.js";
import type { ReadingParts } from "../../search/lists/reader.js";
import { Acceptances } from "../review/acceptance.js";
import type { MemoriesById } from "./kept-memories.js";
import type { Acceptance, MemoryDetail, MemoryEvent, MemoryList, MemorySummary } from "./memory-answers.js";
import type { MemoriesReached, MemoryListQuery } from "./memory-query.js";
import { MemoryShelf } from "./memory-shelf.js";
import { MemoryUses } from "./memory-uses.js";
import { rankOf, toSummary } from "./memory-view.js";
import { Relations } from "./relations.js";

/** Of a memory that is given in every turn, or said again and again, the newest uses and words are shown; its life whole. */
const HISTORY_MAX = 500;
const historyKinds = [
  ["memory_proposed", "memory_promoted", "memory_rejected", "memory_superseded"],
  ["memory_edited"],
  ["memory_reinforced"],
];

export class MemoryReader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;
  readonly #shelf: MemoryShelf;
  readonly #uses: MemoryUses;
  readonly #relations = new Relations();
  readonly #acceptances = new Acceptances();

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
    this.#shelf = new MemoryShelf(parts);
    this.#uses = new MemoryUses(parts, this.#entries);
  }

  /** All of them, as they are. */
  all(): Promise<MemoriesById> {
    return this.#shelf.look();
  }

  /** Another number means that something may have been forgotten: whoever keeps what was recorded lets go of it. */
  get readings(): number {
    return this.#shelf.readings;
  }

  /** How what each source proposes is taken. */
  acceptance(memories: MemoriesById): readonly Acceptance[] {
    return this.#acceptances.of(memories);
  }

  async pending(): Promise<number> {
    return countPending(await this.all());
  }

  /** Candidates best first, all else the newest first. What arrives after the first page moves nothing across a page. */
  async list(query: MemoryListQuery): Promise<MemoryList> {
    const memories = await this.all();
    const pending = countPending(memories);
    const acceptance = this.#acceptances.of(memories);
    if (query.limit === 0) return { memories: [], next_cursor: null, pending, acceptance };
    const { after } = query;
    const as_of = after?.as_of ?? (await this.#parts.index.checkpoint());
    const placed = [...memories.values()]
      .filter(
        (memory) => memory.proposed <= as_of && isWanted(memory, query) && this.#isAsSimilar(memory, memories, query),
      )
      .map((memory) => ({ memory, place: placeOf(memory, query, as_of) }))
      .filter(({ place }) => after === undefined || bestFirst(after, place) < 0)
      .sort((left, right) => bestFirst(left.place, right.place));
    const page = placed.slice(0, query.limit);
    const last = page.at(-1)?.place;
    const isMore = last !== undefined && placed.length > page.length;
    return {
      memories: page.map(({ memory }) => this.#parts.mask.entry(this.#summary(memory, memories))),
      next_cursor: isMore ? formatCursor(query.fingerprint, [last.rank, last.position, as_of]) : null,
      pending,
      acceptance,
    };
  }

  /** Those of these ids that there are, as they are. */
  async byId(ids: readonly string[]): Promise<readonly MemorySummary[]> {
    const memories = await this.all();
    return ids.flatMap((id) => {
      const memory = memories.get(id);
      return memory === undefined ? [] : [this.#summary(memory, memories)];
    });
  }

  /** One of them whole, with what was done with it. */
  async get(id: string): Promise<MemoryDetail | undefined> {
    const memories = await this.all();
    const memory = memories.get(id);
    if (memory === undefined) return undefined;
    const history = await this.#history(id);
    const counted = history.flatMap(({ turn_id, given = false, used = false, confirmed = false }) =>
      turn_id === undefined ? [] : [[turn_id, { given, used, confirmed }] as const],
    );
    const words = await this.#uses.words(memory.evidence);
    return { ...this.#summary(memory, memories), words, history, uses: await this.#uses.uses(id, new Map(counted)) };
  }

  #summary(memory: KeptMemory, memories: MemoriesById): MemorySummary {
    return toSummary(memory, this.#relations.relatedTo(memory, memories));
  }

  #isAsSimilar(memory: KeptMemory, memories: MemoriesById, { similar }: MemoryListQuery): boolean {
    if (!similar) return true;
    const { similar_to, conflicts_with } = this.#relations.relatedTo(memory, memories);
    return similar_to.length + conflicts_with.length > 0;
  }

  async #history(id: string): Promise<readonly MemoryEvent[]> {
    const references = [{ what: "memory_history", reference: id }] as const;
    const keys = await Promise.all(
      historyKinds.map((kinds) => this.#parts.index.list({ filter: { kinds, references }, limit: HISTORY_MAX })),
    );
    const positions = keys.flat().map(({ position }) => position);
    const entries = await this.#entries.read(positions.sort((left, right) => left - right));
    return entries.flatMap((entry) => toEvent(entry, id));
  }
}

function countPending(memories: MemoriesById): number {
  let pending = 0;
  for (const { status } of memories.values()) if (status === "candidate") pending += 1;
  return pending;
}

function isWanted(memory: KeptMemory, { project, status, type, source, unused }: MemoryListQuery): boolean {
  if (project !== undefined && memory.project !== project) return false;
  if (status !== undefined && memory.status !== status) return false;
  if (type !== undefined && memory.type !== type) return false;
  if (source !== undefined && memory.source !== source) return false;
  return !unused || (memory.status === "active" && memory.used + memory.confirmed === 0);
}

type Place = Pick<MemoriesReached, "rank" | "position">;

function placeOf(memory: KeptMemory, { status }: MemoryListQuery, as_of: number): Place {
  const { proposed: position } = memory;
  return { rank: status === "candidate" ? rankOf(memory, as_of) : 0, position };
}

function bestFirst(left: Place, right: Place): number {
  return right.rank - left.rank || right.position - left.position;
}

function toEvent(entry: Entry, id: string): readonly MemoryEvent[] {
  const { position, kind, recorded_at: at } = entry;
  switch (entry.kind) {
    case "memory_proposed":
      return [{ position, kind, at, actor: entry.actor, content: entry.content }];
    case "memory_edited":
      return [{ position, kind, at, actor: entry.actor, ...(entry.content === "" ? {} : { content: entry.content }) }];
    case "memory_promoted":
    case "memory_rejected":
      return [{ position, kind, at, actor: entry.actor, ...reasonOf(entry) }];
    case "memory_superseded": {
      const { actor, superseded_by } = entry;
      return [{ position, kind, at, actor, ...reasonOf(entry), ...(superseded_by === "" ? {} : { superseded_by }) }];
    }
    case "memory_reinforced": {
      const { given, used, confirmed } = entry.memories.find(({ memory_id }) => memory_id === id) ?? {};
      const uses = { ...isTrue({ given }), ...isTrue({ used }), ...isTrue({ confirmed }) };
      return [{ position, kind, at, actor: entry.actor, turn_id: entry.turn_id, ...uses }];
    }
    default:
      return [];
  }
}

function reasonOf({ reason }: { readonly reason: string }): { readonly reason?: string } {
  return reason === "" ? {} : { reason };
}

function isTrue(flags: { readonly [name: string]: unknown }): object {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value === true));
}
