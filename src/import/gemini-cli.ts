// Gemini CLI's chats: lines, where the last line of an id counts, or the older form of one document. Rewound messages
// are withdrawn.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Injection } from "../model/roles.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import { hashedId } from "./identity.js";
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
import { oneByOne } from "./lines.js";
import { Branches, type BranchesState } from "./transcript/branches.js";
import { blockTexts, objectAt, splitInjected, textAt } from "./transcript/fields.js";
import {
  type Origin,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "gemini-cli", lacks: ["system prompt", "tool definitions", "working folder"] };

const usageNames: UsageNames = {
  input_tokens: [["input"]],
  output_tokens: [["output"]],
  cache_read_tokens: [["cached"]],
  reasoning_tokens: [["thoughts"]],
};
const SPEAKERS = ["user", "gemini", "model", "info", "error", "warning"];
/** What it adds to the model's input as user messages. */
const injectionsByTag = { session_context: "environment", hook_context: "hook", state_snapshot: "summary" } as const;
const INJECTED = /<(session_context|hook_context|state_snapshot)\b/;
const HEADER = ["sessionId", "projectHash", "startTime", "lastUpdated", "summary", "kind", "directories"];

export const geminiCliImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  rereads: true,
  // A document on one line is a header with its messages, unless lines follow it.
  recognises: ({ records }: Opening) =>
    records.some((record) => isHeader(record) && (records.length > 1 || !Array.isArray(record.messages))),
  read,
};

export const geminiCliDocumentImporter: DocumentImporter = {
  format: tool.format,
  reads: "document",
  recognises: ({ document }: Opening) =>
    isJsonObject(document) &&
    Array.isArray(document.messages) &&
    (isHeader(document) || document.messages.some((message) => isJsonObject(message) && message.type === "gemini")),
  read: readDocument,
};

function isHeader(record: JsonObject): boolean {
  return textAt(record, "sessionId") !== undefined && "projectHash" in record;
}

async function* read(source: ImportSource): AsyncGenerator<Iterable<ImportStep>> {
  const known = source.resume.state as GeminiNote | undefined;
  const survey = new Survey(known);
  for await (const item of oneByOne(source.records())) if ("record" in item) survey.add(item.line, item.record);
  const chat = new Chat(source, known?.chat);
  await chat.lookAround();
  source.resume.onSave((): GeminiNote => ({ chat: chat.state(), ...survey.state() }));
  yield chat.turn(survey);
  for await (const records of source.records()) yield chat.takeAll(records, survey);
}

interface GeminiNote extends SurveyNote {
  readonly chat: ChatNote;
}

interface SurveyNote {
  readonly standing: readonly string[];
  readonly is_by_line: boolean;
}

interface ChatNote {
  readonly transcript: TranscriptState;
  readonly session: SessionState;
  readonly branches: BranchesState;
  readonly start: JsonValue | undefined;
  readonly calls: ReadonlySet<string>;
  readonly listed: ReadonlySet<string>;
  readonly said: readonly SaidMessage[];
}

/** A message that was recorded, by which the tool's copies of it are recognised. */
interface SaidMessage {
  readonly id: string;
  readonly key: string;
  readonly natives: readonly string[];
}

/** So many of the newest messages are remembered; a compaction keeps the last third at most. */
const SAID_MAX = 2_000;

/** The last line of each id, and the messages that were rewound and not written again afterwards. */
class Survey {
  readonly #lastLines = new Map<string, number>();
  /** The same for messages in lists; a message with a line of its own is read from that. */
  readonly #lastLists = new Map<string, number>();
  readonly #rewound = new Set<string>();
  readonly #known: readonly string[];
  /** In the order of the conversation. */
  readonly #standing: Set<string>;
  /** Whether messages have lines of their own: a list of them is then what the model was given, and adds nothing. */
  #isByLine: boolean;

  /** Begins with the messages known from the last reading. */
  constructor(known?: SurveyNote) {
    this.#known = known?.standing ?? [];
    this.#standing = new Set(this.#known);
    this.#isByLine = known?.is_by_line ?? false;
  }

