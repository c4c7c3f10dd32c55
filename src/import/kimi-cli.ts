// Kimi CLI's sessions: what went over its wire, with times and tokens; and the model's context, from which the system prompt is
// taken, and everything where there is no wire.
import { hash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import type { ImportSource, ImportStep, LineImporter, Opening } from "./importer.js";
import { oneByOne } from "./lines.js";
import { blocksOf, objectAt, objectIn, onlyText, textAt } from "./transcript/fields.js";
import { type LineReader, readWith } from "./transcript/line-reader.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import {
  type Origin,
  type SessionFacts,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "kimi-cli", lacks: ["rules files", "tool definitions"] };

const usageNames: UsageNames = {
  input_tokens: [["input_other"]],
  output_tokens: [["output"]],
  cache_read_tokens: [["input_cache_read"]],
  cache_write_tokens: [["input_cache_creation"]],
};
/** So many lines before the first one with a time. */
const EARLY_MAX = 100;
const CONTEXT_ROLES = ["_system_prompt", "_checkpoint", "_usage"];

export const kimiCliImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some((record) => isWire(record) || isContext(record)),
  async *read(source) {
    const known = source.resume.state as SessionNote | undefined;
    const isWireFile = known === undefined ? source.opening.records.some(isWire) : known.is_wire;
    const [facts, system] = [await factsNear(source), isWireFile ? await systemNear(source) : undefined];
    const session = new KimiSession(source, { is_wire: isWireFile, system, facts }, known);
    if (isWireFile || (await source.siblings.read("wire.jsonl")) === undefined) yield* readWith(source, session);
    else {
      // Everything that is said is on the wire, and with times.
      source.resume.onSave(() => session.state());
      for await (const item of oneByOne(source.records())) if ("reason" in item) yield [item];
    }
  },
};

function isWire(record: JsonObject): boolean {
  const { type, payload } = objectAt(record, "message");
  return typeof record.timestamp === "number" && typeof type === "string" && isJsonObject(payload);
}

function isContext(record: JsonObject): boolean {
  return CONTEXT_ROLES.includes(String(record.role));
}

/** Sessions are in folders named after a hash of where they ran. */
async function factsNear({ siblings, path }: ImportSource): Promise<SessionFacts> {
  const title = textAt(objectIn(await siblings.read("state.json")) ?? {}, "custom_title");
  const [, folder] = /([^\\/]+)[\\/][^\\/]+[\\/][^\\/]+$/.exec(path) ?? [];
  const known = objectIn(await siblings.read("../../../kimi.json"))?.work_dirs;
  const paths = (Array.isArray(known) ? known : []).filter(isJsonObject).flatMap((one) => textAt(one, "path") ?? []);
  return { title, cwd: paths.find((one) => folder?.endsWith(hash("md5", one, "hex")) === true) };
}

/** The system prompt, which begins the model's context. */
async function systemNear({ siblings }: ImportSource): Promise<string | undefined> {
  const context = (await siblings.read("context.jsonl")) ?? "";
  const first = objectIn(context.slice(0, Math.max(0, context.indexOf("\n"))));
  return first?.role === "_system_prompt" ? onlyText(first.content) : undefined;
}

interface SessionNote {
  readonly transcript: TranscriptState;
  readonly session: SessionState;
  readonly is_wire: boolean;
  readonly steps: number;
  readonly early: readonly { readonly line: number; readonly record: JsonObject }[];
}

class KimiSession implements LineReader {
  readonly #transcript: Transcript;
  readonly #session: TranscriptSession;
  readonly #isWire: boolean;
  readonly #system: string | undefined;
  /** Lines without a time, until one with a time comes. */
  #early: { readonly line: number; readonly record: JsonObject }[];
  readonly #facts: SessionFacts;
  #steps: number;
  #isPrompted = false;

  constructor(
    source: ImportSource,
    of: { readonly is_wire: boolean; readonly system: string | undefined; readonly facts: SessionFacts },
    known?: SessionNote,
  ) {
    this.#transcript = new Transcript(tool, source, known?.transcript);
    const [, folder = source.stem] = /([^\\/]+)[\\/][^\\/]+$/.exec(source.path) ?? [];
    this.#session = known === undefined ? this.#transcript.session(folder) : this.#transcript.revive(known.session);
    this.#isWire = of.is_wire;
    this.#system = of.system;
    this.#early = [...(known?.early ?? [])];
    this.#facts = of.facts;
    this.#steps = known?.steps ?? 0;
  }

  state(): SessionNote {
    return {
      transcript: this.#transcript.state(),
      session: this.#session.state(),
      is_wire: this.#isWire,
      steps: this.#steps,
      early: this.#early,
    };
  }

