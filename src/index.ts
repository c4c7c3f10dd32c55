// The public interface of the library.
export type { LearningOptions } from "./background/learning.js";
export type { Captured } from "./capture/capture.js";
export type { OnRecorded, RecordedEntry } from "./capture/recorded-hooks.js";
export type { Surroundings } from "./capture/surroundings.js";
export type { ForgetOptions } from "./custody/forget-wish.js";
export type { Forgotten, Retained, RetentionOptions, Scrubbed, ScrubOptions } from "./custody/forgotten.js";
export type { RetentionRule } from "./custody/retention.js";
export type { SecretFinding } from "./custody/scrubbing.js";
export type { ExportFormat, ExportOptions } from "./export/export-query.js";
export type {
  ImportedFile,
  ImportOptions,
  ImportProgress,
  ImportReport,
  RejectedLine,
} from "./import/import-files.js";
export { type FoundPlace, findInPlaces, type KnownPlace, knownPlaces, placeVariables } from "./import/places.js";
export { importFormats } from "./import/registry.js";
export type { Watch, WatchCounts, WatchOptions } from "./import/watch/watch-files.js";
export type {
  Context,
  ContextChange,
  ContextSource,
  EntryPlace,
  FallReason,
  GivenMessage,
  GivenPlace,
  LedTo,
  Told,
} from "./model/context.js";
export type {
  AlteredEntry,
  AlteredInteraction,
  CaptureKind,
  CompletionInput,
  Entry,
  EntryInput,
  EntryOf,
  EntrySummary,
  ErasedEntry,
  ErasedInteraction,
  FeedbackInput,
  Interaction,
  InteractionInput,
  InteractionSummary,
  Kind,
  ListedEntry,
} from "./model/entry.js";
export { Fault, type FaultCode } from "./model/fault.js";
export type { JsonObject, JsonValue } from "./model/json.js";
export type { Evidence, Memory, MemorySource, MemoryStatus, MemoryType } from "./model/memory.js";
export { RecorderError, type RejectionCode } from "./model/rejection.js";
export type {
  DecisionReport,
  DislikedItem,
  ErrorGroup,
  Insight,
  LowConfidenceItem,
  ReflectionReport,
  ToolReport,
  Topic,
  Trend,
} from "./model/report.js";
export type { Seal } from "./model/seal.js";
export type { Contradiction, KnownHead, Verification } from "./model/verification.js";
export { openRecorder, type RecorderOptions } from "./open-recorder.js";
export type { EngineParts } from "./open-sides.js";
export type { EntryCounts, EntryIndex } from "./ports/entry-index.js";
export type { EntryLog } from "./ports/entry-log.js";
export type { ExtractorSettings } from "./ports/extractor.js";
export type { KeyStore } from "./ports/key-store.js";
export type { AnthropicHistory, AnthropicMessage } from "./read/history/anthropic.js";
export type { OpenAiCall, OpenAiMessage } from "./read/history/openai.js";
export type { EntryListOptions, InteractionListOptions } from "./read/list-query.js";
export type { Acceptance } from "./read/memories/acceptance.js";
export type { AuditedStatement } from "./read/memories/file-audit.js";
export type { DroppedProposal } from "./read/memories/judged.js";
export type { MemoryListOptions, RecallOptions } from "./read/memories/memory-query.js";
export type { MemoryDetail, MemoryEvent, MemoryList } from "./read/memories/memory-reader.js";
export type { MemoryUseInTurn, WordsInContext } from "./read/memories/memory-uses.js";
export type { MemorySummary } from "./read/memories/memory-view.js";
export type { Recalled } from "./read/memories/recalled.js";
export type { EntryList, InteractionList } from "./read/reader.js";
export type { ReflectionOptions } from "./read/reflection-query.js";
export type { Elsewhere } from "./read/search/elsewhere.js";
export type { Facets } from "./read/search/facets.js";
export type { SearchOptions, SessionHistoryOptions } from "./read/search/search-query.js";
export type { SearchHit, SearchPage } from "./read/search/searcher.js";
export type { HistoryFormat, HistoryOptions, SessionListOptions, TimelineOptions } from "./read/session-query.js";
export type { SessionList, SessionSummary, Timeline } from "./read/session-reader.js";
export type { PricesFrom } from "./read/usage/price-table.js";
export type { UsageDivision, UsageOptions } from "./read/usage/usage-query.js";
export type { UsageReport, UsageRow, UsageTotal } from "./read/usage/usage-reader.js";
export {
  type AcceptLogOptions,
  type AppendResult,
  type Health,
  type RebuildIndexOptions,
  Recorder,
  type Tail,
  type VerifyOptions,
} from "./recorder.js";
export type { ExtractOptions, FileAudit, Memories, ProposedStatement, VerdictsGiven } from "./review/memories.js";
export type {
  EditOptions,
  FileInput,
  MemoryInput,
  ProposalInput,
  VerdictOptions,
  VerdictsInput,
} from "./review/memory-input.js";
export type { DroppedStatement, Extraction, PassOptions, Reinforced, Reinforcement } from "./review/passes.js";
export { Session, type SessionEnvelope, type SessionLabels } from "./session.js";
export type { TailOptions } from "./tail/read-tail.js";
