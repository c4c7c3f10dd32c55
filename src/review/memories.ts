// Memories for whoever writes: statements are proposed or added, and decided upon, each change an entry of the log. What
// is known of them is read back from the index.
import { hash } from "node:crypto";
import type { GroupCommit } from "../capture/group-commit.js";
import type { OwnEntry } from "../capture/own-entries.js";
import { pack, type Surroundings } from "../capture/pack.js";
import { idClaim } from "../model/claims.js";
import { Fault } from "../model/fault.js";
import { knownOptions, optionNames } from "../model/options.js";
import { orThrow, RecorderError, Rejection, reject } from "../model/rejection.js";
import type { TakenClaim } from "../ports/entry-log.js";
import type { Extractor, ExtractorSettings } from "../ports/extractor.js";
import type { AuditedStatement } from "../read/memories/file-audit.js";
import type { DroppedProposal, HeardWords, KeptProposal } from "../read/memories/judged.js";
import {
  type MemoryListOptions,
  parseMemoryListQuery,
  parseRecallQuery,
  type RecallOptions,
  type RecallQuery,
} from "../read/memories/memory-query.js";
import type { MemoryDetail, MemoryList } from "../read/memories/memory-reader.js";
import type { MemorySummary } from "../read/memories/memory-view.js";
import type { Recalled } from "../read/memories/recalled.js";
import { optionNamesOf } from "../read/question-rules.js";
import type { Asking } from "../read/questions.js";
import { MemoryEntries } from "./memory-entries.js";
import {
  type EditOptions,
  type FileInput,
  type MemoryInput,
  type ParsedMemory,
  type ProposalInput,
  parseFileText,
  parseMemoryInput,
  parseVerdict,
  parseVerdicts,
  type VerdictOptions,
  type VerdictsInput,
} from "./memory-input.js";
import type { OneAtATime } from "./one-at-a-time.js";
import { type Extraction, Passes, type PassOptions, type Reinforcement } from "./passes.js";
import { RECALL_SOURCE } from "./session-given.js";

export interface MemoriesParts {
  readonly reading: Asking;
  readonly commit: Pick<GroupCommit, "append">;
  readonly surroundings: Surroundings;
  /** Shared by all who propose here: two that say the same at once would not know of each other. */
  readonly queue: OneAtATime;
  readonly openExtractor: (settings: ExtractorSettings) => Extractor;
}

/** What verdicts on several have come to. */
export interface VerdictsGiven {
  readonly memories: readonly MemorySummary[];
  /** How many candidates are left. */
  readonly pending: number;
}

export interface ExtractOptions extends PassOptions {
  /** A model, which reads sessions masked. */
  readonly model?: ExtractorSettings | undefined;
  /** How many tokens it is sent in a day, all runs together; 200,000. */
  readonly daily_tokens?: number | undefined;
}

export interface FileAudit {
  readonly statements: readonly AuditedStatement[];
  /** How many have each verdict. */
  readonly counts: { readonly [verdict: string]: number };
}

export interface ProposedStatement {
  readonly line: number;
  readonly statement: string;
  readonly answer: MemorySummary | DroppedProposal;
}

export class Memories {
  readonly #reading: Asking;
  readonly #commit: Pick<GroupCommit, "append">;
  readonly #surroundings: Surroundings;
  readonly #entries: MemoryEntries;
  /** The passes over the record, for whoever goes on with them beside capture. */
  readonly passes: Passes;
  readonly #queue: OneAtATime;
  readonly #openExtractor: MemoriesParts["openExtractor"];

