// All that the memory loop works out where the index is: judging proposals by what was recorded, recall, and the steps of passes.
import type { KeptMemory } from "../../index/memory-fold.js";
import type { EntryIndex } from "../../index/port.js";
import type { EntryLog } from "../../log/port.js";
import type { Entry } from "../../model/entry.js";
import { jsonBytesAtMost } from "../../model/json-size.js";
import { limits } from "../../model/limits.js";
import type { Mask } from "../../model/mask.js";
import type { Evidence, MemorySource, Proposal } from "../../model/memory.js";
import { parseTime } from "../../model/time.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";
import { loadTokenCounter } from "../../sessions/history/tokens.js";
import { FileAuditor, type FileText, type FoundStatement } from "../files/file-audit.js";
import type { MemoriesById } from "../memory-cache.js";
import { PassReader, TurnReader } from "../pass-reader.js";
import type { PassRange, ProposalStep, RulesFound, TurnQuery, TurnUses, UsesStep } from "../pass-steps.js";
import { tokensSentSince } from "../propose/model/daily-budget.js";
import { digestOf } from "../propose/model/digest.js";
import { isRuleClass, ruleClasses } from "../propose/rule-classes.js";
import { Recall } from "../recall/recall.js";
import { GivenItems, givenItemsIn } from "../reinforce/session-given.js";
import { TurnUsesReader } from "../reinforce/turn-uses.js";
import type { AuditedStatement, Recalled } from "../review/memory-answers.js";
import type { RecallQuery } from "../review/memory-query.js";
import type { MemoryReader } from "../review/memory-reader.js";
import { SessionProjects } from "../session-projects.js";
import { type QuotedEntry, quotedEntry, type Speaker, saidThrough } from "../text/quoted-entry.js";
import { Stems } from "../text/stems.js";
import { judge } from "./gates.js";
import type {
  DuplicateMemory,
  EvidenceLookup,
  FileLine,
  GateContext,
  GivenText,
  Judged,
  QuotedEvidence,
  ScopedProposal,
  ScopedStatement,
} from "./judgement.js";
import { HELD_BACK } from "./judgement.js";
import { comparable, formOf, wordsOf } from "./statement.js";
import { Surroundings } from "./surroundings.js";

export interface MemoryJudgeParts {
  readonly index: EntryIndex;
  readonly memories: MemoryReader;
  readonly entries: EntryReader;
  readonly mask: Mask;
}

const EVIDENCE_TOO_LARGE = `the entries it quotes have more than ${limits.evidence_bytes / 1024 / 1024} MiB`;
const READ_AT_ONCE = 200;
const SPOKEN_KINDS = ["message", "interaction", "tool_call", "error", "decision"];

export class MemoryJudge {
  readonly #parts: MemoryJudgeParts;
  readonly #stems = new Stems();
  readonly #given: GivenItems;
  readonly #projects: SessionProjects;
  readonly #surroundings: Surroundings;
  readonly #passes: PassReader;
  #recall: Recall | undefined;
  readonly #comparables = new WeakMap<KeptMemory, string>();
  #reloads = 0;

  constructor(parts: MemoryJudgeParts) {
    this.#parts = parts;
    this.#given = new GivenItems(parts);
    const uses = new TurnUsesReader({ stems: this.#stems, given: this.#given });
    const { index, entries, mask } = parts;
    this.#projects = new SessionProjects(parts);
    this.#surroundings = new Surroundings(parts);
    this.#passes = new PassReader({
      index,
      entries,
      turns: new TurnReader(parts),
      uses,
      projects: this.#projects,
      mask,
      stems: this.#stems,
    });
  }

  async recall(query: RecallQuery): Promise<Recalled> {
    this.#recall ??= new Recall({ count: await loadTokenCounter(), stems: this.#stems, mask: this.#parts.mask });
    return this.#recall.recall(await this.#memories(), query);
  }

