// Memories for whoever writes: statements are proposed or added, and decided upon, each change an entry of the log. What
// is known of them is read back from the index.
import type { GroupCommit } from "../capture/group-commit.js";
import { type OwnEntry, packOwn } from "../capture/own-entries.js";
import type { Surroundings } from "../capture/pack.js";
import { idClaim } from "../model/claims.js";
import { knownOptions } from "../model/options.js";
import { orThrow, RecorderError, type Rejection, reject } from "../model/rejection.js";
import type { TakenClaim } from "../ports/entry-log.js";
import type { DroppedProposal, HeardWords, KeptProposal } from "../read/memories/judged.js";
import {
  type MemoryListOptions,
  parseMemoryListQuery,
  parseRecallQuery,
  type RecallOptions,
} from "../read/memories/memory-query.js";
import type { MemoryDetail, MemoryList } from "../read/memories/memory-reader.js";
import type { MemorySummary } from "../read/memories/memory-view.js";
import type { Recalled } from "../read/memories/recalled.js";
import { optionNamesOf } from "../read/question-rules.js";
import type { Asking } from "../read/questions.js";
import {
  type EditOptions,
  type MemoryInput,
  type ParsedMemory,
  type ParsedVerdict,
  type ProposalInput,
  parseMemoryInput,
  parseVerdict,
  parseVerdicts,
  type VerdictOptions,
  type VerdictsInput,
} from "./memory-input.js";

export interface MemoriesParts {
  readonly reading: Asking;
  readonly commit: Pick<GroupCommit, "append">;
  readonly surroundings: Surroundings;
}

/** What verdicts on several have come to. */
export interface VerdictsGiven {
  readonly memories: readonly MemorySummary[];
  /** How many candidates are left. */
  readonly pending: number;
}

export class Memories {
  readonly #reading: Asking;
  readonly #commit: Pick<GroupCommit, "append">;
  readonly #surroundings: Surroundings;
  /** One proposal at a time, or two that say the same would not know of each other. */
  #proposing: Promise<unknown> = Promise.resolve();

  constructor({ reading, commit, surroundings }: MemoriesParts) {
    this.#reading = reading;
    this.#commit = commit;
    this.#surroundings = surroundings;
  }

