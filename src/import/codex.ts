// Codex CLI's rollouts: items are what went to and came from the model, events are what the screen showed. A text that
// is in both is recorded once.
import { isJsonObject, type JsonObject, type JsonValue, jsonEquals, parseJsonObject } from "../model/json.js";
import { openAiUsage, toUsage, type Usage } from "../model/usage.js";
import { hashedId } from "./identity.js";
import type { ImportSource, ImportStep, LineImporter, Opening, SourceRecord } from "./importer.js";
import { blocksOf, blockTexts, numberAt, objectAt, textAt } from "./transcript/fields.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import { addUsage } from "./transcript/model-answer.js";
import type { SessionState, TranscriptState } from "./transcript/transcript.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";

const tool = { format: "codex", lacks: ["system prompt", "tool definitions"] };

const LINE_TYPES = ["session_meta", "turn_context", "response_item", "event_msg", "compacted"];
const ITEM_TYPES = ["message", "reasoning", "function_call", "function_call_output", "local_shell_call"];
/** A fork's copies are written at once; records later than this belong to the fork. */
const COPYING_PAUSE_MS = 1_000;

export const codexImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some((record) => isLine(record) || isOldHeader(record)),
  read,
};

function isLine(record: JsonObject): boolean {
  return LINE_TYPES.includes(String(record.type)) && isJsonObject(record.payload);
}

/** The oldest files have a header line and then bare items, without times. */
function isOldHeader(record: JsonObject): boolean {
  return !("type" in record) && !("role" in record) && "instructions" in record && textAt(record, "id") !== undefined;
}

async function* read(source: ImportSource): AsyncGenerator<Iterable<ImportStep>> {
  const rollout = new Rollout(source, source.resume.state as RolloutState | undefined);
  source.resume.onSave(() => rollout.state());
  for await (const records of source.records()) yield rollout.takeAll(records);
  yield rollout.isUnsaid && source.isGrowing() ? rollout.pause() : rollout.end();
}

interface RolloutState {
  readonly transcript: TranscriptState;
  readonly own: ItemsState | undefined;
  readonly own_key: string | undefined;
  readonly copied: ItemsState | undefined;
  readonly copied_at: number;
  readonly totals: string;
  readonly counted: string;
  readonly has_records: boolean;
  readonly own_from: number | undefined;
}

class Rollout {
  readonly #transcript: Transcript;
  readonly #clock: ImportSource["clock"];
  readonly #stem: string;
  #own: CodexItems | undefined;
  #ownKey: string | undefined;
  /** Records of the session that this one was forked from, while they are being copied. */
  #copied: CodexItems | undefined;
  #copiedAt: number;
  /** The number of its first own line, if stated. */
  #ownFrom: number | undefined;
  #totals: string;
  /** The last call that was counted, and whether calls have their own records. */
  #counted: string;
  #hasRecords: boolean;

  constructor(source: ImportSource, known?: RolloutState) {
    const transcript = new Transcript(tool, source, known?.transcript);
    const revived = (note: ItemsState | undefined) =>
      note === undefined ? undefined : new CodexItems(transcript.revive(note.session), note);
    this.#transcript = transcript;
    this.#own = revived(known?.own);
    this.#ownKey = known?.own_key;
    this.#copied = revived(known?.copied);
    this.#copiedAt = known?.copied_at ?? 0;
    this.#totals = known?.totals ?? "";
    this.#counted = known?.counted ?? "";
    this.#hasRecords = known?.has_records ?? false;
    this.#ownFrom = known?.own_from;
    this.#clock = source.clock;
    this.#stem = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/.exec(source.stem)?.[1] ?? source.stem;
  }

  state(): RolloutState {
    return {
      transcript: this.#transcript.state(),
      own: this.#own?.state(),
      own_key: this.#ownKey,
      copied: this.#copied?.state(),
      copied_at: this.#copiedAt,
      totals: this.#totals,
      counted: this.#counted,
      has_records: this.#hasRecords,
      own_from: this.#ownFrom,
    };
  }

