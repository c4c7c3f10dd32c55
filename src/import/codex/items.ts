// What a rollout's items and events say, as entries of one session: a text that is in both is recorded once.
import { isJsonObject, type JsonObject, type JsonValue, jsonEquals } from "../../model/json.js";
import type { Usage } from "../../model/usage.js";
import type { ImportStep } from "../importer.js";
import { blocksOf, blockTexts, numberAt, objectAt, textAt } from "../transcript/fields.js";
import { type AnswerPart, addUsage } from "../transcript/model-answer.js";
import type { Origin, SessionState, TranscriptSession } from "../transcript/transcript.js";
import { givenKey, injectionOf, isInjected, isSummaryItem, partId, USER_COMMAND } from "./injected.js";
import { outcomeOf, wrappedOutput } from "./outcome.js";

/** What an editor adds precedes the request. */
const EDITOR = /^(\s*# [\s\S]*?\n## My request for Codex:\s*)([\s\S]*)$/;
const CITATION = /<oai-mem-citation>([\s\S]*?)<\/oai-mem-citation>/g;
const ERRORS = ["error", "stream_error"];
const CITED = "<oai-mem-citation>";
/** So many messages to the model are known by their text; a compaction keeps recent ones. */
const GIVEN_MAX = 2_000;
/** So many turns can be rolled back. */
const TURNS_MAX = 200;
const TEXTS_MAX = 1_000;
const TEXT_CHARS_MAX = 1_000;

export interface ItemsState {
  readonly session: SessionState;
  readonly unmatched: ReadonlyMap<string, number>;
  readonly turn: JsonObject | undefined;
  readonly thoughts: readonly string[];
  readonly model: string | undefined;
  readonly usage: Usage | undefined;
  readonly spent_at: Origin;
  readonly has_output: boolean;
  readonly is_paid: boolean;
  readonly given: ReadonlyMap<string, readonly string[]>;
  readonly prompts: readonly string[];
  readonly turns: readonly (readonly number[])[];
}

export class CodexItems {
  readonly #session: TranscriptSession;
  /** How often a text came as an item but not yet as an event; negative for the reverse. */
  readonly #unmatched: Map<string, number>;
  #turn: JsonObject | undefined;
  #thoughts: string[];
  #model: string | undefined;
  #usage: Usage | undefined;
  #spentAt: Origin;
  #hasOutput: boolean;
  /** Whether the cost of the open answer is known, which ends it. */
  #isPaid: boolean;
  /** The ids of messages to the model, by their role and text: a compaction repeats those that stay. */
  readonly #given: Map<string, readonly string[]>;
  /** The ids of those that the user typed. */
  readonly #prompts: string[];
  /** Where the messages of the newest turns are. */
  readonly #turns: number[][];

  constructor(session: TranscriptSession, known?: ItemsState) {
    this.#session = session;
    this.#unmatched = new Map(known?.unmatched);
    this.#turn = known?.turn;
    this.#thoughts = [...(known?.thoughts ?? [])];
    this.#model = known?.model;
    this.#usage = known?.usage;
    this.#spentAt = known?.spent_at ?? { line: 0, at: undefined, is_restamped: true };
    this.#hasOutput = known?.has_output ?? false;
    this.#isPaid = known?.is_paid ?? false;
    this.#given = new Map(known?.given);
    this.#prompts = [...(known?.prompts ?? [])];
    this.#turns = (known?.turns ?? []).map((turn) => [...turn]);
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
      is_paid: this.#isPaid,
      given: this.#given,
      prompts: this.#prompts,
      turns: this.#turns,
    };
  }

  *item(origin: Origin, item: JsonObject): Generator<ImportStep> {
    const type = String(item.type ?? (typeof item.role === "string" ? "message" : ""));
    if (type === "message" && (item.role === "user" || item.role === "developer")) {
      yield* this.#user(origin, item, "item");
    } else if (type === "message" && item.role === "assistant") {
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
    } else if (type === "item_completed") yield* this.#completed(origin, objectAt(event, "item"), event);
    else if (type === "thread_rolled_back") {
      yield* this.end();
      const left = this.#turns.splice(Math.max(0, this.#turns.length - (numberAt(event, "num_turns") ?? 0)));
      yield this.#session.withdraw(origin, () => left.flat());
      yield* this.raw(origin, { type: "event_msg", payload: event });
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
    const isOpen = this.#session.amend((said) => ({ ...said, usage: addUsage(said.usage, usage) }));
    if (isOpen) this.#isPaid = true;
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
    this.#isPaid = false;
    yield* this.#noted(this.#session.close());
  }

  /** Steps whose messages belong to the newest turn. */
  *#noted(steps: Iterable<ImportStep>): Generator<ImportStep> {
    for (const step of steps) {
      const turn = this.#turns.at(-1);
      if (turn === undefined || !("entry" in step) || step.entry.kind !== "message") yield step;
      else {
        const onPlaced = (position: number): void => {
          step.onPlaced?.(position);
          turn.push(position);
        };
        yield { ...step, onPlaced };
      }
    }
  }

  /** Newer versions tell again, as completed items, what was said; the rest is how tools ran. */
  *#completed(origin: Origin, item: JsonObject, event: JsonObject): Generator<ImportStep> {
    const text = blockTexts(item.content);
    if (item.type === "UserMessage") yield* this.#user(origin, { content: item.content ?? "" }, "event");
    else if (item.type === "AgentMessage") yield* this.#text(origin, text, "event");
    else if (item.type === "Reasoning") {
      for (const thought of Array.isArray(item.summary_text) ? item.summary_text : []) {
        yield* this.event(origin, { type: "agent_reasoning", text: thought });
      }
    } else yield* this.raw(origin, { type: "event_msg", payload: event });
  }

  /** From here on the model was given the history that replaced the earlier one. */
  *compacted(origin: Origin, compacted: JsonObject, record: JsonObject): Generator<ImportStep> {
    const said = this.#session.openAnswer;
    const written = said?.parts.map(({ text }) => text ?? "").join("") ?? "";
    const summary = textAt(compacted, "message") ?? "";
    // The answer to the request for a summary is the summary.
    const isSummary = written !== "" && summary.includes(written);
    if (isSummary) {
      yield* this.#session.discard();
      this.#hasOutput = false;
      this.#isPaid = false;
    } else yield* this.end();
    const { replacement_history: replaced } = compacted;
    const items = Array.isArray(replaced) ? replaced.filter(isJsonObject) : undefined;
    const isNew = (item: JsonObject): boolean =>
      item.type === "message" && !this.#given.has(givenKey(item)) && !isSummaryItem(item, summary);
    const kept = items?.flatMap((item) => this.#given.get(givenKey(item)) ?? []) ?? this.#prompts;
    const usage = isSummary ? said?.usage : undefined;
    const extra = {
      ...(usage === undefined ? {} : { usage: usage as JsonObject }),
      ...(usage === undefined || this.#model === undefined ? {} : { model: this.#model }),
      ...(items?.some(({ type }) => type === "compaction") === true ? { is_encrypted: true } : {}),
    };
    const compaction = yield* this.#session.compact({ ...origin, extra }, { summary, kept });
    for (const item of items ?? []) if (isNew(item)) yield* this.#inject(origin, item, blockTexts(item.content));
    const listed = items?.flatMap((item) =>
      isSummaryItem(item, summary) ? [compaction] : (this.#given.get(givenKey(item)) ?? []),
    );
    const list = listed === undefined || listed.length === 0 ? {} : { extra: { given_list: [...new Set(listed)] } };
    yield this.#session.raw({ ...origin, ...list }, record);
  }

  *#user(origin: Origin, item: JsonObject, side: "item" | "event"): Generator<ImportStep> {
    const whole = blockTexts(item.content);
    if (isInjected(item, whole)) {
      yield* this.#inject(origin, item, whole);
      return;
    }
    if (this.#isTold("user", whole, side)) return;
    yield* this.end();
    const [, before, request] = EDITOR.exec(whole) ?? [];
    const images = Array.isArray(item.content) ? item.content.filter((block) => !isTextBlock(block)) : [];
    const said = request ?? whole;
    const words = said === "" && images.length > 0 ? [] : [{ type: "text", text: said }];
    const content = images.length === 0 ? said : [...words, ...images];
    this.#turns.push([]);
    if (this.#turns.length > TURNS_MAX) this.#turns.shift();
    const added = before === undefined ? [] : [this.#editor(origin, before)];
    const step = this.#session.message({ ...origin, identity: ["user", whole] }, { role: "user", content });
    const steps = [...added, step];
    this.#note(item, ...steps.map(({ entry }) => entry.id));
    this.#prompts.push(...steps.map(({ entry }) => entry.id));
    if (this.#prompts.length > GIVEN_MAX) this.#prompts.shift();
    yield* this.#noted(steps);
  }

  /** What an editor puts before a request. */
  #editor(origin: Origin, before: string) {
    const of = { ...origin, identity: ["editor", before] };
    return this.#session.message(of, { role: "user", content: before, injected: "environment" });
  }

  /** What Codex puts before the model in the user's name, or in its own. */
  *#inject(origin: Origin, item: JsonObject, text: string): Generator<ImportStep> {
    yield* this.end();
    const [, command, result] = USER_COMMAND.exec(text) ?? [];
    if (command !== undefined && result !== undefined) {
      const { exit_code, duration_ms } = outcomeOf(result.trim());
      yield this.#session.result({
        ...{ ...origin, identity: ["user command", text], call_id: "", tool: "!", args: { command: command.trim() } },
        result: result.trim(),
        is_error: exit_code === undefined ? undefined : exit_code !== 0,
        duration_ms,
      });
    }
    const texts = blocksOf(item.content).map((block) => ({ type: "text", text: blockTexts([block]) }));
    const step = this.#session.message(
      { ...origin, identity: ["injected", text] },
      {
        role: item.role === "developer" ? "developer" : "user",
        content: texts.length > 1 ? texts : text,
        injected: injectionOf(text),
      },
    );
    this.#note(item, step.entry.id);
    yield step;
  }

  #note(item: JsonObject, ...ids: readonly string[]): void {
    const key = givenKey(item);
    this.#given.delete(key);
    this.#given.set(key, ids);
    const [oldest] = this.#given.size > GIVEN_MAX ? this.#given.keys() : [];
    if (oldest !== undefined) this.#given.delete(oldest);
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
    if (this.#hasOutput || this.#isPaid) yield* this.#close();
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
