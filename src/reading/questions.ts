// All that can be asked of what was recorded: each question with what it takes and what it is answered with.
//
// Whoever holds an index answers: in this thread, in one of its own, or on another machine. A new question is a line here
// and a row of `reading/answers.ts` and of `recorder/remote/remote-reading.ts`.

import type { EntryCounts, RowKey, RowQuery, SessionRange } from "../index/port.js";
import type { LogSelection } from "../log/log-selection.js";
import type { AuditedStatement, FileText, FoundStatement } from "../memories/files/file-audit.js";
import type { Hearing, Judged, StatementWish, Twin } from "../memories/judge/judged.js";
import type { MemoryListQuery, RecallQuery } from "../memories/read/memory-query.js";
import type { MemoryDetail, MemoryList } from "../memories/read/memory-reader.js";
import type { MemorySummary } from "../memories/read/memory-view.js";
import type { PassRange, ProposalStep, RulesFound, TurnUses, TurnWish, UsesStep } from "../memories/read/pass-steps.js";
import type { QuotedEntry } from "../memories/read/quoted-entry.js";
import type { Recalled } from "../memories/recall/recalled.js";
import type { Context, OfAnswer, Told } from "../model/context.js";
import type { Entry, ErasedEntry, Interaction, InteractionSummary } from "../model/entry.js";
import type { Evidence, Proposal } from "../model/memory.js";
import type { ReflectionReport } from "../model/report.js";
import type { Contradiction, Verification } from "../model/verification.js";
import type { ReflectionQuery } from "../reflect/read/reflection-query.js";
import type { EntryJson, EntryWish } from "../search/lists/entry-reader.js";
import type { InteractionQuery, ListQuery } from "../search/lists/list-query.js";
import type { EntryList, InteractionList } from "../search/lists/reader.js";
import type { SearchQuery } from "../search/search-query.js";
import type { SearchPage } from "../search/searcher.js";
import type { ConsolidationPlan, History } from "../sessions/history/history.js";
import type { HistoryQuery, SessionListQuery, TimelineQuery } from "../sessions/session-query.js";
import type { SessionList, SessionSummary, Timeline } from "../sessions/session-reader.js";
import type { UsageQuery } from "../usage/usage-query.js";
import type { UsageReport } from "../usage/usage-reader.js";

