// Qwen Code's chats: records that name their parent, around Gemini's messages. A record after an earlier one than the last
// takes back what was said in between.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Injection } from "../model/roles.js";
import { toUsage, type Usage, type UsageNames } from "../model/usage.js";
import { USER_COMMAND } from "./gemini-cli.js";
import { hashedId } from "./identity.js";
import type { DocumentImporter, ImportSource, ImportStep, LineImporter, Opening, SourceOf } from "./importer.js";
import { Branches, type BranchesState } from "./transcript/branches.js";
import { blockTexts, numberAt, objectAt, objectIn, splitInjected, textAt } from "./transcript/fields.js";
import { type LineReader, readWith } from "./transcript/line-reader.js";
import {
  type Origin,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "qwen-code", lacks: ["system prompt", "rules files", "tool definitions"] };

const usageNames: UsageNames = {
  input_tokens: [["promptTokenCount"]],
  output_tokens: [["candidatesTokenCount"]],
  cache_read_tokens: [["cachedContentTokenCount"]],
  reasoning_tokens: [["thoughtsTokenCount"]],
};
/** The same in what it tells of each call. */
const telemetryNames: UsageNames = {
  input_tokens: [["input_token_count"]],
  output_tokens: [["output_token_count"]],
  cache_read_tokens: [["cached_content_token_count"]],
  reasoning_tokens: [["thoughts_token_count"]],
};

const TRIGGERS = ["manual", "auto"];
const TYPES = ["user", "assistant", "tool_result", "system"];
/** User records that no person typed. */
const injectionsBySubtype: { readonly [subtype: string]: Injection } = {
  notification: "reminder",
  background_task_completed: "reminder",
  agent_retry: "reminder",
  cron: "other",
  goal_runtime: "other",
};
const injectionsByProvenance: { readonly [provenance: string]: Injection } = {
  goal_control: "other",
  goal_runtime: "other",
  system: "other",
};
/** Not part of what the model is given. */
const APART = ["realtime_message", "code_mode_tool_result"];
/** What `@` adds to a prompt begins so. */
const REFERENCED = "\n--- Content from referenced files ---";
const REMINDER = /<(system-reminder)\b/;
/** So it gives the model files after a compaction. */
const FILE_AGAIN = "Recently accessed file";
/** A person can take back that many records; a compaction keeps recent messages. */
const RECENT_MAX = 2_000;
/** The details of a result repeat it, so longer ones are not kept. */
const DETAIL_CHARS_MAX = 8 * 1024;

export const qwenCodeImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some(isRecord),
  async *read(source) {
    const chat = new Chat(source, source.resume.state as ChatState | undefined);
    await chat.lookAround(source);
    yield* readWith(source, chat);
  },
};

/** The note next to a subagent's records, which resembles Claude Code's and names the session. */
export const qwenAgentNoteImporter: DocumentImporter = {
  format: tool.format,
  reads: "document",
  recognises: ({ document, name }: Opening) =>
    name.endsWith(".meta.json") &&
    isJsonObject(document) &&
    ["agentId", "agentType", "parentSessionId"].every((field) => textAt(document, field) !== undefined),
  read: readAgentNote,
};

async function* readAgentNote(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const { agentId, agentType, parentSessionId, createdAt, description, ...rest } = await source.header(NOTE_FIELDS);
  const session = new Transcript(tool, source).session(String(parentSessionId)).child(agentName(String(agentId)));
  const metadata = { agent_type: agentType ?? "", ...rest };
  yield* session.about({ line: 1, at: createdAt }, { title: titleOf(description), metadata });
}

const NOTE_FIELDS = ["agentId", "agentType", "parentSessionId", "createdAt", "description", "toolUseId", "model"];

function titleOf(description: JsonValue | undefined): string | undefined {
  return typeof description === "string" && description !== "" ? description : undefined;
}

function agentName(id: string): string {
  return `agent-${id.replace(/^agent-/, "")}`;
}

