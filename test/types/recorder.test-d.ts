// The types of the public interface: what callers may give, what they get back, and what the compiler must refuse.
import { expectTypeOf } from "vitest";
import {
  type AlteredEntry,
  type AnthropicHistory,
  type AppendResult,
  type Captured,
  type CaptureKind,
  type Entry,
  type EntryCounts,
  type EntryInput,
  type EntryList,
  type EntryOf,
  type ErasedEntry,
  type ErasedInteraction,
  Fault,
  type FaultCode,
  type Health,
  type HistoryOptions,
  type ImportReport,
  type Interaction,
  type InteractionList,
  type InteractionSummary,
  type JsonObject,
  type JsonValue,
  type ListedEntry,
  type OpenAiMessage,
  openRecorder,
  type Recorder,
  RecorderError,
  type ReflectionReport,
  type RejectionCode,
  type SearchHit,
  type SearchPage,
  type Session,
  type SessionLabels,
  type SessionList,
  type SessionSummary,
  type Tail,
  type Timeline,
  type Verification,
} from "../../src/index.js";

declare const recorder: Recorder;
declare const interaction: Interaction;
declare const entry: Entry;
declare const summary: InteractionSummary;

// Opening.
expectTypeOf(openRecorder).returns.resolves.toEqualTypeOf<Recorder>();
expectTypeOf(openRecorder).toBeCallableWith();
expectTypeOf(openRecorder).toBeCallableWith({ data: "memory:", create: false });
// @ts-expect-error A path is text.
void openRecorder({ data: 5 });
// @ts-expect-error An option that does not exist is a compile error.
void openRecorder({ path: "record" });

// Recording interactions.
expectTypeOf(recorder.recordInteraction).returns.resolves.toEqualTypeOf<Interaction>();
expectTypeOf(recorder.recordInteraction).toBeCallableWith({ prompt: "p" });
expectTypeOf(recorder.recordInteraction).toBeCallableWith({
  prompt: "p",
  id: "i",
  created_at: "2026-11-15",
  project: null,
  memories_used: ["m", 7, true],
  context_pack: { any: [1, { thing: new Date() }] },
  usage: { input_tokens: 1 },
  latency_ms: null,
  extra: { note: 1 },
});
// @ts-expect-error A prompt is what makes an interaction.
void recorder.recordInteraction({ response: "r" });
// @ts-expect-error References are no objects.
void recorder.recordInteraction({ prompt: "p", memories_used: [{}] });
// @ts-expect-error Milliseconds are a number.
void recorder.recordInteraction({ prompt: "p", latency_ms: "5" });

// Completing them.
expectTypeOf(recorder.completeInteraction).returns.resolves.toEqualTypeOf<Interaction>();
expectTypeOf(recorder.completeInteraction).toBeCallableWith("i", { response: "r", model: "m", chunks_used: [1] });
// @ts-expect-error A response takes its project from the interaction.
void recorder.completeInteraction("i", { response: "r", project: "p" });

// Appending.
expectTypeOf(recorder.append).returns.resolves.toEqualTypeOf<AppendResult>();
expectTypeOf<AppendResult["status"]>().toEqualTypeOf<"recorded" | "already_recorded">();
expectTypeOf<AppendResult["entries"]>().toEqualTypeOf<readonly Captured[]>();
expectTypeOf(recorder.append).toBeCallableWith({ kind: "clear", session_id: "s" });
expectTypeOf(recorder.append).toBeCallableWith([{ kind: "error", error: "e" }]);
expectTypeOf(recorder.append).toBeCallableWith({
  kind: "message",
  session_id: "s",
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c" }],
});
expectTypeOf<EntryInput["kind"]>().toEqualTypeOf<CaptureKind>();
expectTypeOf<CaptureKind>().toEqualTypeOf<
  | "interaction"
  | "response"
  | "message"
  | "tool_call"
  | "error"
  | "decision"
  | "consolidation"
  | "clear"
  | "withdrawal"
  | "feedback"
  | "session_info"
  | "raw"
