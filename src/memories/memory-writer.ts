// What writes about memories: statements are proposed or added, and decided upon, each change an entry of the log. What
// is known of them is read back from the index.

import { hash } from "node:crypto";
import { pack } from "../log/capture/draft.js";
import { Fault } from "../model/fault.js";
import type { Proposal } from "../model/memory.js";
import { optionNames } from "../model/options.js";
import { notFound, orThrow, RecorderError, Rejection } from "../model/rejection.js";
import type { FileText } from "./files/file-audit.js";
import { Passes, type PassOptions, passOptionNames, type RulesPassOptions } from "./passes.js";
import type { Extractor, ExtractorSettings } from "./propose/extractor.js";
import { parseDailyTokens } from "./propose/model/daily-budget.js";
import { Proposing, type ProposingParts } from "./propose/proposing.js";
import { RECALL_SOURCE } from "./reinforce/session-given.js";
import {
  type DroppedProposal,
  type Extraction,
  type MemorySummary,
  type ProposedStatement,
  type Recalled,
  type Reinforcement,
  TAKEN,
  type TakenProposal,
  type VerdictsGiven,
} from "./review/memory-answers.js";
import type { NewMemory, ParsedVerdict, ParsedVerdicts } from "./review/memory-input.js";
import { type LedgerParts, MemoryLedger } from "./review/memory-ledger.js";
import { Verdicts } from "./review/verdicts.js";

export interface MemoryWriterParts extends LedgerParts, Omit<ProposingParts, "ledger"> {
  readonly openExtractor: (settings: ExtractorSettings) => Extractor;
  /** Whether the caller may write, but learn nothing of what others recorded. */
  readonly reads_nothing?: boolean;
}

export interface ExtractOptions extends RulesPassOptions {
  /** A model, which reads sessions masked. */
  readonly model?: ExtractorSettings | undefined;
  /** How many tokens it is sent in a day, all runs together; 200,000. */
  readonly daily_tokens?: number | undefined;
  /** It reads sessions with at least so many entries; 20. */
  readonly entries_min?: number | undefined;
  /** Only say what the model would be sent: nothing is sent, and nothing is proposed. */
  readonly dry_run?: boolean | undefined;
}

export class MemoryWriter {
  readonly #parts: MemoryWriterParts;
  readonly #proposing: Proposing;
  readonly #verdicts: Verdicts;
  /** The passes over the record; background learning runs them too. */
  readonly passes: Passes;

  constructor(parts: MemoryWriterParts) {
    this.#parts = parts;
    const ledger = new MemoryLedger(parts);
    this.#proposing = new Proposing({ ...parts, ledger });
    this.#verdicts = new Verdicts({ ...parts, ledger });
    this.passes = new Passes({
      calls: parts.calls,
      writeContext: parts.writeContext,
      propose: (proposal) => this.#propose(proposal),
      reinforced: (turn) => ledger.entries.reinforced(turn, RULE),
      attempt: (entries) => ledger.attempt(entries),
    });
  }

