// Claude Code's transcripts: a line for each block of an answer, each tool result and each note. Also the request and
// response bodies that it stores next to them, which alone contain exactly what the model was given, and its notes
// about subagents.
import { contentTexts } from "../model/content.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { anthropicUsage, toUsage } from "../model/usage.js";
import { idOf, sessionOf } from "./identity.js";
import type {
  DocumentImporter,
  ImportSource,
  ImportStep,
  LineImporter,
  Opening,
  SourceFacts,
  SourceOf,
  SourceRecord,
} from "./importer.js";
import { LineTimes } from "./line-times.js";
import { oneByOne } from "./lines.js";
import { Branches, type BranchesState, Rewinds, type RewindsState } from "./transcript/branches.js";
import { objectIn, onlyText, splitInjected, textAt } from "./transcript/fields.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import {
  type Origin,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "claude-code", lacks: ["system prompt", "tool definitions", "context as sent"] };

/** The details of a result repeat it, so they are stored only for lines up to this length. */
const DETAIL_LINE_BYTES_MAX = 8 * 1024;
const INJECTED =
  /<(command-[a-z-]+|local-command-[a-z-]+|bash-[a-z-]+|task-notification|system-reminder|ide_[a-z_]+)\b/;
const NOTED = ["summary", "file-history-snapshot", "queue-operation", "ai-title", "custom-title", "progress", "system"];

export const claudeCodeImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some(isLine),
  read,
};

/** Sessions exported from its web interface: the same lines in one document. */
export const claudeCodeDocumentImporter: DocumentImporter = {
  format: tool.format,
  reads: "document",
  recognises: ({ document }: Opening) =>
    isJsonObject(document) && Array.isArray(document.loglines) && document.loglines.some((line) => isLine(line)),
  read: readDocument,
};

function isLine(record: JsonValue): boolean {
  if (!isJsonObject(record) || "role" in record || "payload" in record) return false;
  const { type, message } = record;
  if (type === "user" || type === "assistant") return message !== undefined;
  if (type === undefined && "sessionId" in record && isJsonObject(message)) return typeof message.role === "string";
  if (type === "started" || type === "result") return "agentId" in record && "key" in record;
  return NOTED.includes(String(type)) && ["sessionId", "leafUuid", "uuid"].some((name) => name in record);
}

async function* read(source: ImportSource): AsyncGenerator<Iterable<ImportStep>> {
  const sessions = new ClaudeSessions(source, source.resume.state as ClaudeState | undefined);
  source.resume.onSave(() => sessions.state());
  for await (const records of source.records()) yield sessions.takeAll(records);
  yield sessions.end();
}

async function* readDocument(source: SourceOf<"document">): AsyncGenerator<ImportStep | Iterable<ImportStep>> {
  const sessions = new ClaudeSessions(source);
  for await (const item of source.values("loglines.*")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) yield sessions.take(item.line, item.value, 0);
    else yield { line: item.line, reason: "the item is no object" };
  }
  yield sessions.end();
}

interface ClaudeState {
  readonly key: string;
  readonly transcript: TranscriptState;
  readonly sessions: ReadonlyMap<string, SessionState>;
  readonly title_ranks: ReadonlyMap<string, number>;
  readonly rewinds: ReadonlyMap<string, RewindsState>;
  readonly branches: BranchesState;
}

class ClaudeSessions {
  readonly #transcript: Transcript;
  readonly #stem: string;
  /** The session of lines without one: the first that another line names, otherwise the name of folder or file. */
  readonly #key: string;
  readonly #sessions: Map<string, TranscriptSession>;
  readonly #titleRanks: Map<string, number>;
  readonly #branches: Branches;
  readonly #rewinds: Map<string, Rewinds>;

  constructor(source: SourceFacts, known?: ClaudeState) {
    const transcript = new Transcript(tool, source, known?.transcript);
    this.#transcript = transcript;
    this.#sessions = new Map([...(known?.sessions ?? [])].map(([name, note]) => [name, transcript.revive(note)]));
    this.#titleRanks = new Map(known?.title_ranks);
    this.#branches = new Branches(tool.format, known?.branches);
    this.#rewinds = new Map([...(known?.rewinds ?? [])].map(([id, note]) => [id, new Rewinds(note)]));
    this.#stem = source.stem;
    // Titles and snapshots without a time come first, and the file's own time may be that of a copy.
    const [begun] = source.opening.records.flatMap((record) => textAt(record, "timestamp") ?? []);
    this.#transcript.times.take(begun);
    const folder = /([^\\/]+)[\\/]subagents[\\/]/.exec(source.path)?.[1];
    const [said] = source.opening.records.flatMap((record) => textAt(record, "sessionId") ?? []);
    this.#key = known?.key ?? said ?? folder ?? source.stem;
  }