  state(): SurveyNote {
    return { standing: this.standing(), is_by_line: this.#isByLine };
  }

  get isByLine(): boolean {
    return this.#isByLine;
  }

  /**
   * The messages that a line lists, if they have no line of their own; a header's belong to a chat that continued on
   * lines.
   */
  listed(line: number, record: JsonObject): readonly JsonObject[] {
    if (this.#isByLine && !isHeader(record)) return [];
    const isNew = (id: string) => this.#lastLists.get(id) === line || this.#isByLine;
    return listedIn(record).filter(({ id }) => isNew(String(id)) && !this.#lastLines.has(String(id)));
  }

  add(line: number, record: JsonObject): void {
    for (const message of listedIn(record)) this.#lastLists.set(String(message.id), line);
    const id = textAt(record, "id");
    this.#isByLine ||= id !== undefined && (record.type === "user" || record.type === "gemini");
    const to = textAt(record, "$rewindTo");
    if (id !== undefined) {
      this.#standing.add(id);
      this.#lastLines.set(id, line);
      this.#rewound.delete(id);
    } else if (to !== undefined) {
      const order = this.standing();
      // Like the tool itself: an unknown id takes everything back.
      for (const left of order.slice(Math.max(0, order.indexOf(to)))) {
        this.#standing.delete(left);
        this.#rewound.add(left);
      }
    }
  }

  standing(): readonly string[] {
    return [...this.#standing];
  }

  /** What was read before and has been rewound since. */
  left(): readonly string[] {
    return this.#known.filter((id) => !this.#standing.has(id));
  }

  /** Whether a message has a line of its own. */
  hasLine(id: string): boolean {
    return this.#lastLines.has(id);
  }

  isLast(id: string, line: number): boolean {
    return this.#lastLines.get(id) === line;
  }

  isRewound(id: string): boolean {
    return this.#rewound.has(id);
  }
}

/** Messages on one line: all of the chat, when it was resumed, shortened or rewound. */
function listedIn(record: JsonObject): readonly JsonObject[] {
  const { messages } = isHeader(record) ? record : objectAt(record, "$set");
  return Array.isArray(messages) ? messages.filter((message) => isJsonObject(message) && "id" in message) : [];
}

async function* readDocument(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const chat = new Chat(source);
  await chat.lookAround();
  yield* chat.header(1, await source.header(HEADER));
  for await (const item of source.values("messages.*")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) yield* chat.message(item.line, item.value);
    else yield { line: item.line, reason: "the message is not an object" };
  }
}

class Chat {
  readonly #transcript: Transcript;
  readonly #branches: Branches;
  readonly #source: SourceFacts;
  /** Calls within the text of an answer; their results come as text of the user. */
  readonly #calls: Set<string>;
  /** Messages that stand in lists only and were taken from one. */
  readonly #listed: Set<string>;
  readonly #said: SaidMessage[];
  #session: TranscriptSession;
  #start: JsonValue | undefined;
  #folder: string | undefined;

  constructor(source: SourceFacts, known?: ChatNote) {
    const transcript = new Transcript(tool, source, known?.transcript);
    this.#transcript = transcript;
    this.#source = source;
    this.#calls = new Set(known?.calls);
    this.#listed = new Set(known?.listed);
    this.#said = [...(known?.said ?? [])];
    this.#branches = new Branches(tool.format, known?.branches);
    this.#session = known === undefined ? transcript.session(source.stem) : transcript.revive(known.session);
    this.#start = known?.start;
  }

  state(): ChatNote {
    return {
      transcript: this.#transcript.state(),
      session: this.#session.state(),
      branches: this.#branches.state(),
      start: this.#start,
      calls: this.#calls,
      listed: this.#listed,
      said: this.#said,
    };
  }

  /** Newer versions store the project's folder next to the chats; those of subagents are one level deeper. */
  async lookAround(): Promise<void> {
    const { siblings } = this.#source;
    const found = (await siblings.read("../.project_root")) ?? (await siblings.read("../../.project_root"));
    this.#folder = found?.trim() || undefined;
  }

  /** Withdraws what was recorded before it was rewound. */
  turn(survey: Survey): Generator<ImportStep> {
    return this.#branches.applySwitch(this.#session, { left: survey.left(), back: [] });
  }

  *takeAll(records: Iterable<SourceRecord>, survey: Survey): Generator<ImportStep> {
    for (const item of records) {
      if ("reason" in item) yield item;
      else yield* this.#take(item.line, item.record, survey);
    }
    yield* this.#branches.end();
  }

  *#take(line: number, record: JsonObject, survey: Survey): Generator<ImportStep> {
    const id = textAt(record, "id");
    // Only the last message with an id was final.
    if (id !== undefined && !survey.isLast(id, line)) return;
    const isRewound = id !== undefined && survey.isRewound(id);
    if (isHeader(record)) {
      yield* this.header(line, record);
      yield* this.#list(line, record, survey);
    } else if (isJsonObject(record.$set)) {
      const given_list = yield* this.#list(line, record, survey);
      yield* this.#set(line, record.$set, record, given_list);
    } else if (SPEAKERS.includes(String(record.type))) {
      yield* this.#branches.take(this.message(line, record), isRewound);
    } else yield this.#raw(line, record);
  }

  *#list(line: number, record: JsonObject, survey: Survey): Generator<ImportStep, readonly string[]> {
    for (const message of survey.listed(line, record)) yield* this.message(line, message);
    if (!survey.isByLine || isHeader(record)) return [];
    return yield* this.#checkpoint(line, listedIn(record), survey);
  }

  /**
   * What the model is given from here on. It may begin with a summary in place of what was said before. Returns the ids of the
   * entries in the order of the list.
   */
  *#checkpoint(
    line: number,
    messages: readonly JsonObject[],
    survey: Survey,
  ): Generator<ImportStep, readonly string[]> {
    let compaction: string | undefined;
    yield* this.#renew(line, messages, survey);
    const fresh = messages.filter(({ id }) => !survey.hasLine(String(id)) && !this.#listed.has(String(id)));
    for (const { id } of fresh) this.#listed.add(String(id));
    const summary = fresh.find(
      ({ type, content }) => type === "user" && blockTexts(content).includes("<state_snapshot>"),
    );
    if (summary !== undefined) {
      const at = messages.indexOf(summary);
      const kept = [...messages.slice(0, at), ...messages.slice(at + 1)].flatMap((message) => this.#nativesOf(message));
      const origin = { line, at: summary.timestamp, native: String(summary.id) };
      const ids = kept.flatMap((native) => this.#session.idsOf(native));
      this.#note(summary);
      compaction = yield* this.#session.compact(origin, { summary: blockTexts(summary.content), kept: ids });
    }
    for (const message of fresh) {
      const isKnown = message === summary || this.#nativesOf(message).length > 0;
      if (isKnown || responsesIn(message.content) !== undefined) continue;
      this.#note(message);
      yield this.#session.message(
        { line, at: message.timestamp, native: String(message.id) },
        {
          role: message.type === "user" ? "user" : "assistant",
          content: contentOf(message.content),
          injected: injectionOf(blockTexts(message.content)),
        },
      );
    }
    return messages.flatMap((message) => {
      if (message === summary) return compaction ?? [];
      return this.#nativesOf(message).flatMap((native) => this.#session.idsOf(native)[0] ?? []);
    });
  }

  /** A message that stands in lists only may say something else when the session is taken up again: its surroundings changed. */
  *#renew(line: number, messages: readonly JsonObject[], survey: Survey): Generator<ImportStep> {
    for (const message of messages) {
      const id = String(message.id);
      const before = this.#said.findLast((said) => said.id === id);
      const text = blockTexts(message.content);
      if (survey.hasLine(id) || before === undefined || before.key === saidKey(message) || text === "") continue;
      const native = `${id}:${saidKey(message)}`;
      yield* this.#branches.applySwitch(this.#session, { left: before.natives, back: [] });
      this.#said.push({ id, key: saidKey(message), natives: [native] });
      const role = message.type === "user" ? "user" : "assistant";
      const fields = { role, content: contentOf(message.content), injected: injectionOf(text) };
      yield this.#session.message({ line, at: message.timestamp, native }, fields);
    }
  }

  /** The native ids under which a message was recorded, with those of its calls' results; copies have ids of their own. */
  #nativesOf(message: JsonObject): readonly string[] {
    const key = saidKey(message);
    const own = this.#said.findLast(({ id, key: said }) => id === message.id && said === key);
    return (own ?? this.#said.findLast((said) => said.key === key))?.natives ?? [];
  }

  #note(message: JsonObject): void {
    const calls = Array.isArray(message.toolCalls) ? message.toolCalls.filter(isJsonObject) : [];
    const natives = [String(message.id), ...calls.map(({ id }) => `result:${id}`)];
    this.#said.push({ id: String(message.id), key: saidKey(message), natives });
    if (this.#said.length > SAID_MAX) this.#said.shift();
  }

  *header(line: number, record: JsonObject): Generator<ImportStep> {
    const id = textAt(record, "sessionId") ?? this.#session.id;
    const [, parent] = /[\\/]chats[\\/]([^\\/]+)[\\/][^\\/]+$/.exec(this.#source.path) ?? [];
    this.#session =
      record.kind === "subagent" && parent !== undefined
        ? this.#transcript.session(parent).child(`agent-${id}`)
        : this.#transcript.session(id);
    this.#start = record.startTime;
    const [folder] = Array.isArray(record.directories) ? (record.directories as readonly JsonValue[]) : [];
    const origin = { line, at: record.startTime };
    yield* this.#session.about(origin, {
      title: textAt(record, "summary"),
      cwd: typeof folder === "string" ? folder : this.#folder,
      metadata: { ...(record.projectHash === undefined ? {} : { project_hash: record.projectHash }) },
    });
  }

