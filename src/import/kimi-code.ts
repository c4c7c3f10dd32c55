// Kimi Code's sessions: a log of operations on the model's context for each agent, with what the session is called in a document
// above them.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Injection } from "../model/roles.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import type { ImportSource, ImportStep, LineImporter, Opening } from "./importer.js";
import { Branches, type BranchesState } from "./transcript/branches.js";
import { blocksOf, numberAt, objectAt, objectIn, onlyText, textAt } from "./transcript/fields.js";
import { type LineReader, readWith } from "./transcript/line-reader.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import {
  type Origin,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "kimi-code", lacks: ["tool definitions"] };

const usageNames: UsageNames = {
  input_tokens: [["inputOther"], ["input_other"]],
  output_tokens: [["output"]],
  cache_read_tokens: [["inputCacheRead"], ["input_cache_read"]],
  cache_write_tokens: [["inputCacheCreation"], ["input_cache_creation"]],
};
const OPERATION =
  /^(?:context\.(?:append_message|append_loop_event|apply_compaction|clear|undo)|config\.update|turn\.prompt)$/;
/** Messages that a compaction or an undo can reach. */
const CONTEXT_MAX = 10_000;
const injectionsByOrigin: { readonly [kind: string]: Injection } = {
  injection: "reminder",
  compaction_summary: "summary",
  skill_activation: "command",
  plugin_command: "command",
};

export const kimiCodeImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) =>
    records.some((record) => OPERATION.test(String(record.type)) && typeof record.time === "number"),
  async *read(source) {
    const wire = new Wire(source, source.resume.state as WireState | undefined);
    wire.lookAt(objectIn(await source.siblings.read("../../state.json")) ?? {});
    yield* readWith(source, wire);
  },
};

interface WireState {
  readonly transcript: TranscriptState;
  readonly session: SessionState;
  readonly branches: BranchesState;
  readonly context: readonly ContextMessage[];
  readonly model: string | undefined;
  readonly system: string | undefined;
  readonly step: string | undefined;
}

/** A message of the model's context as it stands. */
interface ContextMessage {
  readonly native: string;
  readonly is_prompt: boolean;
  readonly is_summary: boolean;
  readonly is_user: boolean;
}

class Wire implements LineReader {
  readonly #transcript: Transcript;
  readonly #session: TranscriptSession;
  readonly #branches: Branches;
  readonly #agent: string;
  #context: ContextMessage[];
  #about: JsonObject = {};
  #model: string | undefined;
  /** The native id of the system prompt. */
  #system: string | undefined;
  #step: string | undefined;