  state(): ClaudeState {
    const sessions = new Map([...this.#sessions].map(([name, session]) => [name, session.state()]));
    const rewinds = new Map([...this.#rewinds].map(([id, turns]) => [id, turns.state()]));
    return {
      key: this.#key,
      transcript: this.#transcript.state(),
      sessions,
      title_ranks: this.#titleRanks,
      rewinds,
      branches: this.#branches.state(),
    };
  }

  *takeAll(records: Iterable<SourceRecord>): Generator<ImportStep> {
    for (const item of records) {
      if ("reason" in item) yield item;
      else yield* this.take(item.line, item.record, item.bytes);
    }
  }

  *take(line: number, record: JsonObject, bytes: number): Generator<ImportStep> {
    const native = textAt(record, "uuid");
    const { timestamp: at } = record;
    const origin: Origin =
      native === undefined ? { line, at, identity: [JSON.stringify(record)] } : { line, at, native };
    const session = this.#sessionOf(record);
    const facts = {
      cwd: textAt(record, "cwd"),
      git_branch: textAt(record, "gitBranch"),
      version: textAt(record, "version"),
      parent: isJsonObject(record.forkedFrom) ? textAt(record.forkedFrom, "sessionId") : undefined,
    };
    if (session.isNew(facts)) yield* session.about(origin, facts);
    const { message } = record;
    const type = record.type ?? (isJsonObject(message) ? message.role : undefined);
    if (type === "assistant" && isJsonObject(message)) yield* this.#assistant(session, origin, record, message);
    else if (type === "user" && isJsonObject(message) && "content" in message)
      yield* this.#user(session, origin, record, message, bytes);
    else yield* this.#noted(session, origin, record);
  }

  *end(): Generator<ImportStep> {
    for (const session of this.#sessions.values()) yield* session.close();
  }

  #sessionOf(record: JsonObject): TranscriptSession {
    const agent = /^agent-(.+)$/.exec(this.#stem)?.[1];
    const key = textAt(record, "sessionId") ?? this.#key;
    if (record.isSidechain !== true && agent === undefined) return this.#session(key);
    const id = textAt(record, "agentId") ?? agent;
    return this.#session(key, id === undefined ? "sidechain" : `agent-${id}`);
  }

  #session(key: string, child?: string): TranscriptSession {
    const name = child === undefined ? key : `${key}\0${child}`;
    let session = this.#sessions.get(name);
    if (session === undefined) {
      const main = this.#transcript.session(key);
      session = child === undefined ? main : main.child(child);
      this.#sessions.set(name, session);
    }
    return session;
  }

  *#assistant(
    session: TranscriptSession,
    origin: Origin,
    record: JsonObject,
    message: JsonObject,
  ): Generator<ImportStep> {
    if (record.isApiErrorMessage === true) {
      yield* session.close();
      const error = contentTexts(message.content).join("\n");
      yield session.error({ ...origin, extra: { request_id: record.requestId ?? null } }, error, "api");
      return;
    }
    const blocks = blocksOf(message.content);
    const part = origin.native ?? String(origin.line);
    const model = textAt(message, "model");
    const id = textAt(message, "id");
    const results = blocks.filter((block) => typeof block.tool_use_id === "string");
    this.#rewindsOf(session).say(id ?? part);
    yield* session.say(id ?? part, id === undefined ? origin : { ...origin, native: id }, {
      line: origin.line,
      at: origin.at,
      parts: partsOf(part, blocks),
      model,
      // Messages that the tool itself wrote in the model's place cost nothing.
      usage: model === "<synthetic>" ? undefined : toUsage(message.usage, anthropicUsage),
      extra: { ...given("message_id", id), ...given("request_id", textAt(record, "requestId")) },
    });
    for (const [index, block] of results.entries()) yield* this.#result(session, origin, block, index, undefined);
  }

  *#user(
    session: TranscriptSession,
    origin: Origin,
    record: JsonObject,
    message: JsonObject,
    bytes: number,
  ): Generator<ImportStep> {
    const blocks = blocksOf(message.content);
    const results = blocks.filter((block) => block.type === "tool_result");
    const detail = bytes <= DETAIL_LINE_BYTES_MAX ? record.toolUseResult : undefined;
    for (const [index, block] of results.entries()) yield* this.#result(session, origin, block, index, detail);
    if (results.length > 0 && results.length === blocks.length) return;
    const spoken = blocks.filter((block) => block.type !== "tool_result");
    const { content, injected } = splitInjected(results.length > 0 ? spoken : (message.content ?? ""), INJECTED);
    // Messages that no user typed: a wake-up, or permission to continue.
    const isOwn = record.isMeta === true || record.isCompactSummary === true || record.promptSource === "system";
    const isInjected = isOwn || content === undefined;
    if (isInjected && results.length === 0) yield* session.queue(session.raw(origin, record));
    else if (isInjected)
      yield* session.queue(session.raw(besides(origin), { ...record, message: { content: spoken } }));
    else {
      yield* session.close();
      const place = results.length > 0 ? besides(origin) : origin;
      if (results.length === 0) yield* this.#ask(session, origin, record);
      // Text next to results belongs to the current turn, and is withdrawn with it.
      else if (place.native !== undefined) this.#rewindsOf(session).say(place.native);
      const extra = injected.length === 0 ? undefined : { injected };
      yield session.message({ ...place, extra }, { role: "user", content });
    }
  }

  /** Another prompt with the same parent was withdrawn, with everything that followed it. */
  *#ask(session: TranscriptSession, origin: Origin, record: JsonObject): Generator<ImportStep> {
    // Several side chains may begin at the same parent.
    if (origin.native === undefined || record.isSidechain === true) return;
    const left = this.#rewindsOf(session).ask(origin.native, textAt(record, "parentUuid"));
    yield* this.#branches.applySwitch(session, { left, back: [] });
  }

  #rewindsOf(session: TranscriptSession): Rewinds {
    let rewinds = this.#rewinds.get(session.id);
    if (rewinds === undefined) {
      rewinds = new Rewinds();
      this.#rewinds.set(session.id, rewinds);
    }
    return rewinds;
  }