  constructor({ reading, commit, surroundings, queue, openExtractor }: MemoriesParts) {
    this.#openExtractor = openExtractor;
    this.#queue = queue;
    this.#reading = reading;
    this.#commit = commit;
    this.#surroundings = surroundings;
    this.#entries = new MemoryEntries(surroundings);
    this.passes = new Passes({
      ...{ reading, surroundings },
      propose: (proposal) => this.#inTurn({ id: undefined, proposal, confidence: undefined, actor: proposal.source }),
      reinforced: (turn) => this.#entries.reinforced(turn, RULE),
      attempt: (entries) => this.#attempt(entries),
    });
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
    const query = orThrow(parseRecallQuery(known, this.#surroundings.nowMs()));
    const recalled = await this.#reading.ask("recall", query);
    if (query.session_id !== "" && recalled.memories_used.length > 0) await this.#noteRecall(query, recalled);
    return recalled;
  }

  /**
   * Writes down in the session what it was given, once, so that nothing of it is learned there as if it were new. A store that
   * cannot be written is asked all the same.
   */
  async #noteRecall({ session_id, project }: RecallQuery, { memories_used }: Recalled): Promise<void> {
    const id = `recall:${hash("sha256", JSON.stringify([session_id, ...memories_used]))}`;
    const said = { source: RECALL_SOURCE, record: { memories: memories_used } };
    const draft = { kind: "raw", id, body: { session_id, ...(project === "" ? {} : { project }), ...said } } as const;
    const packed = pack(draft, this.#surroundings);
    if (packed instanceof Rejection) return;
    await this.#commit.append([packed.entry]).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
    });
  }

  /** Proposes a statement, which passes the gates or is dropped by one of them. Only a person's verdict makes it active. */
  async propose(input: ProposalInput): Promise<MemorySummary | DroppedProposal> {
    return this.#inTurn(orThrow(parseMemoryInput(input, "agent")));
  }

