// The items and events of a Codex session, as messages and results; what is told by both is taken once.
import { isJsonObject, type JsonObject, type JsonValue, jsonEquals, parseJsonObject } from "../model/json.js";
import type { Usage } from "../model/usage.js";
import { hashedId } from "./identity.js";
import type { ImportStep } from "./importer.js";
import { blocksOf, blockTexts, objectAt, textAt } from "./transcript/fields.js";
import type { SessionNote } from "./transcript/note.js";
import type { SaidPart } from "./transcript/said.js";
import type { Origin, TranscriptSession } from "./transcript/transcript.js";
import { addUsage } from "./transcript/usage.js";

/** What Codex puts before the model in the user's name. */
const INJECTED =
  /^\s*(?:<(?:environment_context|user_instructions|user_action|turn_aborted|user_shell_command|skill|subagent_notification|permissions|collaboration_mode|apps_instructions|skills_instructions)\b|# AGENTS\.md)/;
/** What an editor adds lies before the request itself. */
const EDITOR = /^(\s*# [\s\S]*?\n## My request for Codex:\s*)([\s\S]*)$/;
const CITATION = /<oai-mem-citation>([\s\S]*?)<\/oai-mem-citation>/g;
const ERRORS = ["error", "stream_error"];
const CITED = "<oai-mem-citation>";
/** Where the outcome of a command is looked for, from the end of its output. */
const OUTCOME_CHARS = 300;
/** Where it is looked for from the beginning: above it may stand the whole command. */
const OPENING_CHARS = 4_000;
const TEXTS_MAX = 1_000;
const TEXT_CHARS_MAX = 1_000;

export interface ItemsNote {
  readonly session: SessionNote;
  readonly unmatched: ReadonlyMap<string, number>;
  readonly turn: JsonObject | undefined;
  readonly thoughts: readonly string[];
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
  readonly spent_at: Origin;
  readonly has_output: boolean;
}

export class CodexItems {
  readonly #session: TranscriptSession;
  /** How often a text was told by one side and not yet by the other: above zero by items, below by events. */
  readonly #unmatched: Map<string, number>;
  #turn: JsonObject | undefined;
  #thoughts: string[];
  #model: string | undefined;
  #usage: Usage | undefined;
  #spentAt: Origin;
  #hasOutput: boolean;

  constructor(session: TranscriptSession, known?: ItemsNote) {
    this.#session = session;
    this.#unmatched = new Map(known?.unmatched);
    this.#turn = known?.turn;
    this.#thoughts = [...(known?.thoughts ?? [])];
    this.#model = known?.model;
    this.#usage = known?.usage;
    this.#spentAt = known?.spent_at ?? { line: 0, at: undefined, is_restamped: true };
    this.#hasOutput = known?.has_output ?? false;
  }

  note(): ItemsNote {
    return {
      session: this.#session.note(),
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
      this.#thoughts.push(textAt(event, "text") ?? "");
      this.#spentAt = origin;
    } else if (ERRORS.includes(type)) {
      const error = textAt(event, "message") ?? JSON.stringify(event);
      yield* this.#session.behind(this.#session.error(origin, error, type));
    } else {
      const title = textAt(event, "thread_name") ?? textAt(event, "name");
      if (type.endsWith("_name_updated") && title !== undefined) yield* this.#session.about(origin, { title });
      yield* this.raw(origin, { type: "event_msg", payload: event });
    }
  }

  /** Each turn repeats what it runs with; it is kept where it is new. */
  *turn(origin: Origin, context: JsonObject, record: JsonObject): Generator<ImportStep> {
    this.#model = textAt(context, "model") ?? this.#model;
    const { turn_id: _, ...same } = context;
    if (jsonEquals(same, this.#turn)) return;
    this.#turn = same;
    yield* this.#session.behind(
      this.#session.raw({ ...origin, identity: ["turn_context", same], is_once: true }, record),
    );
  }

  *raw(origin: Origin, record: JsonObject): Generator<ImportStep> {
    yield* this.#session.behind(this.#session.raw(origin, record));
  }

  /** What a call to the model cost ends its answer; where none is open yet, it belongs to the next. */
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

  /** What was said so far; what was thought or paid for without a word may belong to what comes. */
  *pause(): Generator<ImportStep> {
    yield* this.#close();
  }

  *end(): Generator<ImportStep> {
    yield* this.#close();
    if (!this.isUnsaid) return;
    // Nothing was said, but something was thought or paid for.
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

  /** An answer without a word of text: code, pictures, or nothing at all, which is no message. */
  *#blocks(origin: Origin, item: JsonObject): Generator<ImportStep> {
    for (const block of blocksOf(item.content)) {
      if (!isTextBlock(block)) yield* this.#say(origin, { id: partId(["block", block]), block });
    }
  }

  *#reasoning(origin: Origin, item: JsonObject): Generator<ImportStep> {
    const words = [blockTexts(item.summary), blockTexts(item.content)].filter((text) => text !== "").join("\n\n");
    this.#thoughts = this.#thoughts.filter((thought) => !words.includes(thought));
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
    // A search on the web runs at the provider's, and nothing else tells how it ended.
    if (type === "web_search_call") {
      const result = { status: item.status ?? "" };
      const step = this.#session.result({ ...origin, identity: ["result", id], call_id: id, result });
      yield* this.#session.behind(step);
    }
  }

  *#output(origin: Origin, item: JsonObject): Generator<ImportStep> {
    const call_id = textAt(item, "call_id") ?? "";
    const output = item.output ?? "";
    const { exit_code, duration_ms } = outcomeOf(output);
    const step = this.#session.result({
      ...origin,
      // A call has one result; texts of any length need not be hashed for it.
      identity: call_id === "" ? ["result", output] : ["result", call_id],
      call_id,
      result: output,
      is_error: exit_code === undefined ? undefined : exit_code !== 0,
      duration_ms,
    });
    this.#hasOutput = true;
    yield* this.#session.behind(step);
  }

  /** Adds to the answer that is open; after results came back, another one begins. */
  *#say(origin: Origin, part: SaidPart, extra?: JsonObject): Generator<ImportStep> {
    if (this.#hasOutput) yield* this.#close();
    const thoughts = this.#thoughts.map((thinking): SaidPart => ({ id: partId([thinking]), thinking }));
    const parts = thoughts.length === 0 ? [part] : [...thoughts, part];
    const usage = this.#usage;
    this.#thoughts = [];
    this.#usage = undefined;
    const said = { line: origin.line, at: origin.at, parts, model: this.#model, usage, extra };
    yield* this.#session.say("answer", { ...origin, identity: ["assistant", part.id] }, said);
  }

  /** Whether the other side told it already. */
  #isTold(role: string, text: string, side: "item" | "event"): boolean {
    const words = `${role} ${text.includes(CITED) ? text.replace(CITATION, "").trim() : text.trim()}`;
    // A text may be long, and many may wait for the other side.
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

/** Newer versions say of each part what it is; of others their beginning tells. */
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

/** The memories that an answer says it used, a line each, without the tags between them. */
function citedIn(citation: string): readonly string[] {
  return citation
    .replace(/<[^>]*>/g, "\n")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** What stands above the output of a command, by its first line, up to the word that ends it. */
const OUTCOME_HEAD = /^(?:Exit code:|exit_code:|Process exited|Command:|Chunk ID:|Wall time)/i;
const OUTPUT_LINE = /^Output:/m;

/** How a command ended, as its output says: in JSON around it, or in the lines above it. */
function outcomeOf(output: JsonValue): { readonly exit_code?: number; readonly duration_ms?: number } {
  if (isJsonObject(output)) return outcomeIn(output);
  const text = typeof output === "string" ? output : blockTexts(output);
  if (text.startsWith("{")) {
    // How it ended stands behind an output of any length, as a rule.
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

function outcomeIn(output: JsonObject): { readonly exit_code?: number; readonly duration_ms?: number } {
  const metadata = objectAt(output, "metadata");
  const code = metadata.exit_code ?? output.exit_code ?? (output.success === false ? 1 : undefined);
  const seconds = metadata.duration_seconds;
  return {
    ...(typeof code === "number" ? { exit_code: code } : {}),
    ...(typeof seconds === "number" ? { duration_ms: Math.round(seconds * 1_000) } : {}),
  };
}
