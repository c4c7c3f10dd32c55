// The client SDK: what an agent imports, as `hansard-client` or as `hansard/client`.
export { recordingMiddleware } from "./adapters/ai-sdk.js";
export { type CallbackRecorder, recordingCallbacks } from "./adapters/langchain.js";
export { type ReadingRecorder, recordedSession } from "./adapters/openai-agents.js";
export { recordingTraces } from "./adapters/openai-agents-traces.js";
export type { ClientRecorder, ClientSession } from "./client-recorder.js";
export { type ConnectOptions, connectRecorder } from "./client-recorder.js";
export type { CaptureLabels, InteractionRecorder } from "./default-labels.js";
export type * from "./entries.js";
export type { Captured, Counters, Problem } from "./outcomes.js";
export { type RecordingFetchOptions, recordingFetch } from "./recording-fetch.js";