  constructor(source: ImportSource, known?: WireState) {
    this.#transcript = new Transcript(tool, source, known?.transcript);
    this.#branches = new Branches(tool.format, known?.branches);
    const [, key, agent] = /([^\\/]+)[\\/]agents[\\/]([^\\/]+)[\\/][^\\/]+$/.exec(source.path) ?? [];
    this.#agent = agent ?? "main";
    const main = () => this.#transcript.session(key ?? source.stem);
    this.#session =
      known !== undefined
        ? this.#transcript.revive(known.session)
        : this.#agent === "main"
          ? main()
          : main().child(this.#agent.startsWith("agent-") ? this.#agent : `agent-${this.#agent}`);
    this.#context = [...(known?.context ?? [])];
    this.#model = known?.model;
    this.#system = known?.system;
    this.#step = known?.step;
  }

  state(): WireState {
    return {
      transcript: this.#transcript.state(),
      session: this.#session.state(),
      branches: this.#branches.state(),
      context: this.#context,
      model: this.#model,
      system: this.#system,
      step: this.#step,
    };
  }

  lookAt(about: JsonObject): void {
    this.#about = about;
  }

  *take(line: number, record: JsonObject): Generator<ImportStep> {
    const at = record.time ?? record.created_at;
    const origin: Origin = { line, at, identity: [record] };
    const isMain = this.#agent === "main";
    const source = textAt(this.#about, "forkedFrom");
    yield* this.#session.about(
      { line, at: at ?? this.#about.createdAt },
      {
        title: isMain ? textAt(this.#about, "title") : undefined,
        cwd: textAt(record, "cwd") ?? textAt(this.#about, "workDir"),
        ...(source === undefined || record.type !== "metadata" ? {} : { metadata: { forked_from: source } }),
      },
    );
    switch (record.type) {
      case "context.append_message":
        if (isJsonObject(record.message)) {
          yield* this.#message(origin, record.message);
          return;
        }
        break;
      case "context.append_loop_event":
        if (isJsonObject(record.event) && (yield* this.#loop(origin, record.event))) return;
        break;
      case "context.apply_compaction":
        yield* this.#compaction(origin, record);
        return;
      case "context.undo":
        yield* this.#undo(numberAt(record, "count") ?? 0);
        break;
      case "context.clear":
        yield* this.#session.close();
        this.#context = [];
        yield this.#clear(origin);
        return;
      case "config.update":
        this.#model = textAt(record, "modelAlias") ?? this.#model;
        yield* this.#config(origin, record);
        break;
    }
    yield* this.#session.queue(this.#session.raw(origin, record));
  }

  *end(): Generator<ImportStep> {
    yield* this.#session.close();
  }

  *#config(origin: Origin, { systemPrompt }: JsonObject): Generator<ImportStep> {
    if (typeof systemPrompt !== "string" || systemPrompt === "") return;
    yield* this.#session.close();
    const of: Origin = { ...origin, identity: ["system", systemPrompt], is_once: true, is_restamped: true };
    const native = `system:${this.#session.idWithoutNative(of).split(":").at(-1)}`;
    if (native === this.#system) return;
    if (this.#system !== undefined)
      yield* this.#branches.applySwitch(this.#session, { left: [this.#system], back: [] });
    this.#system = native;
    yield this.#session.message({ ...origin, native }, { role: "system", content: systemPrompt, injected: "other" });
  }

  *#message(origin: Origin, message: JsonObject): Generator<ImportStep> {
    yield* this.#session.close();
    const kind = textAt(objectAt(message, "origin"), "kind") ?? "user";
    const isSlash = objectAt(message, "origin").trigger === "user-slash";
    const isPrompt = message.role === "user" && (kind === "user" || isSlash);
    const native = this.#named(origin, {
      is_prompt: isPrompt,
      is_summary: kind === "compaction_summary",
      is_user: message.role === "user",
    });
    const content = onlyText(message.content) ?? blocksOf(message.content).map(asBlock);
    if (message.role === "assistant") {
      const calls = Array.isArray(message.toolCalls) ? message.toolCalls.filter(isJsonObject) : [];
      yield* this.#session.say(
        native,
        { ...origin, native },
        {
          line: origin.line,
          at: origin.at,
          model: this.#model,
          parts: [
            ...blocksOf(message.content).map((block) => partOf(block, native)),
            ...calls.map((call) => callPart(call, native)),
          ],
        },
      );
      yield* this.#session.close();
    } else if (message.role === "tool") {
      yield this.#session.result({
        ...origin,
        native,
        call_id: textAt(message, "toolCallId") ?? "",
        result: onlyText(message.content) ?? message.content ?? "",
      });
    } else if (message.role === "user" || message.role === "system") {
      const injected = isPrompt || message.role === "system" ? undefined : (injectionsByOrigin[kind] ?? "other");
      const role = message.role;
      yield this.#session.message(
        { ...origin, native },
        { role, content, ...(injected === undefined ? {} : { injected }) },
      );
    } else yield this.#session.raw(origin, message);
  }