  /** Memories, the newest first; with `status: "candidate"` the queue, best first. */
  async list(options: MemoryListOptions = {}): Promise<MemoryList> {
    return this.#reading.ask(
      "listMemories",
      orThrow(parseMemoryListQuery(knownOptions(options, optionNamesOf("memories")))),
    );
  }

  /** One memory with what was done with it; undefined where there is none. */
  async get(id: string): Promise<MemoryDetail | undefined> {
    return this.#reading.ask("getMemory", String(id));
  }

  /** How many candidates wait for a verdict. */
  async pending(): Promise<number> {
    return (await this.list({ limit: 0 })).pending;
  }

  /** What a model should be given, within a budget of tokens; to be handed to `recordInteraction` as it is. */
  async recall(options: RecallOptions = {}): Promise<Recalled> {
    const known = knownOptions(options, optionNamesOf("recall"));
    return this.#reading.ask("recall", orThrow(parseRecallQuery(known, this.#surroundings.nowMs())));
  }

  /** Proposes a statement, which passes the gates or is dropped by one of them. Only a person's verdict makes it active. */
  async propose(input: ProposalInput): Promise<MemorySummary | DroppedProposal> {
    const parsed = orThrow(parseMemoryInput(input, "agent"));
    const proposed = this.#proposing.then(() => this.#propose(parsed));
    this.#proposing = proposed.catch(() => undefined);
    return proposed;
  }

  /** Adds a memory on a person's word: it is active at once. */
  async add(input: MemoryInput): Promise<MemorySummary> {
    const { proposal, ...whose } = orThrow(parseMemoryInput(input, "person"));
    const heard = orThrow(await this.#heard(proposal.evidence));
    const kept = { ...proposal, similar_to: [], conflicts_with: [] };
    const [statement, ...words] = this.#statement(kept, heard, whose);
    const id = (statement as OwnEntry).id;
    const promoted = this.#verdict("memory_promoted", id, proposal.project, whose);
    const taken = await this.#attempt([statement as OwnEntry, ...words, ...promoted]);
    return taken === undefined ? this.#read(id) : this.#same(id, proposal.content);
  }

  /** Makes a candidate a memory, in another wording where one is given. */
  async promote(id: string, options: EditOptions = {}): Promise<MemorySummary> {
    const verdict = orThrow(parseVerdict(options, ["actor", "reason", "content"]));
    const { project } = await this.#candidate(id);
    const edited = verdict.content === "" ? [] : [this.#edited(id, project, verdict)];
    await this.#append([...edited, ...this.#verdict("memory_promoted", id, project, verdict)]);
    return this.#read(id);
  }

  /** Turns a candidate down, so that it is not proposed again. */
  async reject(id: string, options: VerdictOptions = {}): Promise<MemorySummary> {
    const verdict = orThrow(parseVerdict(options, ["actor", "reason"]));
    const { project } = await this.#candidate(id);
    await this.#append(this.#verdict("memory_rejected", id, project, verdict));
    return this.#read(id);
  }

  /** Puts a memory, or a candidate, out of use; with content, another memory takes its place. */
  async supersede(id: string, options: EditOptions = {}): Promise<MemorySummary> {
    const verdict = orThrow(parseVerdict(options, ["actor", "reason", "content"]));
    const { status, project, type } = await this.#named(id);
    if (status !== "candidate" && status !== "active") throw new RecorderError(alreadyDecided(id, status));
    const { actor, reason, content } = verdict;
    const whose = { id: undefined, actor, confidence: undefined };
    const proposal = { type, content, project, source: "person", evidence: [], tags: [], generation: "" } as const;
    const [next] =
      content === "" ? [] : this.#statement({ ...proposal, similar_to: [], conflicts_with: [] }, [], whose);
    const superseded_by = next?.id ?? "";
    const fields = { memory_id: id, superseded_by, status_before: status, actor, reason };
    const superseded = packOwn("memory_superseded", fields, this.#surroundings, { project });
    const inPlace = next === undefined ? [] : [next, ...this.#verdict("memory_promoted", next.id, project, whose)];
    await this.#append([...inPlace, superseded, this.#audit(actor, id)]);
    return this.#read(id);
  }

  /** Verdicts on several candidates: all or none. */
  async verdicts(input: VerdictsInput): Promise<VerdictsGiven> {
    const { promote, reject: rejected, ...verdict } = orThrow(parseVerdicts(input));
    const ids = [...promote, ...rejected];
    const candidates = await this.#candidates(ids);
    const projectOf = (id: string): string => candidates.get(id)?.project ?? "";
    await this.#append([
      ...promote.flatMap((id) => this.#verdict("memory_promoted", id, projectOf(id), verdict)),
      ...rejected.flatMap((id) => this.#verdict("memory_rejected", id, projectOf(id), verdict)),
    ]);
    const memories = await this.#reading.ask("memoriesById", ids);
    return { memories, pending: await this.pending() };
  }

  async #propose({ proposal, ...whose }: ParsedMemory): Promise<MemorySummary | DroppedProposal> {
    const judged = await this.#reading.ask("judge", proposal);
    if ("dropped" in judged) return judged;
    const { kept, heard } = judged;
    const known = kept.adds_evidence_to;
    if (known === undefined) {
      const entries = this.#statement(kept, heard, whose);
      const id = (entries[0] as OwnEntry).id;
      const taken = await this.#attempt(entries);
      if (taken === undefined) return this.#read(id);
      if (taken.some(({ claim }) => claim === idClaim(id))) return this.#same(id, kept.content);
      return { dropped: "known", reason: "it was proposed before, from the same words" };
    }
    await this.#attempt(heard.map((words) => this.#words(known, kept.project, words, whose.actor)));
    return this.#read(known);
  }

  /** What was sent again with the same id is what it was, unless it says something else. */
  async #same(id: string, content: string): Promise<MemorySummary> {
    const [memory] = await this.#reading.ask("memoriesById", [id]);
    const [first] = memory === undefined ? [] : ((await this.get(id))?.history ?? []);
    if (memory !== undefined && first?.content === content) return memory;
    const message = `id ${id} was used before; nothing was stored`;
    throw new RecorderError({ code: "id_conflict", field: "id", message, hint: "Leave id out to have one made." });
  }

  /** Words of entries as a person cites them: they must be there. */
  async #heard(evidence: KeptProposal["evidence"]): Promise<readonly HeardWords[] | Rejection> {
    if (evidence.length === 0) return [];
    const heard = await this.#reading.ask("hear", evidence);
    return "missing" in heard
      ? reject({ code: "field_invalid", field: "evidence", message: heard.missing })
      : heard.words;
  }

  /** The entries of a new statement: itself first, then the words that it rests on. */
  #statement(
    kept: KeptProposal,
    heard: readonly HeardWords[],
    { id, actor, confidence }: Omit<ParsedMemory, "proposal">,
  ): readonly OwnEntry[] {
    const { type, content, source, generation, tags, valid_until = "", project, similar_to, conflicts_with } = kept;
    const cites = heard.map(({ entry_id }) => entry_id);
    const known = { type, content, source, generation, tags, valid_until, cites, similar_to, conflicts_with, actor };
    const fields = confidence === undefined ? known : { ...known, confidence };
    const statement = packOwn("memory_proposed", fields, this.#surroundings, { id, project });
    return [statement, ...heard.map((words) => this.#words(statement.id, project, words, actor))];
  }

  #words(memory_id: string, project: string, heard: HeardWords, actor: string): OwnEntry {
    const { entry_id: _, evidence, ...said } = heard;
    const quotes = evidence.map(({ entry_id, quote }) => ({ entry_id, quote }));
    const fields = { memory_id, content: "", evidence: quotes, ...said, actor };
    return packOwn("memory_edited", fields, this.#surroundings, { project });
  }

  #edited(memory_id: string, project: string, { content, actor }: ParsedVerdict): OwnEntry {
    const unsaid = { evidence: [], said_by: "", said_in: "", said_at: "" };
    return packOwn("memory_edited", { memory_id, content, ...unsaid, actor }, this.#surroundings, { project });
  }

  /** A verdict, and the entry that makes it accountable. */
  #verdict(
    kind: "memory_promoted" | "memory_rejected",
    memory_id: string,
    project: string,
    { actor, reason = "" }: { readonly actor: string; readonly reason?: string },
  ): readonly OwnEntry[] {
    const verdict = packOwn(kind, { memory_id, actor, reason }, this.#surroundings, { project });
    return [verdict, this.#audit(actor, memory_id)];
  }

  #audit(actor: string, target: string): OwnEntry {
    return packOwn("audit", { action: "verdict", actor, target }, this.#surroundings);
  }

  /** Appends all of them, or says that somebody was faster. */
  async #append(entries: readonly OwnEntry[]): Promise<void> {
    const taken = await this.#attempt(entries);
    if (taken !== undefined) throw new RecorderError(secondVerdict());
  }

  async #attempt(entries: readonly OwnEntry[]): Promise<readonly TakenClaim[] | undefined> {
    if (entries.length === 0) return undefined;
    const outcome = await this.#commit.append(entries.map(({ entry }) => entry));
    return "taken" in outcome ? outcome.taken : undefined;
  }

  async #read(id: string): Promise<MemorySummary> {
    return this.#named(id);
  }

  async #named(id: string): Promise<MemorySummary> {
    const [memory] = await this.#reading.ask("memoriesById", [String(id)]);
    return orThrow(memory ?? memoryNotFound(id));
  }

  async #candidate(id: string): Promise<MemorySummary> {
    const memory = await this.#named(id);
    return orThrow(memory.status === "candidate" ? memory : alreadyDecided(id, memory.status));
  }

  async #candidates(ids: readonly string[]): Promise<ReadonlyMap<string, MemorySummary>> {
    const found = new Map((await this.#reading.ask("memoriesById", ids)).map((memory) => [memory.id, memory]));
    for (const [index, id] of ids.entries()) {
      const memory = found.get(id);
      if (memory === undefined) throw new RecorderError(memoryNotFound(id).at(index));
      if (memory.status !== "candidate") throw new RecorderError(alreadyDecided(id, memory.status).at(index));
    }
    return found;
  }
}

function memoryNotFound(id: unknown): Rejection {
  const message = `there is no memory ${JSON.stringify(String(id).slice(0, 128))}`;
  return reject({ code: "memory_not_found", field: "id", message });
}

function alreadyDecided(id: string, status: string): Rejection {
  return reject({
    code: "verdict_given",
    field: "id",
    message: `memory ${id} is ${status}, and no candidate any more`,
  });
}

function secondVerdict(): Rejection {
  return reject({
    code: "verdict_given",
    field: "id",
    message: "somebody else gave a verdict meanwhile; nothing changed",
  });
}