>();
declare const part: { readonly type: "text"; readonly text: string; readonly at: Date };
expectTypeOf(recorder.append).toBeCallableWith({ kind: "message", session_id: "s", role: "user", content: [part] });
expectTypeOf(recorder.append).toBeCallableWith({ kind: "raw", source: "x", record: { at: new Date() } });
// @ts-expect-error A consolidation says how far it goes.
void recorder.append({ kind: "consolidation", session_id: "s" });
// @ts-expect-error A response completes something.
void recorder.append({ kind: "response", response: "r" });
// @ts-expect-error A record came from somewhere.
void recorder.append({ kind: "raw", record: {} });
// @ts-expect-error A title belongs to a session.
void recorder.append({ kind: "session_info", title: "t" });
// @ts-expect-error A field of another kind is a mistake.
void recorder.append({ kind: "error", error: "e", prompt: "p" });
// @ts-expect-error A message belongs to a session.
void recorder.append({ kind: "message", role: "user", content: "c" });
// @ts-expect-error Reserved kinds are the log's own.
void recorder.append({ kind: "audit", action: "export" });
// @ts-expect-error An entry has a kind.
void recorder.append({ error: "e" });

// Reading.
expectTypeOf(recorder.listInteractions()).resolves.toEqualTypeOf<InteractionList>();
expectTypeOf(recorder.listInteractions({ project: "web" })).resolves.toEqualTypeOf<InteractionList>();
expectTypeOf(recorder.listInteractions({ full: true })).resolves.toEqualTypeOf<InteractionList<Interaction>>();
expectTypeOf(recorder.listInteractions).toBeCallableWith({ project: "-", since: "7d", limit: 5, memory: "m" });
expectTypeOf(recorder.listEntries).returns.resolves.toEqualTypeOf<EntryList>();
expectTypeOf<EntryList["entries"]>().toEqualTypeOf<readonly ListedEntry[]>();
expectTypeOf<InteractionList["next_cursor"]>().toEqualTypeOf<string | null>();
expectTypeOf(recorder.getInteraction).returns.resolves.toEqualTypeOf<Interaction | ErasedInteraction | undefined>();
expectTypeOf(recorder.getEntry).returns.resolves.toEqualTypeOf<Entry | ErasedEntry | undefined>();
expectTypeOf(recorder.getEntry).parameter(0).toEqualTypeOf<string | number>();
expectTypeOf(recorder.count).returns.resolves.toEqualTypeOf<EntryCounts>();
expectTypeOf(recorder.reflect).returns.resolves.toEqualTypeOf<ReflectionReport>();
expectTypeOf(recorder.reflect).toBeCallableWith();
expectTypeOf(recorder.reflect).toBeCallableWith({ limit: 100, project: "p", since: "7d", kind: "error" });
expectTypeOf<ReflectionReport["topics"][number]["entry_ids"]>().toEqualTypeOf<readonly string[]>();
// @ts-expect-error Reflection has no pages.
void recorder.reflect({ cursor: "c" });
expectTypeOf(recorder.verify).returns.resolves.toEqualTypeOf<Verification>();
expectTypeOf(recorder.health).returns.resolves.toEqualTypeOf<Health>();
expectTypeOf(recorder.close).returns.resolves.toBeVoid();
// A cursor goes back as it came, null included.
expectTypeOf(recorder.listEntries).toBeCallableWith({ cursor: null as string | null });
// @ts-expect-error A filter that does not exist is a mistake.
void recorder.listEntries({ projects: "p" });

// What is read back.
expectTypeOf(interaction.prompt).toEqualTypeOf<string>();
expectTypeOf(interaction.response).toEqualTypeOf<string>();
expectTypeOf(interaction.memories_used).toEqualTypeOf<readonly string[]>();
expectTypeOf(interaction.context_pack).toEqualTypeOf<JsonObject>();
expectTypeOf(interaction.latency_ms).toEqualTypeOf<number | undefined>();
expectTypeOf(interaction.response_id).toEqualTypeOf<string | undefined>();
expectTypeOf(interaction.kind).toEqualTypeOf<"interaction">();
expectTypeOf(interaction.position).toEqualTypeOf<number>();
expectTypeOf(summary.response_chars).toEqualTypeOf<number>();
expectTypeOf<InteractionSummary>().not.toHaveProperty("response");
expectTypeOf<InteractionSummary>().not.toHaveProperty("context_pack");
// @ts-expect-error What was recorded is not changed, not even in memory.
interaction.prompt = "another";
// @ts-expect-error Nor are its lists.
interaction.memories_used.push("m");