  /** Part of an answer, or a result of one of its calls; false for what is neither. */
  *#loop(origin: Origin, event: JsonObject): Generator<ImportStep, boolean> {
    const session = this.#session;
    const step = textAt(event, "stepUuid") ?? textAt(event, "uuid") ?? this.#step;
    switch (event.type) {
      case "step.begin":
        yield* session.close();
        this.#step = step ?? `line-${origin.line}`;
        return true;
      case "content.part":
        yield* this.#part(origin, step, partOf(objectAt(event, "part"), `${origin.line}`));
        return true;
      case "tool.call":
        yield* this.#part(origin, step, callPart(event, `${origin.line}`));
        return true;
      case "tool.result": {
        const result = isJsonObject(event.result) ? event.result : event;
        const call_id = textAt(event, "toolCallId") ?? "";
        const native = this.#named(origin, { is_prompt: false, is_summary: false, is_user: false });
        yield* session.queue(
          session.result({
            ...{ ...origin, native },
            call_id,
            result: onlyText(result.output) ?? result.output ?? "",
            is_error:
              typeof result.isError === "boolean" ? result.isError : result.output === undefined ? undefined : false,
          }),
        );
        return true;
      }
      case "step.end": {
        const usage = toUsage(event.usage, usageNames);
        if (usage !== undefined) session.amend((said) => ({ ...said, usage }));
        yield* session.close();
        return true;
      }
    }
    return false;
  }

  *#part(origin: Origin, step: string | undefined, part: AnswerPart): Generator<ImportStep> {
    const key = step ?? "step";
    const isFurther = this.#session.openKey === key;
    const native = isFurther
      ? undefined
      : this.#named(
          { ...origin, identity: ["step", key, origin.identity] },
          { is_prompt: false, is_summary: false, is_user: false },
        );
    yield* this.#session.say(
      key,
      { ...origin, native },
      { line: origin.line, at: origin.at, model: this.#model, parts: [part] },
    );
  }

  /** The id of a message, which has none of its own, and its place in the context. */
  #named(origin: Origin, what: Omit<ContextMessage, "native">): string {
    const id = this.#session.idWithoutNative(origin);
    const native = id.slice(tool.format.length + 1);
    this.#context.push({ native, ...what });
    if (this.#context.length > CONTEXT_MAX) this.#context.shift();
    return native;
  }

  /** Newer versions keep some of the user's messages, older ones what came last. */
  *#compaction(origin: Origin, record: JsonObject): Generator<ImportStep> {
    yield* this.#session.close();
    const count = numberAt(record, "keptUserMessageCount");
    const head = numberAt(record, "keptHeadUserMessageCount") ?? 0;
    const users = this.#context.filter(({ is_user, is_prompt }) => is_user && is_prompt);
    const kept =
      count === undefined
        ? this.#context.slice(Math.max(0, numberAt(record, "compactedCount") ?? this.#context.length))
        : [...users.slice(0, head), ...users.slice(Math.max(head, users.length - Math.max(0, count - head)))];
    const { summary, contextSummary, ...details } = record;
    yield* this.#session.compact(
      { ...origin, extra: { details } },
      {
        summary: textAt(record, "contextSummary") ?? textAt(record, "summary") ?? "",
        kept: kept.flatMap(({ native }) => this.#session.idsOf(native)),
        tokens_before: numberAt(record, "tokensBefore"),
      },
    );
    this.#context = [...kept, { native: "", is_prompt: false, is_summary: true, is_user: true }];
  }

  /** Takes back the newest prompts and what followed them, at most up to a compaction. */
  *#undo(count: number): Generator<ImportStep> {
    yield* this.#session.close();
    const floor = this.#context.findLastIndex(({ is_summary }) => is_summary);
    const prompts = this.#context.flatMap(({ is_prompt }, at) => (is_prompt && at > floor ? [at] : []));
    const from = count > 0 ? prompts.at(-count) : undefined;
    if (from === undefined) return;
    const left = this.#context.splice(from).map(({ native }) => native);
    yield* this.#branches.applySwitch(this.#session, { left, back: [] });
  }

  #clear(origin: Origin): ImportStep {
    const { source: _, record: __, ...entry } = this.#session.raw(origin, {}).entry as { [name: string]: unknown };
    return { line: origin.line, entry: { ...entry, kind: "clear", id: String(entry.id) } };
  }
}

function partOf(block: JsonObject, id: string): AnswerPart {
  if (block.type === "think" || block.type === "thinking")
    return { id, thinking: textAt(block, "think") ?? textAt(block, "thinking") ?? "" };
  return block.type === "text" ? { id, text: textAt(block, "text") ?? "" } : { id, block };
}

function callPart(call: JsonObject, id: string): AnswerPart {
  const named = objectAt(call, "function");
  const args: JsonValue = call.args ?? call.arguments ?? named.arguments ?? {};
  const callId = textAt(call, "toolCallId") ?? textAt(call, "id") ?? id;
  return { id, call: { id: callId, name: textAt(call, "name") ?? textAt(named, "name") ?? "unknown", args } };
}

function asBlock(block: JsonObject): JsonObject {
  return block.type === "text" ? { type: "text", text: textAt(block, "text") ?? "" } : block;
}