function isRecord(record: JsonObject): boolean {
  if (textAt(record, "sessionId") === undefined || !TYPES.includes(String(record.type))) return false;
  return Array.isArray(objectAt(record, "message").parts) || (record.type === "system" && "systemPayload" in record);
}

interface ChatState {
  readonly transcript: TranscriptState;
  readonly session: SessionState | undefined;
  readonly branches: BranchesState;
  readonly chain: readonly ChainLink[];
  readonly said: readonly Said[];
  readonly told: Told | undefined;
  readonly durations: ReadonlyMap<string, number>;
  readonly command: string | undefined;
  readonly is_named: boolean;
  readonly pieces: number;
}

/** A record of the conversation as it stands, and the entries that it became. */
interface ChainLink {
  readonly uuid: string;
  readonly natives: readonly string[];
}

/** A message that was recorded, by which its copy in a compaction is known. */
interface Said {
  readonly key: string;
  readonly natives: readonly string[];
}

/** The tokens of a call, which are told before its answer. */
interface Told {
  readonly origin: Origin;
  readonly record: JsonObject;
  readonly usage: Usage;
  readonly id: string | undefined;
  readonly model: string | undefined;
}

class Chat implements LineReader {
  readonly #transcript: Transcript;
  readonly #branches: Branches;
  readonly #source: ImportSource;
  readonly #chain: ChainLink[];
  readonly #said: Said[];
  readonly #durations: Map<string, number>;
  #session: TranscriptSession | undefined;
  #agentTitle: string | undefined;
  #told: Told | undefined;
  /** A slash command that was noted, whose text to the model may follow. */
  #command: string | undefined;
  /** Whether a person named the session. */
  #isNamed: boolean;
  /** How many lines the open answer has so far. */
  #pieces: number;

  constructor(source: ImportSource, known?: ChatState) {
    this.#transcript = new Transcript(tool, source, known?.transcript);
    this.#branches = new Branches(tool.format, known?.branches);
    this.#source = source;
    this.#session = known?.session === undefined ? undefined : this.#transcript.revive(known.session);
    this.#chain = [...(known?.chain ?? [])];
    this.#said = [...(known?.said ?? [])];
    this.#durations = new Map(known?.durations);
    this.#told = known?.told;
    this.#command = known?.command;
    this.#isNamed = known?.is_named ?? false;
    this.#pieces = known?.pieces ?? 0;
  }

  state(): ChatState {
    return {
      transcript: this.#transcript.state(),
      session: this.#session?.state(),
      branches: this.#branches.state(),
      chain: this.#chain,
      said: this.#said,
      told: this.#told,
      durations: this.#durations,
      command: this.#command,
      is_named: this.#isNamed,
      pieces: this.#pieces,
    };
  }

  /** A subagent's task is in a file next to its records. */
  async lookAround({ siblings, stem }: ImportSource): Promise<void> {
    const meta = objectIn(await siblings.read(`${stem}.meta.json`));
    this.#agentTitle = meta === undefined ? undefined : (textAt(meta, "description") ?? textAt(meta, "agentName"));
  }

