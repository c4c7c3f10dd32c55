// Memories in the library: listed, proposed, decided by a person, and recalled.
import { type ExtractOptions, extractOptionNames, type MemoryWriter } from "../memories/memory-writer.js";
import { type PassOptions, passOptionNames } from "../memories/passes.js";
import type {
  DroppedProposal,
  Extraction,
  FileAudit,
  MemoryDetail,
  MemoryList,
  MemorySummary,
  ProposedStatement,
  Recalled,
  Reinforcement,
  TakenProposal,
  VerdictsGiven,
} from "../memories/review/memory-answers.js";
import type {
  EditOptions,
  FileInput,
  MemoryInput,
  ProposalInput,
  VerdictOptions,
  VerdictsInput,
} from "../memories/review/memory-input.js";
import type { MemoryListOptions, RecallOptions } from "../memories/review/memory-query.js";
import { isJsonObject } from "../model/json.js";
import { knownOptions } from "../model/options.js";
import { RecorderError } from "../model/rejection.js";
import type { OperationMethods } from "../operations/index.js";

/** The passes over the whole record. */
export type MemoryPasses = Pick<MemoryWriter, "extract" | "reinforce">;

export class Memories {
  readonly #operations: OperationMethods;
  readonly #passes: MemoryPasses;

  constructor(operations: OperationMethods, passes: MemoryPasses) {
    this.#operations = operations;
    this.#passes = passes;
  }

  /** Memories, newest first; with `status: "candidate"` the queue, best first. */
  list(options: MemoryListOptions = {}): Promise<MemoryList> {
    return this.#operations.listMemories(options);
  }

  /** One memory with its history; undefined if there is none. */
  get(id: string): Promise<MemoryDetail | undefined> {
    return this.#operations.getMemory(id);
  }

  /** How many candidates wait for review. */
  async pending(): Promise<number> {
    return (await this.list({ limit: 0 })).pending;
  }

  /** What a model should be given, within a token budget; pass it to `recordInteraction` unchanged. */
  recall(options: RecallOptions = {}): Promise<Recalled> {
    return this.#operations.recall(options);
  }

  /**
   * Proposes a statement, which passes the gates or is dropped by one of them. Only a person's verdict makes it active. With a key
   * of scope `capture`, a server only says that it was taken.
   */
  async propose(input: ProposalInput): Promise<MemorySummary | DroppedProposal | TakenProposal> {
    return this.#operations.addMemory(withStatus("candidate", input));
  }

  /** Adds a person's memory: it is active at once. */
  async add(input: MemoryInput): Promise<MemorySummary> {
    return (await this.#operations.addMemory(withStatus("active", input))) as MemorySummary;
  }

  /** Promotes a candidate to a memory, with another wording if one is given. */
  promote(id: string, options?: EditOptions): Promise<MemorySummary> {
    return this.#operations.promoteMemory(id, options);
  }

  /** Rejects a candidate, so it is not proposed again. */
  reject(id: string, options?: VerdictOptions): Promise<MemorySummary> {
    return this.#operations.rejectMemory(id, options);
  }

  /** Retires a memory or a candidate; with content, another memory replaces it. */
  supersede(id: string, options?: EditOptions): Promise<MemorySummary> {
    return this.#operations.supersedeMemory(id, options);
  }

  /** Verdicts on several candidates: all or none. */
  verdicts(input: VerdictsInput): Promise<VerdictsGiven> {
    return this.#operations.giveVerdicts(input);
  }

  /** Checks every statement of a memory file against the record; nothing is recorded. */
  audit(input: FileInput): Promise<FileAudit> {
    return this.#operations.auditMemoryFile(input);
  }

  /** Proposes the statements of a memory file, each with its source in the record; those without one are dropped. */
  async proposeFile(input: FileInput): Promise<readonly ProposedStatement[]> {
    return (await this.#operations.importMemoryFile(input)).statements;
  }

  /**
   * Proposes what rules find, in one interaction or in the whole record; with a model, also what that finds in sessions
   * that have ended. It can be stopped and run again: nothing is done twice.
   */
  async extract(options: ExtractOptions = {}): Promise<Extraction> {
    const { interaction_id, ...pass } = knownOptions(options, extractOptionNames);
    return interaction_id === undefined ? this.#passes.extract(pass) : this.#operations.extractMemories(interaction_id);
  }

  /**
   * Counts which memories were given, used and confirmed, in one interaction or in the whole record; each turn once.
   */
  async reinforce(options: PassOptions = {}): Promise<Reinforcement> {
    const { interaction_id, ...pass } = knownOptions(options, passOptionNames);
    return interaction_id === undefined
      ? this.#passes.reinforce(pass)
      : this.#operations.reinforceMemories(interaction_id);
  }
}

/** Which method is called decides the status; what is no object is refused further in. */
function withStatus<I extends object, S extends string>(status: S, input: I): I & { readonly status: S } {
  if (!isJsonObject(input)) return input as I & { readonly status: S };
  if (!("status" in input)) return { ...input, status };
  throw new RecorderError({ code: "field_invalid", field: "status", message: 'there is no field "status" here' });
}