  *#result(
    session: TranscriptSession,
    origin: Origin,
    block: JsonObject,
    index: number,
    detail: JsonValue | undefined,
  ): Generator<ImportStep> {
    const call_id = textAt(block, "tool_use_id") ?? "";
    const ms = isJsonObject(detail) ? (detail.durationMs ?? detail.totalDurationMs) : undefined;
    const result = onlyText(block.content) ?? block.content ?? "";
    const step = session.result({
      ...origin,
      native: call_id === "" ? origin.native : `result:${call_id}`,
      ...(call_id === "" && origin.native === undefined ? { identity: [block, index] } : {}),
      call_id,
      result,
      is_error: typeof block.is_error === "boolean" ? block.is_error : undefined,
      duration_ms: typeof ms === "number" ? ms : undefined,
      extra: {
        ...given("uuid", origin.native),
        ...(detail === undefined || typeof detail === "string" ? {} : { tool_use_result: withoutText(detail, result) }),
      },
    });
    yield* session.queue(step);
  }

  /** Its own notes: errors and titles are interpreted, and everything is kept as it is. */
  *#noted(session: TranscriptSession, origin: Origin, record: JsonObject): Generator<ImportStep> {
    if (record.type === "system" && isJsonObject(record.message) && record.message.role === "system") {
      yield* session.queue(session.message(origin, { role: "system", content: record.message.content ?? "" }));
      return;
    }
    if (record.type === "system" && record.subtype === "api_error") {
      const reason = record.content ?? (isJsonObject(record.error) ? record.error.message : record.error);
      const error = typeof reason === "string" && reason !== "" ? reason : JSON.stringify(record.error ?? "api error");
      yield* session.queue(session.error({ ...origin, extra: { record } }, error, "api"));
      return;
    }
    yield* session.queue(session.raw({ ...origin, is_once: true }, record));
    const rank = titleNames.findIndex(([type]) => type === record.type);
    const title = rank === -1 ? undefined : textAt(record, titleNames[rank]?.[1] as string);
    if (title === undefined || rank < (this.#titleRanks.get(session.id) ?? 0)) return;
    this.#titleRanks.set(session.id, rank);
    for (const step of session.about(origin, { title, metadata: {} })) yield* session.queue(step);
  }
}