// The kind of an entry tells its fields apart.
if (entry.kind === "tool_call") {
  expectTypeOf(entry).toEqualTypeOf<EntryOf<"tool_call">>();
  expectTypeOf(entry.result).toEqualTypeOf<JsonValue>();
  expectTypeOf(entry.is_error).toEqualTypeOf<boolean | undefined>();
}
// @ts-expect-error Not every kind has a prompt.
void entry.prompt;

// Errors.
expectTypeOf(RecorderError).instance.toExtend<Error>();
expectTypeOf(RecorderError).instance.toHaveProperty("code").toEqualTypeOf<RejectionCode>();
expectTypeOf(RecorderError).instance.toHaveProperty("field").toEqualTypeOf<string | undefined>();
expectTypeOf(Fault).instance.toExtend<Error>();
expectTypeOf(Fault).instance.toHaveProperty("code").toEqualTypeOf<FaultCode>();
expectTypeOf(Fault).instance.toHaveProperty("hint").toEqualTypeOf<string>();

// Verification says which of its two shapes it is.
declare const verification: Verification;
if (verification.ok) expectTypeOf(verification.hash).toEqualTypeOf<string>();
else expectTypeOf(verification.reason).toEqualTypeOf<string>();

// Sessions.
declare const session: Session;
expectTypeOf(recorder.session).toEqualTypeOf<(id: string, labels?: SessionLabels) => Session>();
expectTypeOf(recorder.listSessions).returns.resolves.toEqualTypeOf<SessionList>();
expectTypeOf(recorder.listSessions).toBeCallableWith({ project: "-", client: "c", limit: 5, cursor: null });
expectTypeOf<SessionList["sessions"]>().toEqualTypeOf<readonly SessionSummary[]>();
expectTypeOf<SessionList["next_cursor"]>().toEqualTypeOf<string | null>();
expectTypeOf(session.id).toEqualTypeOf<string>();
expectTypeOf(session.message).returns.resolves.toEqualTypeOf<Captured>();
expectTypeOf(session.message).toBeCallableWith({ role: "user", content: "c", id: "m", project: "p" });
expectTypeOf(session.message).toBeCallableWith({ role: "assistant", content: null, tool_calls: [{ id: "c" }] });
expectTypeOf(session.toolCall).toBeCallableWith({ tool: "t", args: { a: 1 }, result: [null], is_error: true });
expectTypeOf(session.error).toBeCallableWith({ error: "e", context: "c" });
expectTypeOf(session.decision).toBeCallableWith({ decision: "d", confidence: 0.5 });
expectTypeOf(session.info).toBeCallableWith({ title: "t", metadata: { m: [1] }, parent: "p" });
expectTypeOf(session.interaction).toBeCallableWith({ prompt: "p", error: "overloaded" });
expectTypeOf(session.interaction).returns.resolves.toEqualTypeOf<Interaction>();
expectTypeOf(session.withdraw).toBeCallableWith(3, { id: "w" });
expectTypeOf(recorder.feedback).toBeCallableWith({ entry_id: "e", score: -1, label: "wrong", comment: null });
expectTypeOf(recorder.feedback).returns.resolves.toEqualTypeOf<Captured>();
expectTypeOf<Captured["unknown_fields"]>().toEqualTypeOf<readonly string[] | undefined>();
// @ts-expect-error Feedback is about an entry.
void recorder.feedback({ score: 1 });
expectTypeOf(session.clear).toBeCallableWith();
expectTypeOf(session.clear).returns.resolves.toEqualTypeOf<Captured>();
expectTypeOf(session.consolidate).toBeCallableWith(5, { summary: "s" });
expectTypeOf(session.consolidate).returns.resolves.toEqualTypeOf<{ readonly through: number }>();
expectTypeOf(session.summary).returns.resolves.toEqualTypeOf<SessionSummary | undefined>();
expectTypeOf(session.entries).returns.resolves.toEqualTypeOf<Timeline>();
expectTypeOf(session.entries).toBeCallableWith({ order: "desc", limit: "5", cursor: null });
expectTypeOf<Timeline["entries"]>().toEqualTypeOf<readonly ListedEntry[]>();
// @ts-expect-error The session is given already.
void session.message({ session_id: "other", role: "user", content: "c" });
// @ts-expect-error A message has a role.
void session.message({ content: "c" });
// @ts-expect-error A tool has a name.
void session.toolCall({ result: "r" });
// @ts-expect-error A position is a number.
void session.consolidate("5");

