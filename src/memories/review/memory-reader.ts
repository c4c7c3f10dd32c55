// Reading memories: the list, the review queue, single ones with their history, and the acceptance rate of each source.

import { textsOf } from "../../index/derivation.js";
import { feedbackOn } from "../../index/feedback-fold.js";
import type { AttributedEvidence, KeptMemory } from "../../index/memory-fold.js";
import { HAS_HELD_BACK } from "../../index/references.js";
import type { Entry } from "../../model/entry.js";
import { jsonBytesAtMost } from "../../model/json-size.js";
import { limits } from "../../model/limits.js";
import type { Evidence, MemorySource } from "../../model/memory.js";
import { firstCodePoints } from "../../model/normalise.js";
import { isFromUser, textsOfUser } from "../../model/roles.js";
import { CONFIDENCE_LOW } from "../../model/states.js";
import { formatTime } from "../../model/time.js";
import { formatCursor } from "../../search/cursor.js";
import { EntryReader } from "../../search/lists/entry-reader.js";
import type { ReadingParts } from "../../search/lists/reader.js";
import { type MemoriesById, MemoryCache } from "../memory-cache.js";
import type {
  Acceptance,
  MemoryDetail,
  MemoryEvent,
  MemoryList,
  MemorySummary,
  MemoryUseInTurn,
  WordsInContext,
} from "./memory-answers.js";
import type { MemoriesReached, MemoryListQuery } from "./memory-query.js";

/** The newest uses and evidence; proposals and verdicts are few and shown whole. */
const HISTORY_MAX = 500;
const historyKinds = [
  ["memory_proposed", "memory_promoted", "memory_rejected", "memory_superseded"],
  ["memory_edited"],
  ["memory_reinforced"],
];

/** How long proposals that were held back are shown, and how many are counted. */
const HELD_BACK_MS = 7 * 24 * 60 * 60 * 1000;
const HELD_BACK_MAX = 10_000;