  /**
   * What rules find, in one interaction or over the record, proposed; with a model, what that finds in sessions that nobody
   * goes on with. It can be stopped and run again: nothing is done twice.
   */
  async extract(options: ExtractOptions = {}): Promise<Extraction> {
    const { interaction_id, model, daily_tokens = DAILY_TOKENS, ...pass } = knownOptions(options, extractOptionNames);
    if (interaction_id === undefined) {
      if (model === undefined) return this.passes.extract(pass);
      const { session_id, project } = pass;
      return this.passes.extractByModel({ extractor: this.#openExtractor(model), daily_tokens, session_id, project });
    }
    return orThrow((await this.passes.extractOne(interaction_id)) ?? interactionNotFound(interaction_id));
  }

  /** Counts which memories were given, used and confirmed, in one interaction or over the record; each turn once. */
  async reinforce(options: PassOptions = {}): Promise<Reinforcement> {
    const { interaction_id, ...pass } = knownOptions(options, passOptionNames);
    if (interaction_id === undefined) return this.passes.reinforce(pass);
    return orThrow((await this.passes.reinforceOne(interaction_id)) ?? interactionNotFound(interaction_id));
  }

  /** Adds a memory on a person's word: it is active at once. */
  async add(input: MemoryInput): Promise<MemorySummary> {
    const { proposal, ...whose } = orThrow(parseMemoryInput(input, "person"));
    const heard = orThrow(await this.#heard(proposal.evidence));
    // A person's word passes, and is told what else is known.
    const judged = await this.#reading.ask("judge", proposal);
    const { similar_to, conflicts_with } = "kept" in judged ? judged.kept : { similar_to: [], conflicts_with: [] };
    const kept = { ...proposal, similar_to, conflicts_with };
    const [statement, ...words] = this.#entries.statement(kept, heard, whose);
    const id = (statement as OwnEntry).id;
    const promoted = this.#entries.verdict("memory_promoted", id, proposal.project, whose);
    const taken = await this.#attempt([statement as OwnEntry, ...words, ...promoted]);
    return taken === undefined ? this.#read(id) : this.#same(id, proposal.content);
  }

  /** Makes a candidate a memory, in another wording where one is given. */
  async promote(id: string, options: EditOptions = {}): Promise<MemorySummary> {
    const verdict = orThrow(parseVerdict(options, ["actor", "reason", "content"]));
    const { project } = await this.#candidate(id);
    const edited = verdict.content === "" ? [] : [this.#entries.edited(id, project, verdict)];
    await this.#append([...edited, ...this.#entries.verdict("memory_promoted", id, project, verdict)]);
    return this.#read(id);
  }

  /** Turns a candidate down, so that it is not proposed again. */
  async reject(id: string, options: VerdictOptions = {}): Promise<MemorySummary> {
    const verdict = orThrow(parseVerdict(options, ["actor", "reason"]));
    const { project } = await this.#candidate(id);
    await this.#append(this.#entries.verdict("memory_rejected", id, project, verdict));
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
      content === "" ? [] : this.#entries.statement({ ...proposal, similar_to: [], conflicts_with: [] }, [], whose);
    const superseded_by = next?.id ?? "";
    const superseded = this.#entries.superseded(
      { memory_id: id, superseded_by, status_before: status, actor, reason },
      project,
    );
    const inPlace =
      next === undefined ? [] : [next, ...this.#entries.verdict("memory_promoted", next.id, project, whose)];
    await this.#append([...inPlace, superseded, this.#entries.audit(actor, id)]);
    return this.#read(id);
  }

  /** Verdicts on several candidates: all or none. */
  async verdicts(input: VerdictsInput): Promise<VerdictsGiven> {
    const { promote, reject: rejected, ...verdict } = orThrow(parseVerdicts(input));
    const ids = [...promote, ...rejected];
    const candidates = await this.#candidates(ids);
    const projectOf = (id: string): string => candidates.get(id)?.project ?? "";
    await this.#append([
      ...promote.flatMap((id) => this.#entries.verdict("memory_promoted", id, projectOf(id), verdict)),
      ...rejected.flatMap((id) => this.#entries.verdict("memory_rejected", id, projectOf(id), verdict)),
    ]);
    const memories = await this.#reading.ask("memoriesById", ids);
    return { memories, pending: await this.pending() };
  }

  /** Says of every statement in a memory file whether the record supports it; nothing is written down. */
  async audit(input: FileInput): Promise<FileAudit> {
    const statements = await this.#reading.ask("auditFile", orThrow(parseFileText(input)));
    const counts: { [verdict: string]: number } = {};
    for (const { verdict } of statements) counts[verdict] = (counts[verdict] ?? 0) + 1;
    return { statements, counts };
  }

  /** Proposes the statements of a memory file, each with who said so in the record; those that nobody did are dropped. */
  async proposeFile(input: FileInput): Promise<readonly ProposedStatement[]> {
    const proposed: ProposedStatement[] = [];
    for (const { line, proposal } of await this.#reading.ask("statementsOf", orThrow(parseFileText(input)))) {
      const answer = await this.#inTurn({ id: undefined, proposal, confidence: undefined, actor: proposal.source });
      proposed.push({ line, statement: proposal.content, answer });
    }
    return proposed;
  }

  #inTurn(parsed: ParsedMemory): Promise<MemorySummary | DroppedProposal> {
    return this.#queue.run(() => this.#propose(parsed));
  }

  async #propose({ proposal, ...whose }: ParsedMemory): Promise<MemorySummary | DroppedProposal> {
    const judged = await this.#reading.ask("judge", proposal);
    if ("dropped" in judged) {
      const { heard = [], ...dropped } = judged;
      if (dropped.adds_evidence_to !== undefined) await this.#support(dropped.adds_evidence_to, heard, whose.actor);
      return dropped;
    }
    const { kept, heard } = judged;
    const entries = this.#entries.statement(kept, heard, whose);
    const id = (entries[0] as OwnEntry).id;
    const taken = await this.#attempt(entries);
    if (taken === undefined) return this.#read(id);
    if (taken.some(({ claim }) => claim === idClaim(id))) return this.#same(id, kept.content);
    return { dropped: "known", reason: "It was proposed before, from the same words." };
  }

  /** Adds words to what a candidate rests on, one entry's after the other's, since some may be there already. */
  async #support(id: string, heard: readonly HeardWords[], actor: string): Promise<void> {
    const { project } = await this.#named(id);
    for (const words of heard) await this.#attempt([this.#entries.words(id, project, words, actor)]);
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

const RULE = "rule";

/** What a model is sent in a day, where nothing else is said. */
const DAILY_TOKENS = 200_000;

const extractOptionNames = optionNames<ExtractOptions>({
  ...{ interaction_id: true, project: true, session_id: true, after: true, through: true, onProgress: true },
  ...{ model: true, daily_tokens: true },
});

const passOptionNames = optionNames<PassOptions>({
  ...{ interaction_id: true, project: true, session_id: true, after: true, through: true, onProgress: true },
});

function interactionNotFound(id: string): Rejection {
  const message = `there is no interaction ${JSON.stringify(String(id).slice(0, 128))}`;
  return reject({ code: "interaction_not_found", field: "interaction_id", message });
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