  *take(line: number, record: JsonObject): Generator<ImportStep> {
    const origin: Origin = { line, at: record.timestamp, identity: [record] };
    if (!this.#isWire) {
      yield* this.#session.about(origin, this.#facts);
      yield* this.#context(origin, record);
      return;
    }
    if (record.timestamp === undefined && this.#early.length < EARLY_MAX) {
      this.#early.push({ line, record });
      return;
    }
    yield* this.#session.about(origin, this.#facts);
    if (this.#system !== undefined) yield* this.#prompted({ ...origin, identity: [] }, this.#system);
    yield* this.#takeEarly();
    yield* this.#wire(origin, record);
  }

  *end(): Generator<ImportStep> {
    yield* this.#session.close();
  }

  *#takeEarly(): Generator<ImportStep> {
    const early = this.#early;
    this.#early = [];
    for (const { line, record } of early) yield this.#session.raw({ line, at: undefined, identity: [record] }, record);
  }

  /** It is the same each time the file is read. */
  *#prompted(origin: Origin, content: JsonValue): Generator<ImportStep> {
    if (this.#isPrompted) return;
    this.#isPrompted = true;
    const of = { ...origin, identity: ["system", content], is_once: true, is_restamped: true };
    yield this.#session.message(of, { role: "system", content, injected: "other" });
  }

  *#wire(origin: Origin, record: JsonObject): Generator<ImportStep> {
    const session = this.#session;
    const { type } = objectAt(record, "message");
    const payload = objectAt(objectAt(record, "message"), "payload");
    switch (type) {
      case "TurnBegin":
      case "SteerInput": {
        yield* session.close();
        const input = payload.user_input ?? "";
        const content = onlyText(input) ?? blocksOf(input);
        const [, name, args = ""] =
          (typeof content === "string" ? /^(\/[\w:-]+)(?:\s+([\s\S]*))?$/.exec(content) : null) ?? [];
        const extra = name === undefined ? {} : { extra: { command: { name, args, text: content as string } } };
        yield session.message({ ...origin, ...extra }, { role: "user", content });
        return;
      }
      case "StepBegin":
        yield* session.close();
        this.#steps += 1;
        return;
      case "ContentPart":
        yield* this.#say(origin, partOf(payload, `${origin.line}`));
        return;
      case "ToolCall":
        yield* this.#say(origin, callOf(payload, `${origin.line}`));
        return;
      case "ToolResult": {
        const value = objectAt(payload, "return_value");
        const result = onlyText(value.output) ?? value.output ?? "";
        const call_id = textAt(payload, "tool_call_id") ?? "";
        const step = session.result({
          ...origin,
          call_id,
          result: result === "" ? (value.message ?? "") : result,
          is_error: typeof value.is_error === "boolean" ? value.is_error : undefined,
        });
        yield* session.queue(step);
        return;
      }
      case "StatusUpdate": {
        const usage = toUsage(payload.token_usage, usageNames);
        const id = textAt(payload, "message_id");
        const isOpen =
          usage !== undefined &&
          session.amend((said) => ({
            ...said,
            usage,
            extra: { ...said.extra, ...(id === undefined ? {} : { message_id: id }) },
          }));
        if (isOpen) return;
        break;
      }
    }
    yield* session.queue(session.raw(origin, record));
  }

  *#say(origin: Origin, part: AnswerPart): Generator<ImportStep> {
    const said = { line: origin.line, at: origin.at, parts: [part] };
    yield* this.#session.say(`step-${this.#steps}`, { ...origin, identity: ["assistant", origin.identity] }, said);
  }

  /** Older versions have nothing but the context. */
  *#context(origin: Origin, record: JsonObject): Generator<ImportStep> {
    const session = this.#session;
    const content = onlyText(record.content) ?? record.content ?? "";
    if (record.role === "_system_prompt") yield* this.#prompted(origin, content);
    else if (record.role === "user") {
      const isReminder =
        typeof content === "string" && /^<system(?:-reminder)?>[\s\S]*<\/system(?:-reminder)?>$/.test(content);
      yield session.message(origin, { role: "user", content, ...(isReminder ? { injected: "reminder" } : {}) });
    } else if (record.role === "assistant") {
      const calls = Array.isArray(record.tool_calls) ? record.tool_calls.filter(isJsonObject) : [];
      yield* session.say("answer", origin, {
        line: origin.line,
        at: undefined,
        parts: [
          ...blocksOf(record.content).map((block) => partOf(block, "0")),
          ...calls.map((call, nth) => callOf(call, `${origin.line}-${nth}`)),
          { id: "0" },
        ],
      });
      yield* session.close();
    } else if (record.role === "tool") {
      yield session.result({ ...origin, call_id: textAt(record, "tool_call_id") ?? "", result: content });
    } else yield session.raw(origin, record);
  }
}

function partOf(part: JsonObject, id: string): AnswerPart {
  if (part.type === "think") return { id, thinking: textAt(part, "think") ?? "" };
  return part.type === "text" ? { id, text: textAt(part, "text") ?? "" } : { id, block: part };
}

function callOf(call: JsonObject, id: string): AnswerPart {
  const named = objectAt(call, "function");
  const args: JsonValue = named.arguments ?? {};
  return { id, call: { id: textAt(call, "id") ?? id, name: textAt(named, "name") ?? "unknown", args } };
}