export class MemoryReader {
  readonly #parts: ReadingParts;
  readonly #entries: EntryReader;
  readonly #cache: MemoryCache;
  readonly #uses: MemoryHistory;
  readonly #relations = new Relations();
  readonly #acceptances = new Acceptances();

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.#entries = new EntryReader(parts);
    this.#cache = new MemoryCache(parts);
    this.#uses = new MemoryHistory(parts, this.#entries);
  }

  /** All of them, as they are. */
  all(): Promise<MemoriesById> {
    return this.#cache.current();
  }

  /** When it changes, something may have been forgotten: caches of recorded content must be dropped. */
  get reloads(): number {
    return this.#cache.reloads;
  }

  /** How many proposals of each source were accepted. */
  acceptance(memories: MemoriesById): readonly Acceptance[] {
    return this.#acceptances.of(memories);
  }

  async pending(): Promise<number> {
    return countPending(await this.all());
  }

  /** Candidates best first, others newest first. New memories do not shift later pages. */
  async list(query: MemoryListQuery): Promise<MemoryList> {
    const memories = await this.all();
    const pending = countPending(memories);
    const acceptance = this.#acceptances.of(memories);
    const held_back = await this.#heldBack(query.now_ms);
    if (query.limit === 0) return { memories: [], next_cursor: null, pending, held_back, acceptance };
    const { after } = query;
    const as_of = after?.as_of ?? (await this.#parts.index.checkpoint());
    const placed = [...memories.values()]
      .filter(
        (memory) => memory.proposed <= as_of && isWanted(memory, query) && this.#isAsSimilar(memory, memories, query),
      )
      .map((memory) => ({ memory, place: placeOf(memory, query, as_of) }))
      .filter(({ place }) => after === undefined || bestFirst(after, place) < 0)
      .sort((left, right) => bestFirst(left.place, right.place));
    const page = this.#pageOf(placed.slice(0, query.limit), memories);
    const last = page.at(-1)?.place;
    const isMore = last !== undefined && placed.length > page.length;
    return {
      memories: page.map(({ summary }) => this.#parts.mask.entry(summary)),
      next_cursor: isMore ? formatCursor(query.fingerprint, [last.rank, last.position, as_of]) : null,
      pending,
      held_back,
      acceptance,
    };
  }

  /** How many proposals were held back lately, as far as they are counted. */
  async #heldBack(now_ms: number): Promise<number> {
    const filter = { kinds: ["audit"], references: [HAS_HELD_BACK], since_ms: now_ms - HELD_BACK_MS };
    return (await this.#parts.index.list({ filter, limit: HELD_BACK_MAX })).length;
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

  /** The first that fit on a page, at least one: the quotes of a memory may have a megabyte. */
  #pageOf<P>(placed: readonly { readonly memory: KeptMemory; readonly place: P }[], memories: MemoriesById) {
    const page: { readonly summary: MemorySummary; readonly place: P }[] = [];
    let bytes = 0;
    for (const { memory, place } of placed) {
      const summary = this.#summary(memory, memories);
      bytes += jsonBytesAtMost(summary);
      if (bytes > limits.page_bytes && page.length > 0) break;
      page.push({ summary, place });
    }
    return page;
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

function toSummary(kept: KeptMemory, related: Related): MemorySummary {
  const {
    evidence,
    proposed: _,
    promoted: ____,
    proposed_ms,
    decided: __,
    decided_ms,
    reason,
    superseded_by,
    is_cited: ___,
    ...rest
  } = kept;
  return {
    ...rest,
    ...related,
    evidence: evidence.map(({ entry_id, quote }) => ({ entry_id, quote })),
    created_at: formatTime(proposed_ms),
    decided_at: formatTime(decided_ms),
    ...(reason === "" ? {} : { reason }),
    ...(superseded_by === "" ? {} : { superseded_by }),
  };
}

/** The weight of evidence by who said it; a person's own statement weighs as much as a user's. */
const weights: { readonly [said_by: string]: number } = { user: 3, tool: 2, assistant: 1 };
const WEIGHT_OF_A_PERSON = 3;

/** The age that halves the rank of a candidate. */
const HALF_LIFE_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * The rank of a candidate in the queue: sessions × weight × recency. As a logarithm it does not change with time, so pages stay
 * stable.
 */
function rankOf({ source, evidence, proposed_ms }: KeptMemory, through = Number.POSITIVE_INFINITY): number {
  const known = evidence.filter(({ added }) => added <= through);
  const sessions = new Set(known.map(({ said_in }) => said_in)).size;
  const weight = Math.max(source === "person" ? WEIGHT_OF_A_PERSON : 1, ...known.map(weightOf));
  const newest_ms = Math.max(proposed_ms, ...known.map(({ said_ms }) => said_ms));
  return Math.round(newest_ms + HALF_LIFE_MS * Math.log2(Math.max(1, sessions) * weight));
}

function weightOf({ said_by }: AttributedEvidence): number {
  return weights[said_by] ?? 1;
}

type Related = Pick<KeptMemory, "similar_to" | "conflicts_with">;

/** Which memories resemble or contradict each other. A relation holds for both, although only the later one records it. */
class Relations {
  #of: MemoriesById | undefined;
  #version = -1;
  /** By the id of a memory that was there first: those that name it. */
  #naming = new Map<string, { readonly similar_to: string[]; readonly conflicts_with: string[] }>();

  /** The memories that it resembles or contradicts, in either direction. */
  relatedTo({ id, similar_to, conflicts_with }: KeptMemory, memories: MemoriesById): Related {
    if (this.#of !== memories || this.#version !== memories.version) this.#update(memories);
    const naming = this.#naming.get(id);
    if (naming === undefined) return { similar_to, conflicts_with };
    return {
      similar_to: [...new Set([...similar_to, ...naming.similar_to])],
      conflicts_with: [...new Set([...conflicts_with, ...naming.conflicts_with])],
    };
  }

  #update(memories: MemoriesById): void {
    this.#naming = new Map();
    for (const { id, status, similar_to, conflicts_with } of memories.values()) {
      // Rejected and superseded memories do not count.
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

const VERDICTS = 30;
const ACCEPTED_MIN = 0.4;

/** The acceptance rate of each source, cached because every proposal asks. A source that is mostly rejected is paused. */
class Acceptances {
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

/** By source and generation, in the order of their names. A person's own additions are no proposals. */
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

// The uses of a memory: the answers that were given it, what they did with it and what followed. And its evidence in
// context.

const USES_MAX = 50;
const AROUND_CHARS = 200;
const FOLLOWING_MAX = 50;
const NEXT_CHARS = 200;

type Uses = Pick<MemoryUseInTurn, "given" | "used" | "confirmed">;

export class MemoryHistory {
  readonly #index: ReadingParts["index"];
  readonly #entries: EntryReader;

  constructor(parts: ReadingParts, entries: EntryReader) {
    this.#index = parts.index;
    this.#entries = entries;
  }

  /** The newest uses first; `counted` has those that were counted, by the turn's id, in the order in which they were. */
  async uses(id: string, counted: ReadonlyMap<string, Uses>): Promise<readonly MemoryUseInTurn[]> {
    const byId = new Map<string, Uses>([...counted].slice(-USES_MAX));
    const filter = { kinds: ["interaction"], references: [{ what: "memory", reference: id }] } as const;
    const named = await this.#index.list({ filter, limit: USES_MAX });
    for (const entry of await this.#entries.read(named.map(({ position }) => position))) {
      const known = counted.get(entry.id) ?? { given: true, used: false, confirmed: false };
      byId.set(entry.id, { ...known, given: true });
    }
    const starts: Entry[] = [];
    for (const entry_id of byId.keys()) {
      const entry = await this.#entries.getById(entry_id);
      if (entry !== undefined && !("erased" in entry)) starts.push(entry);
    }
    const newest = starts.toSorted((left, right) => right.position - left.position).slice(0, USES_MAX);
    return Promise.all(newest.map((entry) => this.#use(entry, byId.get(entry.id) as Uses)));
  }

  async words(evidence: readonly Evidence[]): Promise<readonly WordsInContext[]> {
    const words: WordsInContext[] = [];
    for (const { entry_id, quote } of evidence) {
      const entry = await this.#entries.getById(entry_id);
      if (entry === undefined || "erased" in entry) continue;
      const text = textsOf(entry.kind, entry).find((one) => one.text.includes(quote))?.text ?? quote;
      const at = text.indexOf(quote);
      const { kind, session_id, created_at } = entry;
      const before = text.slice(Math.max(0, at - AROUND_CHARS), at).toWellFormed();
      const after = text.slice(at + quote.length, at + quote.length + AROUND_CHARS).toWellFormed();
      words.push({ entry_id, quote, kind, session_id, created_at, before, after });
    }
    return words;
  }

  async #use(start: Entry, uses: Uses): Promise<MemoryUseInTurn> {
    const { id: entry_id, position, created_at, session_id } = start;
    const following = await this.#following(start);
    const next = following.find(isFromUser);
    const turn = [start, ...(next === undefined ? following : following.slice(0, following.indexOf(next)))];
    return {
      entry_id,
      position,
      created_at,
      session_id,
      ...uses,
      followed: {
        errors: turn.filter(isFailed).length,
        low_confidence: turn.filter(isUnsure).length,
        feedback: await this.#feedback(turn.map(({ id }) => id)),
        next: next === undefined ? "" : firstCodePoints(textsOfUser(next).join("\n"), NEXT_CHARS),
      },
    };
  }

  async #following({ session_id, position }: Entry): Promise<readonly Entry[]> {
    if (session_id === "") return [];
    const range = { session_id, order: "asc", after: position, limit: FOLLOWING_MAX } as const;
    return this.#entries.read(await this.#index.sessionPositions(range));
  }

  async #feedback(ids: readonly string[]): Promise<MemoryUseInTurn["followed"]["feedback"]> {
    const positions = [...(await feedbackOn(this.#index, ids)).values()].flat();
    const entries = positions.length === 0 ? [] : await this.#entries.read(positions);
    return entries.flatMap((entry) => {
      if (entry.kind !== "feedback") return [];
      const { score, label, comment } = entry;
      return [{ label, comment, ...(score === undefined ? {} : { score }) }];
    });
  }
}

function isFailed(entry: Entry): boolean {
  if (entry.kind === "error") return true;
  if (entry.kind === "tool_call") return entry.is_error === true;
  return (entry.kind === "interaction" || entry.kind === "response") && entry.error !== "";
}

function isUnsure(entry: Entry): boolean {
  const { confidence } = entry as { readonly confidence?: number };
  return confidence !== undefined && confidence < CONFIDENCE_LOW;
}