// History has the shape of the provider that was asked for; a format known only later gives either.
declare const options: HistoryOptions;
expectTypeOf(await session.history()).toEqualTypeOf<OpenAiMessage[]>();
expectTypeOf(await session.history({ max_messages: 5 })).toEqualTypeOf<OpenAiMessage[]>();
expectTypeOf(await session.history({ format: "openai" })).toEqualTypeOf<OpenAiMessage[]>();
expectTypeOf(await session.history({ format: "anthropic" })).toEqualTypeOf<AnthropicHistory>();
expectTypeOf(await session.history(options)).toEqualTypeOf<OpenAiMessage[] | AnthropicHistory>();
expectTypeOf<OpenAiMessage["role"]>().toEqualTypeOf<"system" | "user" | "assistant" | "tool">();
expectTypeOf<AnthropicHistory["system"]>().toEqualTypeOf<string>();
// @ts-expect-error An option that does not exist is a mistake.
void session.history({ messages: 5 });

// Import and export.
expectTypeOf(recorder.importFiles).returns.resolves.toEqualTypeOf<ImportReport>();
expectTypeOf(recorder.importFiles).toBeCallableWith(["sessions", "-"], { timezone: "UTC", onProgress: () => {} });
expectTypeOf(recorder.importFiles).toBeCallableWith("session.jsonl");
expectTypeOf(recorder.exportEntries()).toExtend<AsyncIterable<string>>();
expectTypeOf(recorder.exportEntries).toBeCallableWith({ format: "nanobot", session_id: "s", since: "7d" });
// @ts-expect-error A cursor is for lists; an export has no pages.
void recorder.exportEntries({ cursor: "c" });

expectTypeOf(recorder.search("x")).resolves.toEqualTypeOf<SearchPage>();
expectTypeOf(
  recorder.search("x", { kind: "error", role: "user", since: "7d", facets: true, limit: 5 }),
).resolves.toEqualTypeOf<SearchPage>();
expectTypeOf<SearchPage["results"]>().toEqualTypeOf<readonly SearchHit[]>();
expectTypeOf<SearchHit["matches"]>().toEqualTypeOf<readonly (readonly [start: number, end: number])[]>();
expectTypeOf<SearchHit>().toHaveProperty("position");
expectTypeOf(recorder.sessionHistory({ query: "x", role: "user", limit: 3 })).resolves.toEqualTypeOf<string>();
expectTypeOf(recorder.sessionHistory("x", "user", 3)).resolves.toEqualTypeOf<string>();
// @ts-expect-error A query is text.
void recorder.search(5);
// @ts-expect-error An agent asks with a query.
void recorder.sessionHistory({ role: "user" });

// A tail is an endless iterable of whole entries, and is closed by its opener.
const tail = recorder.tail({ after: 5, kind: "error", session_id: "s" });
expectTypeOf(tail).toEqualTypeOf<Tail>();
expectTypeOf(tail.next).returns.resolves.toEqualTypeOf<IteratorResult<Entry | AlteredEntry, undefined>>();
expectTypeOf(tail.started).returns.resolves.toEqualTypeOf<number>();
for await (const entry of recorder.tail()) expectTypeOf(entry).toEqualTypeOf<Entry | AlteredEntry>();
expectTypeOf(recorder.tail).toBeCallableWith({ after: "12", project: "p", client: "c", role: "user" });
// @ts-expect-error A tail has no limit.
recorder.tail({ limit: 5 });