  *take(line: number, record: JsonObject): Generator<ImportStep> {
    const native = textAt(record, "uuid");
    const origin: Origin = { line, at: record.timestamp, native, identity: [record] };
    const session = this.#sessionOf(record);
    yield* session.about(origin, this.#factsOf(record));
    yield* this.#follow(session, record);
    if (record.type === "assistant" && isJsonObject(record.message)) {
      yield* this.#answer(session, origin, record, record.message);
      return;
    }
    if (record.subtype !== "ui_telemetry") yield* this.#unclaimed(session);
    if (APART.includes(String(record.subtype))) yield* session.queue(session.raw(origin, record));
    else if (record.type === "user" && isJsonObject(record.message)) yield* this.#user(session, origin, record);
    else if (record.type === "tool_result" && isJsonObject(record.message))
      yield* this.#results(session, origin, record);
    else yield* this.#system(session, origin, record, objectAt(record, "systemPayload"));
  }

  *end(): Generator<ImportStep> {
    const session = this.#session;
    if (session === undefined) return;
    yield* session.close();
    if (!this.#source.isGrowing()) yield* this.#unclaimed(session);
    yield* this.#branches.end();
  }

  #sessionOf(record: JsonObject): TranscriptSession {
    if (this.#session !== undefined) return this.#session;
    const main = this.#transcript.session(textAt(record, "sessionId") ?? this.#source.stem);
    const agent =
      textAt(record, "agentId") ?? /[\\/]subagents[\\/].*?agent-([^\\/]+)\.jsonl$/.exec(this.#source.path)?.[1];
    this.#session = agent === undefined ? main : main.child(agentName(agent));
    return this.#session;
  }

  #factsOf(record: JsonObject) {
    const source = textAt(objectAt(record, "forkedFrom"), "sessionId");
    return {
      cwd: textAt(record, "cwd"),
      git_branch: textAt(record, "gitBranch"),
      version: textAt(record, "version"),
      title: this.#agentTitle,
      // Every record of a fork has it; it is recorded once.
      ...(source === undefined || this.#chain.length > 0 ? {} : { metadata: { forked_from: source } }),
    };
  }

  /** Takes back what a record does not follow. */
  *#follow(session: TranscriptSession, { uuid, parentUuid: parent }: JsonObject): Generator<ImportStep> {
    if (typeof uuid !== "string" || this.#chain.at(-1)?.uuid === uuid) return;
    const at = typeof parent === "string" ? this.#chain.findLastIndex((link) => link.uuid === parent) : -1;
    if (at !== -1 && at < this.#chain.length - 1) {
      yield* session.close();
      const left = this.#chain.splice(at + 1).flatMap(({ natives }) => natives);
      yield* this.#branches.applySwitch(session, { left, back: [] });
    }
    this.#chain.push({ uuid, natives: [] });
    if (this.#chain.length > RECENT_MAX) this.#chain.shift();
  }

  /** Notes which entries the newest record became. */
  #note(key: string, ...natives: readonly string[]): void {
    const link = this.#chain.pop();
    if (link !== undefined) this.#chain.push({ uuid: link.uuid, natives: [...link.natives, ...natives] });
    this.#said.push({ key, natives });
    if (this.#said.length > RECENT_MAX) this.#said.shift();
  }

  *#user(session: TranscriptSession, origin: Origin, record: JsonObject): Generator<ImportStep> {
    yield* session.close();
    const parts = partsOf(record.message);
    const whole = blockTexts(parts);
    const native = origin.native ?? `line-${origin.line}`;
    const [, command, output] = USER_COMMAND.exec(whole) ?? [];
    if (command !== undefined && output !== undefined) {
      const of = { ...origin, ...(origin.native === undefined ? {} : { native: `${native}:command` }) };
      yield session.result({ ...of, call_id: "", tool: "!", args: { command }, result: output });
      this.#note(saidKey("user", parts), native);
      yield session.message(origin, { role: "user", content: whole, injected: "output" });
      return;
    }
    const injected =
      injectionsBySubtype[String(record.subtype)] ??
      (record.subtype === undefined ? injectionsByProvenance[String(record.provenance)] : undefined);
    if (injected !== undefined) {
      this.#note(saidKey("user", parts), native);
      yield session.message(origin, { role: "user", content: contentOf(parts), injected });
      return;
    }
    yield* this.#prompt(session, { ...origin, native }, record, parts);
  }

  /** What was typed, and what the tool made of it or added to it. */
  *#prompt(
    session: TranscriptSession,
    origin: Origin & { readonly native: string },
    record: JsonObject,
    parts: readonly JsonObject[],
  ): Generator<ImportStep> {
    const payload = objectAt(record, "systemPayload");
    const shown = textAt(payload, "displayText");
    const hook = textAt(payload, "hookContext");
    const isHook = (part: JsonObject): boolean =>
      hook !== undefined && typeof part.text === "string" && part.text.includes(hook);
    const command = this.#command;
    this.#command = undefined;
    const from = parts.findIndex((part) => typeof part.text === "string" && part.text.startsWith(REFERENCED));
    const files = from === -1 ? [] : parts.slice(from).filter((part) => !isHook(part));
    const spoken = (from === -1 ? parts : parts.slice(0, from)).filter((part) => !isHook(part));
    const { content: kept, injected: reminders } = splitInjected([...spoken], REMINDER);
    const words = typeof kept === "string" ? [{ text: kept }] : Array.isArray(kept) ? kept.filter(isJsonObject) : [];
    const text = blockTexts(words);
    const typed = shown ?? text;
    const natives = [origin.native];
    const add = function* (name: string, content: JsonValue, injected: Injection): Generator<ImportStep> {
      natives.push(`${origin.native}:${name}`);
      yield session.message({ ...origin, native: `${origin.native}:${name}` }, { role: "user", content, injected });
    };
    if (reminders.length > 0) yield* add("reminder", reminders.join("\n"), "reminder");
    if (words.length === 0 && shown === undefined && files.length === 0) return;
    // The command itself was noted before: this is what the model was given for it.
    const isExpansion = command !== undefined && text !== command;
    if (command === undefined || (typed !== command && !isExpansion)) {
      const isSlash = /^\/[\w:.-]+(?:\s|$)/.test(typed) && typed !== text;
      const content = shown === undefined ? contentOf(words) : shown;
      yield session.message(
        { ...origin, ...(isSlash ? { extra: { command: commandOf(typed) } } : {}) },
        { role: "user", content },
      );
    }
    if (isExpansion || (shown !== undefined && shown !== text && text !== "")) {
      yield* add("expanded", contentOf(words), typed.startsWith("/") || isExpansion ? "command" : "other");
    }
    if (files.length > 0) yield* add("files", contentOf(files), "file");
    const hooks = parts.filter(isHook);
    if (hooks.length > 0) yield* add("hook", contentOf(hooks), "hook");
    this.#note(saidKey("user", parts), ...natives);
  }

  *#answer(session: TranscriptSession, origin: Origin, record: JsonObject, message: JsonObject): Generator<ImportStep> {
    const own = origin.native ?? `line-${origin.line}`;
    // A subagent's calls are records of their own, without the tokens of their answer.
    const isCalls = textAt(record, "agentId") !== undefined && record.usageMetadata === undefined;
    const key = isCalls ? (session.openKey ?? own) : own;
    const told = this.#told;
    this.#told = undefined;
    if (told !== undefined) yield* session.queue(session.raw(told.origin, told.record));
    const parts = partsOf(message);
    this.#pieces = session.openKey === key ? this.#pieces + 1 : 0;
    const id = this.#pieces === 0 ? own : `${own}:part-${this.#pieces}`;
    const calls = parts.flatMap((part) => (isJsonObject(part.functionCall) ? [part.functionCall] : []));
    yield* session.say(key, origin, {
      line: origin.line,
      at: origin.at,
      model: textAt(record, "model"),
      usage: toUsage(record.usageMetadata, usageNames),
      parts: [
        ...parts.map((part) => {
          if (isJsonObject(part.functionCall)) {
            const callId = textAt(part.functionCall, "id") ?? `${id}-call-${calls.indexOf(part.functionCall)}`;
            const name = textAt(part.functionCall, "name") ?? "unknown";
            return { id, call: { id: callId, name, args: part.functionCall.args ?? {} } };
          }
          if (typeof part.text !== "string") return { id, block: part };
          return part.thought === true ? { id, thinking: part.text } : { id, text: part.text };
        }),
        { id },
      ],
      extra: told?.id === undefined ? {} : { message_id: told.id },
    });
    this.#note(saidKey("model", parts), key);
  }

  *#results(session: TranscriptSession, origin: Origin, record: JsonObject): Generator<ImportStep> {
    const parts = partsOf(record.message);
    const told = objectAt(record, "toolCallResult");
    const rest = parts.filter((part) => !isJsonObject(part.functionResponse));
    const display = told.resultDisplay;
    const isShort = display !== undefined && JSON.stringify(display).length <= DETAIL_CHARS_MAX;
    for (const [nth, part] of parts.filter((one) => isJsonObject(one.functionResponse)).entries()) {
      const response = objectAt(part, "functionResponse");
      const call_id = textAt(response, "id") ?? (nth === 0 ? textAt(told, "callId") : undefined) ?? "";
      const { output, error } = objectAt(response, "response");
      const result = output ?? error ?? response.response ?? "";
      const status = textAt(told, "status");
      const native = `result:${call_id === "" ? `${origin.native ?? origin.line}:${nth}` : call_id}`;
      const extra = {
        ...(origin.native === undefined ? {} : { uuid: origin.native }),
        ...(status === undefined || status === "success" || status === "error" ? {} : { status }),
        ...(isShort && display !== result ? { result_display: display } : {}),
        ...(nth === 0 && rest.length > 0 ? { parts: rest } : {}),
      };
      this.#note(saidKey("user", [part]), native);
      const step = session.result({
        ...{ ...origin, native, extra, call_id, result },
        tool: textAt(response, "name"),
        is_error: status === undefined ? output === undefined && error !== undefined : status !== "success",
        duration_ms: numberAt(told, "durationMs") ?? this.#durations.get(call_id),
      });
      this.#durations.delete(call_id);
      yield* session.queue(step);
    }
    if (parts.every((part) => !isJsonObject(part.functionResponse))) yield* session.queue(session.raw(origin, record));
  }