interface Questions {
  listInteractions(query: InteractionQuery): InteractionList<Interaction | InteractionSummary>;
  listEntries(query: ListQuery): EntryList;
  getById(id: string): Entry | ErasedEntry | undefined;
  getByPosition(position: number): Entry | ErasedEntry | undefined;
  /** The same as JSON, large parts as they were recorded; for whoever sends it on. */
  getJson(wish: EntryWish): EntryJson | undefined;
  /** One entry with its secrets masked, for whoever shows it; masking much text takes long. */
  shownEntry(wish: EntryWish): Entry | ErasedEntry | undefined;
  count(): EntryCounts;
  listSessions(query: SessionListQuery): SessionList;
  sessionSummary(session_id: string): SessionSummary | undefined;
  /** The summary with nothing masked, for exports that hand the record itself on. */
  recordedSummary(session_id: string): SessionSummary | undefined;
  timeline(query: TimelineQuery): Timeline;
  sessionPositions(range: SessionRange): readonly number[];
  history(query: HistoryQuery): History;
  /** The same with its secrets masked. */
  shownHistory(query: HistoryQuery): History;
  planConsolidation(wish: { readonly session_id: string; readonly through: number }): ConsolidationPlan;
  /** What a model was given for an answer; undefined where there is no such entry. */
  context(wish: EntryWish): OfAnswer<Context> | undefined;
  /** Whether a phrase lay before it, in the form that searches compare. */
  told(wish: EntryWish & { readonly phrase: string }): OfAnswer<Told> | undefined;
  search(query: SearchQuery): SearchPage;
  sessionHistory(wish: { readonly query: SearchQuery; readonly phrase: string }): string;
  reflect(query: ReflectionQuery): ReflectionReport;
  /** Tokens and cost of calls to models, each counted once. */
  usage(query: UsageQuery): UsageReport;
  listMemories(query: MemoryListQuery): MemoryList;
  getMemory(id: string): MemoryDetail | undefined;
  /** Those of these that there are. */
  memoriesById(ids: readonly string[]): readonly MemorySummary[];
  recall(query: RecallQuery): Recalled;
  /** What becomes of a proposal, by the record and by what is known already. */
  judge(proposal: Proposal): Judged;
  /** What rules find in the next stretch of the log. */
  proposalsIn(range: PassRange): ProposalStep;
  proposalsOfInteraction(id: string): RulesFound | undefined;
  /** Which memories the turns used that begin in the next stretch of the log. */
  usesIn(range: PassRange): UsesStep;
  usesOfTurn(wish: TurnWish): TurnUses | "waiting" | undefined;
  /** What the record says of every statement in a memory file. */
  auditFile(file: FileText): readonly AuditedStatement[];
  /** The statements of a memory file as proposals, with who said so in the record. */
  statementsOf(file: FileText): readonly FoundStatement[];
  /** What was said in a session, masked, for a model to read. */
  quotableOf(session_id: string): readonly QuotedEntry[];
  /** How many tokens models were sent since then, as the audit says. */
  tokensSentSince(since_ms: number): number;
  /** Memories that say just this. */
  twins(wish: StatementWish): readonly Twin[];
  /** Whose words these are. */
  hear(evidence: readonly Evidence[]): Hearing;
  /** How many candidates wait for a verdict; undefined while the index is being built. */
  pendingMemories(): number | undefined;
  /** Places of entries, newest first; for those who may pass over none. */
  positions(query: RowQuery): readonly RowKey[];
  /** Positions by what the log itself says, in order, for those who may pass over none whatever became of the index. */
  selectFromLog(selection: LogSelection): readonly number[];
  /** Those of these positions, of entries that are there, whose rows in the index are not what the log makes of them. */
  strangeRows(positions: readonly number[]): readonly number[];
  verify(): Verification;
  /** What the index remembers of the log and the log no longer holds. */
  contradiction(): Contradiction | undefined;
  /** Brings the index up to the log as it is, and lets go of what it remembers of another one. */
  acceptLog(): void;
  indexState(): IndexState;
  /** Indexes until no more than so much waits, for a moment at most; for whoever loads much and wants reads to stay quick. */
  keepUp(bounds: KeepUpBounds): void;
  /** Builds the index anew, beside the present one, which answers until the new one takes its place. */
  rebuildIndex(): void;
  /** Position through which a rebuild has come; undefined while there is none. */
  rebuiltThrough(): number | undefined;
  /** Removes what forgotten entries left in the index's files; answers with what is left, in words. */
  purgeIndex(): string | undefined;
}

export type Question = keyof Questions;
export type QueryOf<Q extends Question> = Parameters<Questions[Q]>[0];
/** A query, or nothing where the question takes none. */
export type Asked<Q extends Question> = Parameters<Questions[Q]>;
export type AnswerTo<Q extends Question> = ReturnType<Questions[Q]>;

export interface IndexState {
  /** Position through which the index has followed the log. */
  readonly indexed_through: number;
  /** The same of its texts, which come behind. */
  readonly texts_through: number;
  /** False while answers lack older entries. */
  readonly is_whole: boolean;
}

export interface KeepUpBounds {
  readonly rows_waiting_max: number;
  readonly texts_waiting_max: number;
  readonly within_ms: number;
}

/** One way to ask, whoever answers. */
export interface Asking {
  ask<Q extends Question>(question: Q, ...query: Asked<Q>): Promise<AnswerTo<Q>>;
}

export interface Reading extends Asking {
  /** Word that the log has grown, so that the index follows soon. Answers do not depend on it. */
  grown(): void;
  close(): Promise<void>;
}