  *#set(line: number, set: JsonObject, record: JsonObject, given_list: readonly string[]): Generator<ImportStep> {
    const origin = { line, at: set.lastUpdated ?? this.#start };
    if (textAt(set, "summary") !== undefined) yield* this.#session.about(origin, { title: textAt(set, "summary") });
    yield this.#raw(line, record, given_list.length === 0 ? undefined : { given_list: [...new Set(given_list)] });
  }

  #raw(line: number, record: JsonObject, extra?: JsonObject): ImportStep {
    const native = textAt(record, "id");
    return this.#session.raw({ line, at: record.timestamp, native, identity: [record], is_once: true, extra }, record);
  }

  *message(line: number, message: JsonObject): Generator<ImportStep> {
    const native = textAt(message, "id");
    const origin = { line, at: message.timestamp, native, ...(native === undefined ? { identity: [message] } : {}) };
    const { type } = message;
    if (type === "user" || type === "gemini" || type === "model") this.#note(message);
    if (type === "user") yield* this.#user(origin, message);
    else if (type === "gemini" || type === "model") yield* this.#answer(origin, message);
    else if (type === "error") yield this.#session.error(origin, blockTexts(message.content) || "unknown error");
    else yield this.#raw(line, message);
  }

  *#user(origin: Origin, message: JsonObject): Generator<ImportStep> {
    const answers = responsesIn(message.content);
    if (answers !== undefined) {
      // What is already in the call is not repeated.
      const open = answers.filter((answer) => this.#calls.delete(String(answer.id)));
      for (const answer of open)
        yield* this.#result(origin, { result: [{ functionResponse: answer }] }, String(answer.id));
      if (open.length < answers.length) yield this.#raw(origin.line, message);
      return;
    }
    const whole = contentOf(message.content);
    const [, command, output] = (typeof whole === "string" ? USER_COMMAND.exec(whole) : undefined) ?? [];
    if (command !== undefined && output !== undefined) {
      const of = { ...origin, ...(origin.native === undefined ? {} : { native: `${origin.native}:command` }) };
      yield this.#session.result({ ...of, call_id: "", tool: "!", args: { command }, result: output });
      yield this.#session.message(origin, { role: "user", content: whole, injected: "output" });
      return;
    }
    const { content, injected } = splitInjected(whole, INJECTED);
    const before = injected.join("\n");
    if (content === undefined) {
      yield this.#session.message(origin, { role: "user", content: whole, injected: injectionOf(before) });
      return;
    }
    if (before !== "") {
      const of =
        origin.native === undefined ? { identity: ["injected", message] } : { native: `${origin.native}:injected` };
      const fields = { role: "user", content: before, injected: injectionOf(before) };
      yield this.#session.message({ ...origin, ...of }, fields);
    }
    const { displayContent } = message;
    const extra =
      displayContent === undefined || displayContent === null ? undefined : { display_content: displayContent };
    yield this.#session.message({ ...origin, extra }, { role: "user", content });
  }

  *#answer(origin: Origin, message: JsonObject): Generator<ImportStep> {
    const session = this.#session;
    const id = origin.native ?? "part";
    const parts = (Array.isArray(message.content) ? message.content : []).filter(isJsonObject);
    const isThought = (part: JsonValue): boolean => isJsonObject(part) && part.thought === true;
    const written = parts.flatMap((part) => (isJsonObject(part.functionCall) ? [part.functionCall] : []));
    const listed = (Array.isArray(message.toolCalls) ? message.toolCalls : []).filter(isJsonObject);
    const calls = (listed.length > 0 ? listed : written).map((call, index) => ({
      call,
      id: textAt(call, "id") ?? `${id}-call-${index}`,
    }));
    if (listed.length === 0) for (const call of calls) this.#calls.add(call.id);
    const words = Array.isArray(message.content) ? message.content.filter((part) => !isThought(part)) : message.content;
    const secret = thoughtsIn(parts);
    const thoughts = (Array.isArray(message.thoughts) ? message.thoughts : []).filter(isJsonObject);
    yield* session.say("answer", origin, {
      line: origin.line,
      at: origin.at,
      model: textAt(message, "model"),
      usage: toUsage(message.tokens, usageNames),
      parts: [
        ...thoughts.map((thought) => ({
          id,
          thinking: [thought.subject, thought.description].filter(Boolean).join("\n"),
        })),
        ...(secret === "" || thoughts.length > 0 ? [] : [{ id, thinking: secret }]),
        { id, text: blockTexts(words) },
        ...calls.map(({ call, id: callId }) => ({
          id: callId,
          call: { id: callId, name: textAt(call, "name") ?? "unknown", args: call.args ?? {} },
        })),
      ],
    });
    yield* session.close();
    for (const { call, id: callId } of calls) yield* this.#result(origin, call, callId);
  }

  *#result(origin: Origin, call: JsonObject, call_id: string): Generator<ImportStep> {
    const status = textAt(call, "status");
    if (call.result === undefined && call.resultDisplay === undefined && status !== "success" && status !== "error")
      return;
    yield this.#session.result({
      line: origin.line,
      at: call.timestamp ?? origin.at,
      native: `result:${call_id}`,
      call_id,
      result: resultOf(call.result) ?? call.resultDisplay ?? "",
      is_error: status === undefined ? undefined : status === "error" || hasFailed(call),
    });
  }
}