/** The fields of titles; a later row takes precedence. */
const titleNames: readonly (readonly [type: string, name: string])[] = [
  ["summary", "summary"],
  ["ai-title", "aiTitle"],
  ["custom-title", "customTitle"],
];

/** A second entry that comes from one line. */
function besides(origin: Origin): Origin {
  return origin.native === undefined
    ? { ...origin, identity: ["beside", ...(origin.identity ?? [])] }
    : { ...origin, native: `${origin.native}:text` };
}

function blocksOf(content: JsonValue | undefined): readonly JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.map((block) => (isJsonObject(block) ? block : { type: "text", text: String(block) }));
}

/** The blocks of an answer; tool uses become calls, without the results of tools that the provider ran. */
function partsOf(id: string, blocks: readonly JsonObject[]): readonly AnswerPart[] {
  const parts = blocks.flatMap((block): readonly AnswerPart[] => {
    if (block.type === "text") return [{ id, text: textAt(block, "text") ?? "" }];
    if (block.type === "thinking" || block.type === "redacted_thinking") return [{ id, thinking: block }];
    if (typeof block.tool_use_id === "string") return [];
    if (typeof block.name === "string" && typeof block.id === "string") {
      return [{ id, call: { id: block.id, name: block.name, args: block.input ?? {} } }];
    }
    return [{ id, block }];
  });
  return parts.length === 0 ? [{ id }] : parts;
}

/** Every text is stored once; the details of a result usually repeat it. */
function withoutText(detail: JsonValue, text: JsonValue): JsonValue {
  if (!isJsonObject(detail) || typeof text !== "string" || text === "") return detail;
  return Object.fromEntries(Object.entries(detail).filter(([, value]) => value !== text));
}

function given(name: string, value: string | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value };
}

const FORMAT = "claude-code";

/** A request's body: each becomes an interaction with everything that was sent. */
export const claudeRequestImporter: DocumentImporter = {
  format: FORMAT,
  reads: "document",
  recognises: ({ document, name }: Opening) =>
    isJsonObject(document) &&
    Array.isArray(document.messages) &&
    (name.endsWith(".request.json") || sessionIn(document.metadata) !== undefined),
  read: readRequest,
};

/** A response's body. If the index names its request, it is read with that. */
export const claudeResponseImporter: DocumentImporter = {
  format: FORMAT,
  reads: "document",
  recognises: ({ document, name }: Opening) =>
    name.endsWith(".response.json") && isJsonObject(document) && document.type === "message",
  read: readResponse,
};

/** The index of a folder of bodies: which response belongs to which request. */
export const claudeIndexImporter: LineImporter = {
  format: FORMAT,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some((record) => nameIn(record, ".request.json") !== undefined),
  read: readIndex,
};

/** The note next to a subagent's transcript. */
export const claudeAgentNoteImporter: DocumentImporter = {
  format: FORMAT,
  reads: "document",
  recognises: ({ document, name }: Opening) =>
    name.endsWith(".meta.json") && isJsonObject(document) && typeof document.agentType === "string",
  read: readAgentNote,
};

async function* readRequest(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  for await (const item of source.values("")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) yield { line: item.line, entry: toInteraction(source, item.value) };
  }
}

function toInteraction(source: SourceOf<"document">, body: JsonObject) {
  const { messages = [], system, tools, model, ...settings } = body;
  const session = sessionIn(body.metadata);
  const native_id = requestName(source.path);
  const { id, isNative } = idOf(FORMAT, native_id);
  return {
    kind: "interaction",
    id,
    ...(session === undefined ? {} : { session_id: sessionOf(FORMAT, session).session_id }),
    client: FORMAT,
    ...new LineTimes(source).take(undefined),
    prompt: promptOf(messages),
    ...(typeof model === "string" ? { model } : {}),
    context_pack: { messages, ...(system === undefined ? {} : { system }), ...(tools === undefined ? {} : { tools }) },
    extra: { request: settings, ...(isNative ? {} : { native_id }) },
  };
}

/** The file is named after the request's id. */
function requestName(path: string): string {
  return /([^\\/]+?)(?:\.request)?(?:\.json)?$/.exec(path)?.[1] ?? "";
}