  /** Who said these quotes, where all of them stand in the entries that they name. */
  async resolveEvidence(evidence: readonly Evidence[]): Promise<EvidenceLookup> {
    const named = await namedEntries(evidence, this.#quoting());
    if (named === "too_large") return { missing: EVIDENCE_TOO_LARGE };
    for (const { entry_id, quote } of evidence) {
      const quoted = named.get(entry_id)?.quoted;
      if (quoted === undefined) return { missing: `there is no entry ${entry_id}, or it was forgotten` };
      const stands = quoted.said.some(({ text }) => text.includes(quote));
      if (!stands) return { missing: `the quote is not in entry ${entry_id} word for word` };
    }
    const projects = [...new Set([...named.values()].map(({ entry }) => entry.project))];
    return { quoted: quotedEvidence(evidence, named), projects };
  }

  /** Active memories and candidates of a project, and global ones, that say exactly this; oldest first. */
  async duplicatesOf({ content, project }: ScopedStatement): Promise<readonly DuplicateMemory[]> {
    const sought = comparable(content);
    return [...(await this.#memories()).values()]
      .filter((memory) => memory.project === project || memory.project === "")
      .filter(({ status }) => status === "active" || status === "candidate")
      .filter((memory) => this.#comparable(memory) === sought)
      .toSorted((left, right) => left.proposed - right.proposed)
      .map(({ id, status }) => ({ id, status }));
  }

  /** Sends a proposal through the gates, unless its source is paused. */
  async judge({ cites_only, limited, ...proposal }: ScopedProposal): Promise<Judged> {
    const memories = await this.#memories();
    const { source, generation } = proposal;
    const acceptance = this.#parts.memories
      .acceptance(memories)
      .find((one) => one.source === source && one.generation === generation);
    if (acceptance?.is_paused === true) {
      const { accepted, rejected } = acceptance;
      const reason = `This source is paused: only ${accepted} of its last ${accepted + rejected} proposals were accepted.`;
      return { dropped: "paused", reason };
    }
    // What needs no entry to be read comes first.
    const formed = formOf(proposal.content);
    if ("flaw" in formed) return { dropped: "form", reason: `It ${formed.flaw}.` };
    const quota = limited === undefined ? undefined : quotaReached(memories, limited);
    if (quota !== undefined) return { dropped: HELD_BACK, reason: quota };
    const named = await namedEntries(proposal.evidence, this.#quoting(), cites_only);
    if (named === "too_large") return { dropped: "evidence", reason: `${EVIDENCE_TOO_LARGE}.` };
    const parts = { memories, given: this.#given, project: proposal.project };
    const context = await gateContextOf(named, parts, this.#surroundings);
    let judgement = judge(proposal, context, this.#stems);
    if ("dropped" in judgement && judgement.dropped === "grounding") {
      // Only what the quoted entries lack is looked for in the turns before them.
      const before = await this.#surroundings.before([...named.values()].map(({ entry }) => entry));
      judgement = judge(proposal, { ...context, before }, this.#stems);
    }
    if ("kept" in judgement) {
      const { kept } = judgement;
      const reason = limitReached(kept, { named, memories });
      if (reason !== undefined) return { dropped: "limit", reason };
      const confidence = confidenceOf(kept, memories);
      return {
        kept,
        quoted: quotedEvidence(kept.evidence, named),
        ...(confidence === undefined ? {} : { confidence }),
      };
    }
    const { adds_evidence_to: joined, ...dropped } = judgement;
    if (joined === undefined) return dropped;
    return { ...dropped, adds_evidence_to: joined.id, quoted: quotedEvidence(joined.evidence, named) };
  }

  proposalsIn(log: EntryLog, range: PassRange): Promise<ProposalStep> {
    return this.#passes.proposals(log, range);
  }

  proposalsOfInteraction(log: EntryLog, id: string): Promise<RulesFound | undefined> {
    return this.#passes.proposalsOfInteraction(log, id);
  }

  async usesIn(log: EntryLog, range: PassRange): Promise<UsesStep> {
    return this.#passes.uses(log, range, await this.#memories());
  }

  async usesOfTurn({ id, now_ms }: TurnQuery): Promise<TurnUses | "waiting" | undefined> {
    return this.#passes.usesOfTurn(id, await this.#memories(), now_ms);
  }

  /** What the record says of every statement in a memory file. */
  async audit(file: FileText): Promise<readonly AuditedStatement[]> {
    return this.#auditor(file).audit([...(await this.#memories()).values()]);
  }

  /** The statements of a memory file as proposals, with who said so in the record. */
  statements(file: FileText): Promise<readonly FoundStatement[]> {
    return this.#auditor(file).proposals();
  }

  /** What a model reads of a session; masked, because it leaves the machine. */
  async digestOf(session_id: string): Promise<readonly QuotedEntry[]> {
    const { index, entries } = this.#parts;
    const shown: Entry[] = [];
    for (let after = 0; ; ) {
      const range = { session_id, order: "asc", after, limit: READ_AT_ONCE, kinds: SPOKEN_KINDS } as const;
      const positions = await index.sessionPositions(range);
      shown.push(...(await entries.show(positions)));
      const last = positions.at(-1);
      if (last === undefined || positions.length < READ_AT_ONCE) return digestOf(shown);
      after = last;
    }
  }

  tokensSentSince(since_ms: number): Promise<number> {
    return tokensSentSince(since_ms, this.#parts);
  }

  #auditor(file: FileText): FileAuditor {
    return new FileAuditor(file, { index: this.#parts.index, entries: this.#parts.entries, stems: this.#stems });
  }

  #quoting(): Quoting {
    return { entries: this.#parts.entries, projects: this.#projects };
  }

  #comparable(memory: KeptMemory): string {
    const known = this.#comparables.get(memory) ?? comparable(memory.content);
    this.#comparables.set(memory, known);
    return known;
  }

  async #memories(): Promise<MemoriesById> {
    const { memories } = this.#parts;
    const all = await memories.all();
    // After a reload something may have been forgotten.
    if (this.#reloads !== memories.reloads) {
      this.#given.clear();
      this.#projects.clear();
    }
    this.#reloads = memories.reloads;
    return all;
  }
}

/** Entries that evidence names, by id; those that are missing, or say nothing, are left out. */
type NamedEntries = ReadonlyMap<string, NamedEntry>;

interface NamedEntry {
  readonly entry: Entry;
  readonly quoted: QuotedEntry;
  /** Position of its last words. */
  readonly through: number;
}

interface Quoting {
  readonly entries: EntryReader;
  readonly projects: SessionProjects;
}

async function namedEntries(
  evidence: readonly Evidence[],
  { entries, projects }: Quoting,
  cites_only?: string,
): Promise<NamedEntries | "too_large"> {
  const named = new Map<string, NamedEntry>();
  let bytes = 0;
  for (const id of new Set(evidence.map(({ entry_id }) => entry_id))) {
    const recorded = await entries.getById(id);
    if (recorded === undefined || "erased" in recorded) continue;
    const { project, session_id } = recorded;
    // A session that names no project has that of its calls.
    const placed = project !== "" || session_id === "" ? project : await projects.of(session_id);
    const entry = placed === project ? recorded : { ...recorded, project: placed };
    if (cites_only !== undefined && entry.recorded_by !== cites_only) continue;
    bytes += jsonBytesAtMost(entry);
    if (bytes > limits.evidence_bytes) return "too_large";
    const quoted = quotedEntry(entry);
    if (quoted !== undefined) named.set(id, { entry, quoted, through: await saidThrough(entry, entries) });
  }
  return named;
}

interface GateContextParts {
  readonly memories: MemoriesById;
  readonly given: GivenItems;
  readonly project: string;
}

async function gateContextOf(
  named: NamedEntries,
  parts: GateContextParts,
  surroundings: Surroundings,
): Promise<GateContext> {
  const { memories, project } = parts;
  const given: GivenText[] = [];
  const file_lines: FileLine[] = [];
  for (const { entry, through } of named.values()) {
    const { session_id } = entry;
    const items = session_id === "" ? givenItemsIn(entry) : await parts.given.through(session_id, through);
    for (const item of items) {
      const { from, text, ids } = item;
      if (text !== "") given.push({ session_id, from, words: parts.given.wordsOf(item) });
      file_lines.push(...parts.given.fileLinesOf(item).map((line) => ({ session_id, text: line })));
      const contents = ids.flatMap((id) => memories.get(id)?.content ?? []);
      given.push(...contents.map((content) => ({ session_id, from, words: wordsOf(content) })));
    }
  }
  // A proposal without evidence belongs to the project that its proposer names.
  const projects = new Set(["", project, ...[...named.values()].map(({ entry }) => entry.project)]);
  const known = [...memories.values()].filter(({ project }) => projects.has(project));
  const entriesById = new Map([...named].map(([id, { quoted }]) => [id, quoted]));
  const templates = await surroundings.templates([...named.values()].map(({ entry }) => entry));
  return { entriesById, given, memories: known, templates, file_lines };
}

/** Verdicts count for a class as much as what is known of it beforehand once there are so many. */
const VERDICTS_AT_FIRST = 4;
const CONFIDENCE_AT_FIRST = 0.5;

/** The accepted share of a class of rules, or of a source and generation, in this store; undefined without any verdict and class. */
function confidenceOf({ source, generation, tags }: Proposal, memories: MemoriesById): number | undefined {
  const name = tags.find(isRuleClass);
  let [accepted, judged] = [0, 0];
  for (const memory of memories.values()) {
    if (memory.source !== source || memory.generation !== generation) continue;
    if (name !== undefined && !memory.tags.includes(name)) continue;
    if (memory.promoted === 0 && memory.status !== "rejected") continue;
    judged += 1;
    accepted += Number(memory.promoted > 0);
  }
  const first = name === undefined ? CONFIDENCE_AT_FIRST : ruleClasses[name].confidence;
  if (name === undefined && judged === 0) return undefined;
  const share = (first * VERDICTS_AT_FIRST + accepted) / (VERDICTS_AT_FIRST + judged);
  return Math.round(share * 100) / 100;
}

/** Whose word weighs most, where several say the same in an entry. */
const heaviestFirst: readonly Speaker[] = ["user", "tool", "assistant", "system"];

/** The quotes of each entry that is there, with who said them, where and when. */
function quotedEvidence(evidence: readonly Evidence[], named: NamedEntries): readonly QuotedEvidence[] {
  return [...named].flatMap(([entry_id, { entry, quoted }]) => {
    const own = evidence.filter((one) => one.entry_id === entry_id);
    const speakers = new Set(
      own.flatMap(({ quote }) => quoted.said.filter(({ text }) => text.includes(quote)).map(({ by }) => by)),
    );
    const said_by = heaviestFirst.find((speaker) => speakers.has(speaker)) ?? "system";
    if (own.length === 0) return [];
    return [{ entry_id, evidence: own, said_by, said_in: entry.session_id, said_at: entry.created_at }];
  });
}

/** How many candidates of one key, person or program may wait, and how many it may propose in a day. */
const WAITING_MAX = 50;
const PROPOSED_MAX = 200;

/** Why one may propose no more now; undefined while it may. */
function quotaReached(
  memories: MemoriesById,
  { proposed_by, now_ms }: NonNullable<ScopedProposal["limited"]>,
): string | undefined {
  let [waiting, today] = [0, 0];
  for (const memory of memories.values()) {
    if (memory.proposed_by !== proposed_by) continue;
    if (memory.status === "candidate") waiting += 1;
    if (memory.proposed_ms > now_ms - DAY_MS) today += 1;
  }
  if (waiting >= WAITING_MAX) return `${WAITING_MAX} candidates of ${proposed_by} are waiting for review.`;
  return today >= PROPOSED_MAX ? `${proposed_by} has proposed ${PROPOSED_MAX} in a day.` : undefined;
}

/** Sources whose proposals are limited; agents, persons and models only propose when they are asked. */
const LIMITED_SOURCES: ReadonlySet<MemorySource> = new Set(["rule:words", "decision"]);
const SESSION_MAX = 3;
const DAY_MAX = 5;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Why a source may propose no more; undefined while it may. Proposals count by the session and the day (UTC) of the words that
 * they quote, whatever became of them, so a later pass decides the same.
 */
function limitReached(
  { source, project, evidence }: Pick<Proposal, "source" | "project" | "evidence">,
  { named, memories }: { readonly named: NamedEntries; readonly memories: MemoriesById },
): string | undefined {
  const entry = named.get(evidence[0]?.entry_id ?? "")?.entry;
  if (entry === undefined || !LIMITED_SOURCES.has(source)) return undefined;
  const day = dayOf(parseTime(entry.created_at) ?? 0);
  let [inSession, onDay] = [0, 0];
  for (const memory of memories.values()) {
    const first = memory.evidence[0];
    if (memory.source !== source || memory.project !== project || first === undefined) continue;
    if (entry.session_id !== "" && first.said_in === entry.session_id) inSession += 1;
    if (dayOf(first.said_ms) === day) onDay += 1;
  }
  if (inSession >= SESSION_MAX) return `This source has already proposed ${SESSION_MAX} statements from this session.`;
  return onDay >= DAY_MAX
    ? `This source has already proposed ${DAY_MAX} statements from this project on that day.`
    : undefined;
}

function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}