  *takeAll(records: Iterable<SourceRecord>): Generator<ImportStep> {
    for (const item of records) {
      if ("reason" in item) yield item;
      else yield* this.#take(item.line, item.record);
    }
  }

  *#take(line: number, record: JsonObject): Generator<ImportStep> {
    const isBare = !isJsonObject(record.payload);
    const payload = isBare ? record : (record.payload as JsonObject);
    const at = record.timestamp ?? payload.timestamp;
    if (record.type === "session_meta" || isOldHeader(record)) {
      yield* this.#begin(line, at, payload);
      return;
    }
    const items = this.#itemsAt(at, record.ordinal);
    const origin = { line, at, is_restamped: true, identity: [record.type ?? "", payload] };
    const isItem = isBare ? ITEM_TYPES.includes(String(record.type)) : record.type === "response_item";
    if (!isBare && payload.type === "token_count") yield* this.#tokens(items, origin, payload);
    else if (record.type === "token_usage_record") yield* this.#record(items, origin, payload);
    else if (isItem) yield* items.item(origin, payload);
    else if (record.type === "event_msg") yield* items.event(origin, payload);
    else if (record.type === "turn_context") yield* items.turn(origin, payload, record);
    else yield* items.raw(origin, record);
  }

  /** Whether there are thoughts or tokens without a text so far. */
  get isUnsaid(): boolean {
    return [this.#copied, this.#own].some((items) => items?.isUnsaid === true);
  }

  *pause(): Generator<ImportStep> {
    for (const items of [this.#copied, this.#own]) if (items !== undefined) yield* items.pause();
  }

  *end(): Generator<ImportStep> {
    for (const items of [this.#copied, this.#own]) if (items !== undefined) yield* items.end();
  }

  *#begin(line: number, at: JsonValue | undefined, meta: JsonObject): Generator<ImportStep> {
    const id = textAt(meta, "id") ?? this.#stem;
    if (id === this.#ownKey) {
      // The whole file is repeated, as in a restored copy.
      yield* this.end();
      this.#transcript.restart();
      this.#totals = "";
      return;
    }
    if (this.#own !== undefined) {
      yield* this.#own.end();
      this.#copied ??= new CodexItems(this.#transcript.session(id));
      this.#copiedAt = this.#clock.parse(at) ?? 0;
      return;
    }
    const spawn = objectAt(objectAt(objectAt(meta, "source"), "subagent"), "thread_spawn");
    const parent = textAt(spawn, "parent_thread_id");
    const main = this.#transcript.session(parent ?? id);
    const session = parent === undefined ? main : main.child(`agent-${id}`);
    this.#ownKey = id;
    this.#ownFrom = numberAt(meta, "subagent_history_start_ordinal");
    this.#own = new CodexItems(session);
    const origin = { line, at: at ?? meta.timestamp };
    yield* session.about(origin, {
      cwd: textAt(meta, "cwd"),
      git_branch: textAt(objectAt(meta, "git"), "branch"),
      version: textAt(meta, "cli_version"),
      parent: textAt(meta, "forked_from_id"),
      metadata: Object.fromEntries(
        ["originator", "model_provider"].flatMap((name) =>
          textAt(meta, name) === undefined ? [] : [[name, meta[name] ?? ""]],
        ),
      ),
    });
    yield session.raw({ ...origin, identity: [meta], is_once: true }, meta);
  }

  #itemsAt(at: JsonValue | undefined, ordinal: JsonValue | undefined): CodexItems {
    this.#own ??= new CodexItems(this.#transcript.session(this.#stem));
    if (this.#copied === undefined) return this.#own;
    if (this.#ownFrom !== undefined && typeof ordinal === "number") {
      return ordinal < this.#ownFrom ? this.#copied : this.#own;
    }
    const ms = this.#clock.parse(at) ?? this.#copiedAt;
    if (this.#copiedAt !== 0 && ms - this.#copiedAt > COPYING_PAUSE_MS) {
      this.#copiedAt = 0;
    } else if (this.#copiedAt !== 0) this.#copiedAt = ms;
    return this.#copiedAt === 0 ? this.#own : this.#copied;
  }

  /** Totals are repeated; only a changed total means another call. */
  *#tokens(items: CodexItems, origin: Origin, payload: JsonObject): Generator<ImportStep> {
    const info = objectAt(payload, "info");
    const last = toUsage(info.last_token_usage ?? payload, openAiUsage);
    const totals = JSON.stringify(info.total_token_usage ?? null);
    if (last === undefined || this.#hasRecords || (totals !== "null" && totals === this.#totals)) return;
    this.#totals = totals;
    this.#counted = JSON.stringify(last);
    yield* items.spend(origin, last, textAt(info, "model"));
  }

  /** Newer versions record each call, and totals as well; the first call may already be counted by a total. */
  *#record(items: CodexItems, origin: Origin, payload: JsonObject): Generator<ImportStep> {
    const usage = toUsage(payload.usage, openAiUsage);
    const isCounted = !this.#hasRecords && JSON.stringify(usage) === this.#counted;
    this.#hasRecords = true;
    if (usage !== undefined && !isCounted) yield* items.spend(origin, usage, undefined);
  }
}

/** What Codex adds to the model's input as a user message. */
const INJECTED =
  /^\s*(?:<(?:environment_context|user_instructions|user_action|turn_aborted|user_shell_command|skill|subagent_notification|permissions|collaboration_mode|apps_instructions|skills_instructions)\b|# AGENTS\.md)/;
/** What an editor adds precedes the request. */
const EDITOR = /^(\s*# [\s\S]*?\n## My request for Codex:\s*)([\s\S]*)$/;
const CITATION = /<oai-mem-citation>([\s\S]*?)<\/oai-mem-citation>/g;
const ERRORS = ["error", "stream_error"];
const CITED = "<oai-mem-citation>";
/** How far from the end of an output a command's outcome is searched. */
const OUTCOME_CHARS = 300;
/** How far from the beginning: the whole command may precede it. */
const OPENING_CHARS = 4_000;
const TEXTS_MAX = 1_000;
const TEXT_CHARS_MAX = 1_000;

interface ItemsState {
  readonly session: SessionState;
  readonly unmatched: ReadonlyMap<string, number>;
  readonly turn: JsonObject | undefined;
  readonly thoughts: readonly string[];
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
  readonly spent_at: Origin;
  readonly has_output: boolean;
}

class CodexItems {
  readonly #session: TranscriptSession;
  /** How often a text came as an item but not yet as an event; negative for the reverse. */
  readonly #unmatched: Map<string, number>;
  #turn: JsonObject | undefined;
  #thoughts: string[];
  #model: string | undefined;
  #usage: Usage | undefined;
  #spentAt: Origin;
  #hasOutput: boolean;

  constructor(session: TranscriptSession, known?: ItemsState) {
    this.#session = session;
    this.#unmatched = new Map(known?.unmatched);
    this.#turn = known?.turn;
    this.#thoughts = [...(known?.thoughts ?? [])];
    this.#model = known?.model;
    this.#usage = known?.usage;
    this.#spentAt = known?.spent_at ?? { line: 0, at: undefined, is_restamped: true };
    this.#hasOutput = known?.has_output ?? false;
  }

  state(): ItemsState {
    return {
      session: this.#session.state(),
      unmatched: this.#unmatched,
      thoughts: this.#thoughts,
      model: this.#model,
      turn: this.#turn,
      usage: this.#usage,
      spent_at: this.#spentAt,
      has_output: this.#hasOutput,
    };
  }

  *item(origin: Origin, item: JsonObject): Generator<ImportStep> {
    const type = String(item.type ?? (typeof item.role === "string" ? "message" : ""));
    if (type === "message" && item.role === "user") yield* this.#user(origin, item, "item");
    else if (type === "message" && item.role === "assistant") {
      const text = blockTexts(item.content) || outputTexts(item.content);
      if (text === "") yield* this.#blocks(origin, item);
      else yield* this.#text(origin, text, "item");
    } else if (type === "reasoning") yield* this.#reasoning(origin, item);
    else if (type.endsWith("_output")) yield* this.#output(origin, item);
    else if (type.endsWith("_call")) yield* this.#call(origin, item, type);
    else yield* this.raw(origin, { type: "response_item", payload: item });
  }

  *event(origin: Origin, event: JsonObject): Generator<ImportStep> {
    const type = String(event.type);
    if (type === "user_message") yield* this.#user(origin, { ...event, content: event.message ?? "" }, "event");
    else if (type === "agent_message") yield* this.#text(origin, textAt(event, "message") ?? "", "event");
    else if (type === "agent_reasoning") {
      const thought = textAt(event, "text") ?? "";
      if (this.#isTold("thought", thought, "event")) return;
      this.#thoughts.push(thought);
      this.#spentAt = origin;
    } else if (ERRORS.includes(type)) {
      const error = textAt(event, "message") ?? JSON.stringify(event);
      yield* this.#session.queue(this.#session.error(origin, error, type));
    } else {
      const title = textAt(event, "thread_name") ?? textAt(event, "name");
      if (type.endsWith("_name_updated") && title !== undefined) yield* this.#session.about(origin, { title });
      yield* this.raw(origin, { type: "event_msg", payload: event });
    }
  }

  /** Each turn repeats its settings; they are kept if they changed. */
  *turn(origin: Origin, context: JsonObject, record: JsonObject): Generator<ImportStep> {
    this.#model = textAt(context, "model") ?? this.#model;
    const { turn_id: _, ...same } = context;
    if (jsonEquals(same, this.#turn)) return;
    this.#turn = same;
    yield* this.#session.queue(
      this.#session.raw({ ...origin, identity: ["turn_context", same], is_once: true }, record),
    );
  }

  *raw(origin: Origin, record: JsonObject): Generator<ImportStep> {
    yield* this.#session.queue(this.#session.raw(origin, record));
  }

  /** The cost of a model call ends its answer; if none is open yet, it belongs to the next. */
  *spend(origin: Origin, usage: Usage, model: string | undefined): Generator<ImportStep> {
    if (this.#session.amend((said) => ({ ...said, usage: addUsage(said.usage, usage) }))) yield* this.#close();
    else {
      yield* this.end();
      this.#usage = usage;
      this.#spentAt = origin;
    }
    this.#model = model ?? this.#model;
  }

  get isUnsaid(): boolean {
    return this.#usage !== undefined || this.#thoughts.length > 0;
  }

  /** The texts so far; thoughts or tokens without a text may belong to what follows. */
  *pause(): Generator<ImportStep> {
    yield* this.#close();
  }

  *end(): Generator<ImportStep> {
    yield* this.#close();
    if (!this.isUnsaid) return;
    // No text, but thoughts or tokens.
    yield* this.#say(this.#spentAt, { id: "unsaid" });
    yield* this.#close();
  }

  *#close(): Generator<ImportStep> {
    this.#hasOutput = false;
    yield* this.#session.close();
  }

  *#user(origin: Origin, item: JsonObject, side: "item" | "event"): Generator<ImportStep> {
    const whole = blockTexts(item.content);
    if (isInjected(item, whole)) {
      yield* this.raw(origin, { type: "response_item", payload: item });
      return;
    }
    if (this.#isTold("user", whole, side)) return;
    yield* this.end();
    const [, before, request] = EDITOR.exec(whole) ?? [];
    const images = Array.isArray(item.content) ? item.content.filter((block) => !isTextBlock(block)) : [];
    const said = request ?? whole;
    const content = images.length === 0 ? said : [{ type: "text", text: said }, ...images];
    const extra = before === undefined ? undefined : { injected: [before] };
    yield this.#session.message({ ...origin, identity: ["user", whole], extra }, { role: "user", content });
  }

  *#text(origin: Origin, text: string, side: "item" | "event"): Generator<ImportStep> {
    if (text === "" || this.#isTold("assistant", text, side)) return;
    const memories_used = text.includes(CITED)
      ? [...text.matchAll(CITATION)].flatMap(([, cited]) => citedIn(cited ?? ""))
      : [];
    const extra = memories_used.length === 0 ? undefined : { memories_used };
    yield* this.#say(origin, { id: partId(["text", text]), text }, extra);
  }

  /** An answer without text: code, images, or nothing, which is not a message. */
  *#blocks(origin: Origin, item: JsonObject): Generator<ImportStep> {
    for (const block of blocksOf(item.content)) {
      if (!isTextBlock(block)) yield* this.#say(origin, { id: partId(["block", block]), block });
    }
  }

  *#reasoning(origin: Origin, item: JsonObject): Generator<ImportStep> {
    const sections = [...blocksOf(item.summary), ...blocksOf(item.content)].map((block) => blockTexts([block]));
    const whole = [blockTexts(item.summary), blockTexts(item.content)].filter((text) => text !== "").join("\n\n");
    const waiting = this.#thoughts;
    this.#thoughts = waiting.filter((thought) => !whole.includes(thought));
    // The event may repeat a recorded item, with its cost in between.
    const told = sections.filter((text) => this.#isTold("thought", text, "item") && !waiting.includes(text));
    const isTold = told.length > 0 && told.length === sections.length;
    const words = isTold ? "" : whole;
    const detail = textAt(item, "encrypted_content") === undefined ? {} : { detail: item };
    yield* this.#say(origin, {
      id: partId([words, item.encrypted_content]),
      ...(words === "" ? {} : { thinking: words }),
      ...detail,
    });
  }

  *#call(origin: Origin, item: JsonObject, type: string): Generator<ImportStep> {
    const id = textAt(item, "call_id") ?? textAt(item, "id") ?? partId([item]);
    const name = textAt(item, "name") ?? type.replace(/_call$/, "");
    const args = item.arguments ?? item.input ?? item.action ?? {};
    yield* this.#say(origin, { id, call: { id, name, args } });
    // The provider runs web searches, and no other item has their result.
    if (type === "web_search_call") {
      const result = { status: item.status ?? "" };
      const step = this.#session.result({ ...origin, identity: ["result", id], call_id: id, result });
      yield* this.#session.queue(step);
    }
  }

  *#output(origin: Origin, item: JsonObject): Generator<ImportStep> {
    const call_id = textAt(item, "call_id") ?? "";
    const output = item.output ?? "";
    const { exit_code, duration_ms } = outcomeOf(output);
    const wrapped = typeof output === "string" ? wrappedOutput(output) : undefined;
    const step = this.#session.result({
      ...origin,
      // A call has one result, so long texts need not be hashed for it.
      identity: call_id === "" ? ["result", output] : ["result", call_id],
      call_id,
      result: wrapped?.output ?? output,
      is_error: exit_code === undefined ? undefined : exit_code !== 0,
      duration_ms,
      extra: wrapped === undefined ? undefined : { metadata: wrapped.metadata },
    });
    this.#hasOutput = true;
    yield* this.#session.queue(step);
  }

  /** Adds to the open answer; after results, another one begins. */
  *#say(origin: Origin, part: AnswerPart, extra?: JsonObject): Generator<ImportStep> {
    if (this.#hasOutput) yield* this.#close();
    const thoughts = this.#thoughts.map((thinking): AnswerPart => ({ id: partId([thinking]), thinking }));
    const parts = thoughts.length === 0 ? [part] : [...thoughts, part];
    const usage = this.#usage;
    this.#thoughts = [];
    this.#usage = undefined;
    const said = { line: origin.line, at: origin.at, parts, model: this.#model, usage, extra };
    yield* this.#session.say("answer", { ...origin, identity: ["assistant", part.id] }, said);
  }

  /** Whether the text already came as the other one of item and event. */
  #isTold(role: string, text: string, side: "item" | "event"): boolean {
    const words = `${role} ${text.includes(CITED) ? text.replace(CITATION, "").trim() : text.trim()}`;
    // A text may be long, and many may wait for their other half.
    const key = words.length > TEXT_CHARS_MAX ? partId([words]) : words;
    const balance = this.#unmatched.get(key) ?? 0;
    const step = side === "item" ? 1 : -1;
    const isTold = balance * step < 0;
    if (balance + step === 0) this.#unmatched.delete(key);
    else {
      if (this.#unmatched.size >= TEXTS_MAX) this.#unmatched.clear();
      this.#unmatched.set(key, balance + step);
    }
    return isTold;
  }
}

function partId(parts: readonly unknown[]): string {
  return hashedId("", parts).slice(1, 17);
}

/** Newer versions label each part; parts of older ones are recognised by their beginning. */
function isInjected(item: JsonObject, text: string): boolean {
  const { content_item_kinds: kinds } = objectAt(item, "internal_chat_message_metadata_passthrough");
  const named = Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === "string" && kind.includes(".")) : [];
  return named.length === 0 ? INJECTED.test(text) : !named.some((kind) => String(kind).startsWith("user."));
}

