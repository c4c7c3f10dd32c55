// Memories for whoever writes: statements are proposed or added, and decided upon, each change an entry of the log. What
// is known of them is read back from the index.

import { hash } from "node:crypto";
import { pack } from "../log/capture/pack.js";
import { Fault } from "../model/fault.js";
import { parseLabel } from "../model/ids.js";
import type { Proposal } from "../model/memory.js";
import { knownOptions, optionNames } from "../model/options.js";
import { notFound, orThrow, Rejection } from "../model/rejection.js";
import type { AuditedStatement } from "./files/file-audit.js";
import type { DroppedProposal } from "./judge/judged.js";
import { type Extraction, Passes, type PassOptions, passOptionNames, type Reinforcement } from "./passes.js";
import type { Extractor, ExtractorSettings } from "./propose/extractor.js";
import { Proposing, type ProposingParts } from "./propose/proposing.js";
import { RECALL_SOURCE } from "./reinforce/session-given.js";
import type { MemoryDetail, MemoryList, MemorySummary, Recalled } from "./review/memory-answers.js";
import {
  type EditOptions,
  type FileInput,
  type MemoryInput,
  type ProposalInput,
  parseAddition,
  parseDailyTokens,
  parseFileText,
  parseMemoryInput,
  parseVerdict,
  parseVerdicts,
  type VerdictOptions,
  type VerdictsInput,
} from "./review/memory-input.js";
import { type LedgerParts, MemoryLedger } from "./review/memory-ledger.js";
import { type MemoryListOptions, parseProject, type RecallOptions } from "./review/memory-query.js";
import { Verdicts } from "./review/verdicts.js";

export interface MemoriesParts extends LedgerParts, Omit<ProposingParts, "ledger"> {
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
  readonly #parts: MemoriesParts;
  readonly #proposing: Proposing;
  readonly #verdicts: Verdicts;
  /** The passes over the record, for whoever goes on with them beside capture. */
  readonly passes: Passes;

  constructor(parts: MemoriesParts) {
    this.#parts = parts;
    const ledger = new MemoryLedger(parts);
    this.#proposing = new Proposing({ ...parts, ledger });
    this.#verdicts = new Verdicts({ ...parts, ledger });
    this.passes = new Passes({
      calls: parts.calls,
      surroundings: parts.surroundings,
      propose: (proposal) => this.#propose(proposal),
      reinforced: (turn) => ledger.entries.reinforced(turn, RULE),
      attempt: (entries) => ledger.attempt(entries),
    });
  }

  /** Memories, the newest first; with `status: "candidate"` the queue, best first. */
  async list(options: MemoryListOptions = {}): Promise<MemoryList> {
    return this.#parts.calls.listMemories(options);
  }

  /** One memory with what was done with it; undefined where there is none. */
  async get(id: string): Promise<MemoryDetail | undefined> {
    return this.#parts.calls.getMemory(id);
  }

  /** How many candidates wait for a verdict. */
  async pending(): Promise<number> {
    return (await this.list({ limit: 0 })).pending;
  }

  /** What a model should be given, within a budget of tokens; to be handed to `recordInteraction` as it is. */
  async recall(options: RecallOptions = {}): Promise<Recalled> {
    const recalled = await this.#parts.calls.recall(options);
    const session_id = orThrow(parseLabel("session_id", options?.session_id));
    if (session_id === "" || recalled.memories_used.length === 0) return recalled;
    await this.#noteRecall({ session_id, project: orThrow(parseProject(options?.project)) }, recalled);
    return recalled;
  }

