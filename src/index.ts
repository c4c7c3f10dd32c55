// The public interface of the library.

export type { ExportFormat, ExportOptions } from "./export/exports.js";
export type { PageVerification } from "./export/share/verify-page.js";
export type { KeyStore } from "./guard/keys.js";
export type {
  ImportedFile,
  ImportOptions,
  ImportProgress,
  ImportReport,
  RejectedLine,
} from "./import/import-files.js";
export { type FoundPlace, findInPlaces, type KnownPlace, knownPlaces, placeVariables } from "./import/places.js";
export { importFormats } from "./import/registry.js";
export type { LostFile, Watch, WatchCounts, WatchOptions } from "./import/watch/watch-files.js";
export { DERIVATION } from "./index/derivation.js";
export type { EntryIndex } from "./index/port.js";
export type { Captured } from "./log/capture/capture.js";
export type { OnRecorded, RecordedEntry } from "./log/capture/recorded-hooks.js";
export type { WithinOptions } from "./log/capture/within.js";
export type {
  ForgetOptions,
  Forgotten,
  Retained,
  RetentionOptions,
  RetentionRule,
  Scrubbed,
  ScrubOptions,
} from "./log/forgetting/forget-requests.js";
export type { SecretFinding } from "./log/forgetting/recorded-secrets.js";
export type { EntryLog } from "./log/port.js";
export type { LearningOptions } from "./memories/background/learning.js";
export type { ExtractOptions } from "./memories/memory-writer.js";
export type { PassOptions } from "./memories/passes.js";
export type { ExtractorSettings } from "./memories/propose/extractor.js";
export type {
  Acceptance,
  AuditedStatement,
  DroppedProposal,
  DroppedStatement,
  Extraction,
  FileAudit,
  MemoryDetail,
  MemoryEvent,
  MemoryList,
  MemorySummary,
  MemoryUseInTurn,
  ProposedStatement,
  Recalled,
  Reinforced,
  Reinforcement,
  VerdictsGiven,
  WordsInContext,
} from "./memories/review/memory-answers.js";
export type {
  EditOptions,
  FileInput,
  MemoryInput,
  ProposalInput,
  VerdictOptions,
  VerdictsInput,
} from "./memories/review/memory-input.js";
export type { MemoryListOptions, RecallOptions } from "./memories/review/memory-query.js";
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
export type { Contradiction, KnownHead, Seal, Verification } from "./model/verification.js";
export type { EntryCounts } from "./operations/count.js";
export type { TailOptions } from "./reading/tail/tail-query.js";
export type { Memories } from "./recorder/memories.js";
export { openRecorder, type RecorderOptions } from "./recorder/open-recorder.js";
export type { EngineParts } from "./recorder/open-store-parts.js";
export type { SessionHistoryOptions } from "./recorder/operation-methods.js";
export {
  type AcceptLogOptions,
  type AppendResult,
  type EntryListOptions,
  type Health,
  type InteractionListOptions,
  type RebuildIndexOptions,
  Recorder,
  type ReflectionOptions,
  type SearchOptions,
  type SessionListOptions,
  type Tail,
  type VerifyOptions,
} from "./recorder/recorder.js";
export {
  type HistoryOptions,
  Session,
  type SessionEnvelope,
  type SessionLabels,
  type TimelineOptions,
} from "./recorder/session.js";
export type { Facets } from "./search/facets.js";
export type { EntryList, InteractionList } from "./search/lists/entry-pages.js";
export type { Elsewhere } from "./search/other-kinds.js";
export type { SearchHit, SearchPage } from "./search/searcher.js";
export type {
  AnthropicBlock,
  AnthropicHistory,
  AnthropicMessage,
  OpenAiCall,
  OpenAiMessage,
} from "./sessions/history/model-input.js";
export type { SessionOutline } from "./sessions/session-outline.js";
export type { HistoryFormat } from "./sessions/session-query.js";
export type { SessionList, SessionSummary, Timeline } from "./sessions/session-summary.js";
export type { SessionTree, TreeNode } from "./sessions/session-tree.js";
export type { PricesFrom } from "./usage/price-table.js";
export type { UsageDivision, UsageReport, UsageRow, UsageTotal } from "./usage/usage-report.js";
