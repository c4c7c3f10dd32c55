// The public interface of the library.
export type { Captured } from "./capture/capture.js";
export type { Verification } from "./custody/verify.js";
export type {
  CaptureKind,
  CompletionInput,
  Entry,
  EntryInput,
  EntryOf,
  EntrySummary,
  ErasedEntry,
  Interaction,
  InteractionInput,
  InteractionSummary,
  Kind,
} from "./model/entry.js";
export { Fault, type FaultCode } from "./model/fault.js";
export type { JsonObject, JsonValue } from "./model/json.js";
export { RecorderError, type RejectionCode } from "./model/rejection.js";
export type { EntryCounts } from "./ports/entry-index.js";
export type { EntryListOptions, InteractionListOptions } from "./read/list-query.js";
export type { EntryList, InteractionList } from "./read/reader.js";
export { type AppendResult, type Health, openRecorder, Recorder, type RecorderOptions } from "./recorder.js";