  /** Adds a memory on a person's word, or proposes one, which passes the gates or is dropped by one of them. */
  async add({ status, memory }: NewMemory): Promise<MemorySummary | DroppedProposal | TakenProposal> {
    if (status === "active") return this.#proposing.add(memory);
    // How sure a program is of itself counts for nothing: what it proposes begins as every candidate does.
    const given = memory.proposal.source === "person" ? memory : { ...memory, confidence: undefined };
    const own = { ...given, limited_ms: this.#parts.writeContext.nowMs() };
    if (this.#parts.reads_nothing !== true) return this.#proposing.propose(own);
    await this.#proposing
      .propose({ ...own, cites_only: this.#parts.writeContext.recorded_by ?? "" })
      .catch(ignoreRejection);
    return TAKEN;
  }

  promote(id: string, verdict: ParsedVerdict): Promise<MemorySummary> {
    return this.#verdicts.promote(id, verdict);
  }

  reject(id: string, verdict: ParsedVerdict): Promise<MemorySummary> {
    return this.#verdicts.reject(id, verdict);
  }

  supersede(id: string, verdict: ParsedVerdict): Promise<MemorySummary> {
    return this.#verdicts.supersede(id, verdict);
  }

  async verdicts(verdicts: ParsedVerdicts): Promise<VerdictsGiven> {
    const memories = await this.#verdicts.several(verdicts);
    const { pending } = await this.#parts.calls.listMemories({ limit: 0 });
    return { memories, pending };
  }

  /** Proposes the statements of a memory file, each with its source in the record; those without one are dropped. */
  async proposeFile(file: FileText): Promise<readonly ProposedStatement[]> {
    const proposed: ProposedStatement[] = [];
    for (const { line, proposal } of await this.#parts.calls.statementsOf(file)) {
      const answer = await this.#propose(proposal);
      proposed.push({ line, statement: proposal.content, answer });
    }
    return proposed;
  }

  /**
   * Writes down in the session what it was given, once, so nothing of it is learned there as if it were new. A store that
   * cannot be written is asked all the same.
   */
  async noteRecall(
    { session_id, project }: { readonly session_id: string; readonly project: string },
    { memories_used }: Recalled,
  ): Promise<void> {
    if (session_id === "" || memories_used.length === 0) return;
    const id = `recall:${hash("sha256", JSON.stringify([session_id, ...memories_used]))}`;
    const said = { source: RECALL_SOURCE, record: { memories: memories_used } };
    const draft = { kind: "raw", id, body: { session_id, ...(project === "" ? {} : { project }), ...said } } as const;
    const packed = pack(draft, this.#parts.writeContext);
    if (packed instanceof Rejection) return;
    await this.#parts.commit.append([packed.entry]).catch((error: unknown) => {
      if (!(error instanceof Fault)) throw error;
    });
  }

  /** What rules find over the record, proposed; with a model, also what it finds in sessions that have ended. */
  async extract({ model, daily_tokens: tokens, dry_run, entries_min, ...pass }: ExtractOptions): Promise<Extraction> {
    const daily_tokens = orThrow(parseDailyTokens(tokens));
    const extractor = model === undefined ? undefined : this.#parts.openExtractor(model);
    const { session_id, project } = pass;
    if (dry_run === true) {
      const asked = { daily_tokens, session_id, project, entries_min };
      const planned = extractor && (await this.passes.planModel({ extractor, ...asked }));
      return { ...nothingExtracted, ...(planned === undefined ? {} : { planned }) };
    }
    const found = await this.passes.extract(pass);
    if (extractor === undefined) return found;
    return together(
      found,
      await this.passes.extractByModel({ extractor, daily_tokens, session_id, project, entries_min }),
    );
  }

  async extractOne(interaction_id: string): Promise<Extraction> {
    return orThrow((await this.passes.extractOne(interaction_id)) ?? interactionNotFound(interaction_id));
  }

  /** Counts which memories were given, used and confirmed over the record; each turn once. */
  reinforce(pass: PassOptions): Promise<Reinforcement> {
    return this.passes.reinforce(pass);
  }

  async reinforceOne(interaction_id: string): Promise<Reinforcement> {
    return orThrow((await this.passes.reinforceOne(interaction_id)) ?? interactionNotFound(interaction_id));
  }

  /** What no caller has given an id or a name to: it is its source's. */
  #propose(proposal: Proposal): Promise<MemorySummary | DroppedProposal> {
    return this.#proposing.propose({ id: undefined, proposal, confidence: undefined, actor: proposal.source });
  }
}

const nothingExtracted: Extraction = {
  candidates: [],
  dropped: [],
  dropped_by_gate: {},
  looked_at: { entries: 0, users: 0, assistants: 0, decisions: 0, tool_calls: 0 },
  passed_over: [],
  through: 0,
};

const RULE = "rule";

/** Why it was refused, such as an id that is taken, depends on what others recorded. */
function ignoreRejection(error: unknown): void {
  if (!(error instanceof RecorderError)) throw error;
}

export const extractOptionNames = [
  ...passOptionNames,
  ...optionNames<Omit<ExtractOptions, keyof PassOptions>>({
    words: true,
    dry_run: true,
    entries_min: true,
    model: true,
    daily_tokens: true,
  }),
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