function isTextBlock(block: JsonValue): boolean {
  return typeof block === "string" || (isJsonObject(block) && typeof block.text === "string");
}

/** Some programs wrote the text of an answer under the name of its type. */
function outputTexts(content: JsonValue | undefined): string {
  if (!Array.isArray(content)) return "";
  return content.flatMap((block) => (isJsonObject(block) ? (textAt(block, "output_text") ?? []) : [])).join("\n");
}

/** The memories that an answer cites, one per line, without their tags. */
function citedIn(citation: string): readonly string[] {
  return citation
    .replace(/<[^>]*>/g, "\n")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** The first line of the header above the output of a command. */
const OUTCOME_HEAD = /^(?:Exit code:|exit_code:|Process exited|Command:|Chunk ID:|Wall time)/i;
const OUTPUT_LINE = /^Output:/m;

/** A command's outcome according to its output: in the JSON around it, or in the header lines. */
function outcomeOf(output: JsonValue): { readonly exit_code?: number; readonly duration_ms?: number } {
  if (isJsonObject(output)) return outcomeIn(output);
  const text = typeof output === "string" ? output : blockTexts(output);
  if (text.startsWith("{")) {
    // The metadata usually follows an output of any length.
    const ending = /,("metadata":\{[^{}]*\}\})$/.exec(text.slice(-OUTCOME_CHARS))?.[1];
    const parsed = parseJsonObject(ending === undefined ? text : `{${ending}`);
    return parsed === undefined ? {} : outcomeIn(parsed);
  }
  const opening = text.slice(0, OPENING_CHARS);
  const script = /^Script (completed|failed)\nWall time/.exec(opening)?.[1];
  if (script === undefined && !OUTCOME_HEAD.test(opening)) return {};
  const head = opening.slice(0, OUTPUT_LINE.exec(opening)?.index);
  const code = /^(?:Exit code:|Process exited with code|exit_code:)\s*(-?\d+)/im.exec(head)?.[1];
  const seconds = /^Wall time:? ([\d.]+) seconds/m.exec(head)?.[1];
  return {
    ...(code === undefined ? {} : { exit_code: Number(code) }),
    ...(script === undefined ? {} : { exit_code: script === "failed" ? 1 : 0 }),
    ...(seconds === undefined ? {} : { duration_ms: Math.round(Number(seconds) * 1_000) }),
  };
}

/** Older versions wrap an output in JSON, with line breaks as `\n`. */
function wrappedOutput(text: string): { readonly output: string; readonly metadata: JsonObject } | undefined {
  const { output, metadata, ...others } = (text.startsWith("{") ? parseJsonObject(text) : undefined) ?? {};
  const isWrapped = typeof output === "string" && isJsonObject(metadata) && Object.keys(others).length === 0;
  return isWrapped ? { output, metadata } : undefined;
}

function outcomeIn(output: JsonObject): { readonly exit_code?: number; readonly duration_ms?: number } {
  const metadata = objectAt(output, "metadata");
  const code = metadata.exit_code ?? output.exit_code ?? (output.success === false ? 1 : undefined);
  const seconds = metadata.duration_seconds;
  return {
    ...(typeof code === "number" ? { exit_code: code } : {}),
    ...(typeof seconds === "number" ? { duration_ms: Math.round(seconds * 1_000) } : {}),
  };
}