/** A command that the user ran in shell mode, and what it printed. */
export const USER_COMMAND =
  /^I ran the following shell command:\n```(?:sh)?\n([\s\S]*?)\n```\n+This produced the following result:\n```\n?([\s\S]*?)\n?```\s*$/;

function injectionOf(text: string): Injection {
  const [, name] = INJECTED.exec(text) ?? [];
  return name === undefined ? "other" : injectionsByTag[name as keyof typeof injectionsByTag];
}

/** By which a copy of a message is recognised: who said it, and its text without thoughts. */
function saidKey({ type, content }: JsonObject): string {
  const words = Array.isArray(content)
    ? content.filter((part: JsonValue) => !isJsonObject(part) || part.thought !== true)
    : content;
  return hashedId(type === "user" ? "user" : "model", [blockTexts(words)]);
}

/** The lines after an output say how the command ended; the call itself is a success. */
const ENDING_CHARS = 400;

function hasFailed({ name, result }: JsonObject): boolean {
  if (name !== "run_shell_command") return false;
  const output = resultOf(result as JsonValue | undefined);
  const ending = typeof output === "string" ? output.slice(-ENDING_CHARS) : "";
  const code = [...ending.matchAll(/^Exit Code: (-?\d+)$/gm)].at(-1)?.[1];
  return code !== undefined && code !== "0";
}