/** The user's last text; if there are only tool results, their texts. */
function promptOf(messages: JsonValue): string {
  const users = Array.isArray(messages)
    ? messages.filter((message) => isJsonObject(message) && message.role === "user")
    : [];
  const last = users.at(-1);
  const content = isJsonObject(last) ? last.content : undefined;
  const results = Array.isArray(content)
    ? content.filter(isJsonObject).flatMap((block) => contentTexts(block.content))
    : [];
  const words = [contentTexts(content).join("\n"), results.join("\n"), JSON.stringify(content ?? "nothing was said")];
  return words.find((text) => text.trim() !== "") as string;
}

/** The user's id contains the session, as JSON or at its end. */
function sessionIn(metadata: JsonValue | undefined): string | undefined {
  const user = isJsonObject(metadata) ? textAt(metadata, "user_id") : undefined;
  return user === undefined ? undefined : /(?:_session_|"session_id"\s*:\s*")([0-9A-Za-z-]+)/.exec(user)?.[1];
}

async function* readIndex(source: ImportSource): AsyncGenerator<ImportStep> {
  // Each line is independent.
  source.resume.onSave(() => ({}));
  for await (const item of oneByOne(source.records())) {
    if ("reason" in item) {
      yield item;
      continue;
    }
    const request = nameIn(item.record, ".request.json");
    const response = nameIn(item.record, ".response.json");
    // A request that was never answered has nothing to join.
    if (request === undefined || response === undefined) continue;
    const body = objectIn(await source.siblings.read(response));
    if (body === undefined) yield { line: item.line, reason: `${response}, which it names, cannot be read` };
    else yield { line: item.line, entry: toResponse(requestName(request), response, body, item.record) };
  }
}

function toResponse(request: string, file: string, body: JsonObject, joined: JsonObject) {
  const usage = toUsage(body.usage, anthropicUsage);
  const request_id = file.replace(/\.response\.json$/, "");
  return {
    kind: "response",
    id: idOf(FORMAT, `${request}:response`).id,
    interaction_id: idOf(FORMAT, request).id,
    ...(typeof joined.timestamp === "string" ? { created_at: joined.timestamp } : {}),
    response: contentTexts(body.content).join("\n"),
    ...(typeof body.model === "string" ? { model: body.model } : {}),
    ...(usage === undefined ? {} : { usage }),
    extra: { request_id, message_id: body.id ?? null, content: body.content ?? null },
  };
}

/** The last path segment with this ending, in any field of the record. */
function nameIn(record: JsonObject, ending: string): string | undefined {
  const found = Object.values(record).find((value) => typeof value === "string" && value.endsWith(ending));
  return typeof found === "string" ? found.replace(/^.*[\\/]/, "") : undefined;
}

async function* readResponse(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const name = source.path.replace(/^.*[\\/]/, "");
  if ((await source.siblings.read("index.jsonl"))?.includes(name)) return;
  const transcript = new Transcript({ format: FORMAT, lacks: [] }, source);
  for await (const item of source.values("")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) {
      // Its request is not recorded.
      const origin = { line: item.line, at: undefined, native: textAt(item.value, "id"), identity: [item.value] };
      const { entry } = transcript.session(name).raw(origin, item.value);
      yield { line: item.line, entry: { ...entry, session_id: "" } };
    }
  }
}

async function* readAgentNote(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const [, key, agent] = /([^\\/]+)[\\/]subagents[\\/](?:.*[\\/])?agent-([^\\/]+)\.meta\.json$/.exec(source.path) ?? [];
  if (key === undefined || agent === undefined) {
    yield { line: 0, reason: "it is a note about a subagent, but its folder does not tell of which session" };
    return;
  }
  const { agentType, description, ...rest } = await source.header([
    "agentType",
    "description",
    "worktreePath",
    "toolUseId",
  ]);
  const session = new Transcript({ format: FORMAT, lacks: [] }, source).session(key).child(`agent-${agent}`);
  const metadata = { agent_type: agentType ?? "", ...(description === undefined ? {} : { description }), ...rest };
  for (const step of session.about({ line: 1, at: undefined }, { metadata })) {
    // The transcript itself says where it was read.
    if ("entry" in step) yield { ...step, entry: { ...step.entry, metadata } };
  }
}
