// Calls of the memory loop to the thread that has the index. They belong to no surface.
import type { EntryIndex } from "../index/port.js";
import type { Entry, ErasedEntry } from "../model/entry.js";
import type { Evidence } from "../model/memory.js";
import type { AnswerContext, CallsOf } from "../reading/call-table.js";
import type { SessionList } from "../sessions/session-summary.js";
import type { FileText } from "./files/file-audit.js";
import type { ScopedProposal, ScopedStatement } from "./judge/judgement.js";
import type { MemoryJudge } from "./judge/memory-judge.js";
import type { PassRange, TurnQuery } from "./pass-steps.js";
import type { MemoryDetail, MemoryList, Recalled } from "./review/memory-answers.js";
import type { MemoryListOptions, RecallOptions } from "./review/memory-query.js";
import type { MemoryReader } from "./review/memory-reader.js";

export interface MemoryReaders {
  readonly index: EntryIndex;
  readonly memories: MemoryReader;
  readonly review: () => Promise<MemoryJudge>;
}

type Parts = AnswerContext<MemoryReaders>;

/** How many entries are indexed for a caller that must not wait. */
const FEW_ENTRIES = 1_000;

export const memoryCalls = {
  memoriesById: ({ index }: Parts, ids: readonly string[]) => index.whole(({ memories }) => memories.byId(ids)),
  /** Judges a proposal by the record and the known memories. */
  judge: ({ index }: Parts, proposal: ScopedProposal) =>
    index.whole(async ({ review }) => (await review()).judge(proposal)),
  /** Memories that say exactly this. */
  duplicatesOf: ({ index }: Parts, statement: ScopedStatement) =>
    index.whole(async ({ review }) => (await review()).duplicatesOf(statement)),
  /** Who said these quotes. */
  resolveEvidence: ({ index }: Parts, evidence: readonly Evidence[]) =>
    index.whole(async ({ review }) => (await review()).resolveEvidence(evidence)),
  /** What rules find in the next range of the log. */
  proposalsIn: ({ log, index }: Parts, range: PassRange) =>
    index.whole(async ({ review }) => (await review()).proposalsIn(log, range)),
  proposalsOfInteraction: ({ log, index }: Parts, id: string) =>
    index.whole(async ({ review }) => (await review()).proposalsOfInteraction(log, id)),
  /** Which memories the turns used that begin in the next range of the log. */
  usesIn: ({ log, index }: Parts, range: PassRange) =>
    index.whole(async ({ review }) => (await review()).usesIn(log, range)),
  usesOfTurn: ({ index }: Parts, turn: TurnQuery) =>
    index.whole(async ({ review }) => (await review()).usesOfTurn(turn)),
  /** The statements of a memory file as proposals, with who said so in the record. */
  statementsOf: ({ index }: Parts, file: FileText) =>
    index.whole(async ({ review }) => (await review()).statements(file)),
  /** What a model reads of a session, masked. */
  digestOf: ({ index }: Parts, session_id: string) =>
    index.whole(async ({ review }) => (await review()).digestOf(session_id)),
  /** How many tokens models were sent since then. */
  tokensSentSince: ({ index }: Parts, since_ms: number) =>
    index.whole(async ({ review }) => (await review()).tokensSentSince(since_ms)),
  /** How many candidates wait for review; undefined while the index is being built. */
  async pendingMemories({ log, index }: Parts): Promise<number | undefined> {
    // This caller waits neither for an index that is being built nor for one that is far behind.
    const { is_whole, indexed_through } = await index.state();
    if (!is_whole) return undefined;
    const isFar = (await log.head()).position - indexed_through > FEW_ENTRIES;
    const count = ({ memories }: MemoryReaders): Promise<number> => memories.pending();
    return isFar ? index.asItStands(count) : index.whole(count);
  },
};

export type MemoryCalls = CallsOf<typeof memoryCalls>;

/** Operations that the memory loop uses. */
interface MemoryOperations {
  listSessions(options: {
    readonly limit: number;
    readonly cursor: string;
    readonly project: string | undefined;
  }): Promise<SessionList>;
  listMemories(options: MemoryListOptions): Promise<MemoryList>;
  getMemory(id: string): Promise<MemoryDetail | undefined>;
  recall(options: RecallOptions): Promise<Recalled>;
  getEntry(id: string): Promise<Entry | ErasedEntry | undefined>;
}

/** All reads of the memory loop: its own calls and operations. */
export interface MemoryReads extends MemoryCalls, MemoryOperations {}