function thoughtsIn(parts: readonly JsonObject[]): string {
  return blockTexts(parts.filter(({ thought }) => thought === true));
}

/** The tool results that make up a content; undefined if it contains anything else. */
function responsesIn(content: JsonValue | undefined): readonly JsonObject[] | undefined {
  const parts = (Array.isArray(content) ? content : [content]).filter(isJsonObject);
  const answers = parts.flatMap((part) => (isJsonObject(part.functionResponse) ? [part.functionResponse] : []));
  return answers.length > 0 && answers.length === parts.length ? answers : undefined;
}

/** The client joins text parts; anything else stays as it is. */
function contentOf(content: JsonValue | undefined): JsonValue {
  if (!Array.isArray(content)) return content ?? "";
  const isText = content.every(
    (part) => typeof part === "string" || (isJsonObject(part) && typeof part.text === "string"),
  );
  if (isText) return blockTexts(content);
  return content.map((part: JsonValue) =>
    isJsonObject(part) && typeof part.text === "string" ? { type: "text", ...part } : part,
  );
}

/** The output of a function from its response; a response with more than that stays as it is. */
function resultOf(result: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(result) || result.length !== 1) return result;
  const [only] = result as readonly JsonValue[];
  if (!isJsonObject(only)) return result;
  const response = objectAt(objectAt(only, "functionResponse"), "response");
  const keys = Object.keys(response);
  return keys.length === 1 && (typeof response.output === "string" || typeof response.error === "string")
    ? (response.output ?? response.error)
    : result;
}