  *#system(session: TranscriptSession, origin: Origin, record: JsonObject, payload: JsonObject): Generator<ImportStep> {
    switch (record.subtype) {
      case "chat_compression":
        yield* this.#compaction(session, origin, payload);
        return;
      case "ui_telemetry":
        yield* this.#telemetry(session, origin, record, objectAt(payload, "uiEvent"));
        return;
      case "slash_command": {
        const typed = textAt(payload, "rawCommand");
        if (payload.phase !== "invocation" || typed === undefined || payload.hiddenInvocation === true) break;
        yield* session.close();
        // Some front ends wrote it down as a prompt before.
        const isNoted = this.#said.at(-1)?.key === saidKey("user", [{ text: typed }]);
        if (isNoted) break;
        this.#command = payload.sentToModel === true ? typed : undefined;
        this.#note(saidKey("user", [{ text: typed }]), origin.native ?? `line-${origin.line}`);
        const extra = { command: { ...commandOf(typed), ...payload } as JsonObject };
        yield session.message({ ...origin, extra }, { role: "user", content: typed });
        return;
      }
      case "custom_title": {
        const title = textAt(payload, "customTitle");
        const isAuto = payload.titleSource === "auto";
        if (title !== undefined && !(isAuto && this.#isNamed)) {
          this.#isNamed ||= !isAuto;
          for (const step of session.about(origin, { title })) yield* session.queue(step);
        }
        break;
      }
      case "parent_session":
        for (const step of session.about(origin, { parent: textAt(payload, "parentSessionId") })) {
          yield* session.queue(step);
        }
        break;
    }
    yield* session.queue(session.raw(origin, record));
  }