  /**
   * Writes down in the session what it was given, once, so that nothing of it is learned there as if it were new. A store that
   * cannot be written is asked all the same.
   */
  async #noteRecall(
    { session_id, project }: { readonly session_id: string; readonly project: string },
    { memories_used }: Recalled,
  ): Promise<void> {
    const id = `recall:${hash("sha256", JSON.stringify([session_id, ...memories_used]))}`;
    const said = { source: RECALL_SOURCE, record: { memories: memories_used } };
    const draft = { kind: "raw", id, body: { session_id, ...(project === "" ? {} : { project }), ...said } } as const;
    const packed = pack(draft, this.#parts.surroundings);
    if (packed instanceof Rejection) return;
    await this.#parts.commit.append([packed.entry]).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
    });
  }

  /** Proposes a statement, which passes the gates or is dropped by one of them. Only a person's verdict makes it active. */
  async propose(input: ProposalInput): Promise<MemorySummary | DroppedProposal> {
    const parsed = orThrow(parseMemoryInput(input, "agent"));
    // How sure a program is of itself counts for nothing: what it proposes begins as every candidate does.
    return this.#proposing.propose(parsed.proposal.source === "person" ? parsed : { ...parsed, confidence: undefined });
  }

  /**
   * What rules find, in one interaction or over the record, proposed; with a model, also what that finds in sessions that
   * nobody goes on with. It can be stopped and run again: nothing is done twice.
   */
  async extract(options: ExtractOptions = {}): Promise<Extraction> {
    const { interaction_id, model, ...given } = knownOptions(options, extractOptionNames);
    const { daily_tokens: tokens, ...pass } = given;
    const daily_tokens = orThrow(parseDailyTokens(tokens));
    if (interaction_id !== undefined) {
      return orThrow((await this.passes.extractOne(interaction_id)) ?? interactionNotFound(interaction_id));
    }
    const extractor = model === undefined ? undefined : this.#parts.openExtractor(model);
    const found = await this.passes.extract(pass);
    if (extractor === undefined) return found;
    const { session_id, project } = pass;
    return together(found, await this.passes.extractByModel({ extractor, daily_tokens, session_id, project }));
  }

  /** Counts which memories were given, used and confirmed, in one interaction or over the record; each turn once. */
  async reinforce(options: PassOptions = {}): Promise<Reinforcement> {
    const { interaction_id, ...pass } = knownOptions(options, passOptionNames);
    if (interaction_id === undefined) return this.passes.reinforce(pass);
    return orThrow((await this.passes.reinforceOne(interaction_id)) ?? interactionNotFound(interaction_id));
  }

  /** Adds a memory on a person's word: it is active at once. */
  async add(input: MemoryInput): Promise<MemorySummary> {
    return this.#proposing.add(orThrow(parseAddition(input)));
  }

  /** Makes a candidate a memory, in another wording where one is given. */
  async promote(id: string, options: EditOptions = {}): Promise<MemorySummary> {
    return this.#verdicts.promote(id, orThrow(parseVerdict(options, ["actor", "reason", "content"])));
  }

  /** Turns a candidate down, so that it is not proposed again. */
  async reject(id: string, options: VerdictOptions = {}): Promise<MemorySummary> {
    return this.#verdicts.reject(id, orThrow(parseVerdict(options, ["actor", "reason"])));
  }

  /** Puts a memory, or a candidate, out of use; with content, another memory takes its place. */
  async supersede(id: string, options: EditOptions = {}): Promise<MemorySummary> {
    return this.#verdicts.supersede(id, orThrow(parseVerdict(options, ["actor", "reason", "content"])));
  }

  /** Verdicts on several candidates: all or none. */
  async verdicts(input: VerdictsInput): Promise<VerdictsGiven> {
    const memories = await this.#verdicts.several(orThrow(parseVerdicts(input)));
    return { memories, pending: await this.pending() };
  }

  /** Says of every statement in a memory file whether the record supports it; nothing is written down. */
  async audit(input: FileInput): Promise<FileAudit> {
    const statements = await this.#parts.calls.auditFile(orThrow(parseFileText(input)));
    const counts: { [verdict: string]: number } = {};
    for (const { verdict } of statements) counts[verdict] = (counts[verdict] ?? 0) + 1;
    return { statements, counts };
  }

  /** Proposes the statements of a memory file, each with who said so in the record; those that nobody did are dropped. */
  async proposeFile(input: FileInput): Promise<readonly ProposedStatement[]> {
    const proposed: ProposedStatement[] = [];
    for (const { line, proposal } of await this.#parts.calls.statementsOf(orThrow(parseFileText(input)))) {
      const answer = await this.#propose(proposal);
      proposed.push({ line, statement: proposal.content, answer });
    }
    return proposed;
  }

  /** What no caller has given an id or a name to: it is its source's. */
  #propose(proposal: Proposal): Promise<MemorySummary | DroppedProposal> {
    return this.#proposing.propose({ id: undefined, proposal, confidence: undefined, actor: proposal.source });
  }
}

const RULE = "rule";

const extractOptionNames = [
  ...passOptionNames,
  ...optionNames<Omit<ExtractOptions, keyof PassOptions>>({ model: true, daily_tokens: true }),
];

function interactionNotFound(id: string): Rejection {
  return notFound("interaction", id, { field: "interaction_id" });
}

/** What two passes have found. */
function together(first: Extraction, second: Extraction): Extraction {
  const dropped_by_gate: { [gate: string]: number } = { ...first.dropped_by_gate };
  for (const [gate, count] of Object.entries(second.dropped_by_gate)) {
    dropped_by_gate[gate] = (dropped_by_gate[gate] ?? 0) + count;
  }
  const { stopped } = second;
  return {
    candidates: [...first.candidates, ...second.candidates],
    dropped: [...first.dropped, ...second.dropped],
    // A model reads what rules have read.
    dropped_by_gate,
    looked_at: first.looked_at,
    passed_over: first.passed_over,
    through: first.through,
    ...(stopped === undefined ? {} : { stopped }),
  };
}