  *#telemetry(
    session: TranscriptSession,
    origin: Origin,
    record: JsonObject,
    event: JsonObject,
  ): Generator<ImportStep> {
    const name = textAt(event, "event.name") ?? "";
    const call = textAt(event, "call_id");
    const ms = numberAt(event, "duration_ms");
    if (name.endsWith(".tool_call") && call !== undefined && ms !== undefined) {
      if (this.#durations.size >= RECENT_MAX) this.#durations.clear();
      this.#durations.set(call, ms);
    }
    yield* this.#unclaimed(session);
    const usage = toUsage(event, telemetryNames);
    // Calls of subagents are told here as well, with a name in the prompt's.
    const isOwn = event.subagent_name === undefined && !/^[^#]+#[^#]/.test(textAt(event, "prompt_id") ?? "");
    if (name.endsWith(".api_response") && usage !== undefined && isOwn) {
      const [id, model] = [textAt(event, "response_id"), textAt(event, "model")];
      this.#told = { origin, record, usage, id, model };
      return;
    }
    const error = textAt(event, "error_message") ?? textAt(event, "error");
    if (name.endsWith(".api_error") && error !== undefined) {
      const of = origin.native === undefined ? {} : { native: `${origin.native}:error` };
      yield* session.queue(session.error({ ...origin, ...of }, error, "api"));
    }
    yield* session.queue(session.raw(origin, record));
  }

  /** A call that no answer came of, such as one for a compaction. */
  *#unclaimed(session: TranscriptSession): Generator<ImportStep> {
    const told = this.#told;
    this.#told = undefined;
    if (told === undefined) return;
    const extra = {
      usage: told.usage as JsonObject,
      spent_on: "other",
      ...(told.model === undefined ? {} : { model: told.model }),
      ...(told.id === undefined ? {} : { message_id: told.id }),
    };
    yield* session.queue(session.raw({ ...told.origin, extra }, told.record));
  }

  /** From here on the model was given this list: as a rule a summary, and the newest messages. */
  *#compaction(session: TranscriptSession, origin: Origin, payload: JsonObject): Generator<ImportStep> {
    const list = (Array.isArray(payload.compressedHistory) ? payload.compressedHistory : []).filter(isJsonObject);
    const known = list.map((content) => this.#nativesOf(content));
    const at = list.findIndex((content, nth) => content.role === "user" && known[nth]?.length === 0);
    const summary = at === -1 ? "" : blockTexts(list[at]?.parts);
    const info = objectAt(payload, "info");
    yield* session.compact(
      { ...origin, extra: { info } },
      {
        summary,
        kept: known.flat().flatMap((native) => session.idsOf(native)),
        trigger: TRIGGERS.find((trigger) => trigger === info.triggerReason),
        tokens_before: numberAt(info, "originalTokenCount"),
      },
    );
    for (const [nth, content] of list.entries()) {
      if (nth === at || (known[nth]?.length ?? 0) > 0 || blockTexts(content.parts) === "") continue;
      const native = `${origin.native ?? `line-${origin.line}`}:${nth}`;
      this.#note(saidKey(String(content.role), partsOf(content)), native);
      yield session.message(
        { ...origin, native },
        {
          role: content.role === "user" ? "user" : "assistant",
          content: contentOf(partsOf(content)),
          injected: blockTexts(content.parts).startsWith(FILE_AGAIN) ? "file" : "other",
        },
      );
    }
  }

  #nativesOf(content: JsonObject): readonly string[] {
    const parts = partsOf(content);
    const results = parts.filter((part) => isJsonObject(part.functionResponse));
    // Results of one turn are one message there, and records of their own here.
    if (results.length > 0) return results.flatMap((part) => this.#find(saidKey("user", [part])));
    return this.#find(saidKey(String(content.role), parts));
  }

  #find(key: string): readonly string[] {
    return this.#said.findLast((said) => said.key === key)?.natives ?? [];
  }
}

function partsOf(message: JsonValue | undefined): readonly JsonObject[] {
  const { parts } = isJsonObject(message) ? message : {};
  return Array.isArray(parts) ? parts.filter(isJsonObject) : [];
}

/** One text, or the parts as they are. */
function contentOf(parts: readonly JsonObject[]): JsonValue {
  const isText = parts.every((part) => typeof part.text === "string");
  return isText ? blockTexts(parts) : parts.map((part) => ("text" in part ? { type: "text", ...part } : part));
}

/** By which a copy is known: who said it, its text without thoughts, and its calls or results by their ids. */
function saidKey(role: string, parts: readonly JsonObject[]): string {
  const ids = parts.flatMap(({ functionCall: call, functionResponse: response }) =>
    [call, response].filter(isJsonObject).map((one) => one.id ?? one.name ?? ""),
  );
  const words = parts.filter(({ thought }) => thought !== true);
  return hashedId(role === "user" ? "user" : "model", [blockTexts(words), ...ids]);
}

function commandOf(typed: string): JsonObject {
  const [, name = typed, args = ""] = /^(\S+)\s*([\s\S]*)$/.exec(typed) ?? [];
  return { name, args, text: typed };
}
