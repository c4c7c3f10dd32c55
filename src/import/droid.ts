// Droid's sessions: lines around Anthropic's messages, with tokens of the whole session in a document next to them.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import type { ImportSource, ImportStep, LineImporter, Opening } from "./importer.js";
import { answerParts, hasFailed, resultIn } from "./transcript/anthropic-blocks.js";
import { blocksOf, objectIn, splitInjected, textAt } from "./transcript/fields.js";
import { type LineReader, readWith } from "./transcript/line-reader.js";
import { totalStep } from "./transcript/totals.js";
import {
  type Origin,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "droid", lacks: ["system prompt", "rules files", "tool definitions"] };

const usageNames: UsageNames = {
  input_tokens: [["inputTokens"]],
  output_tokens: [["outputTokens"]],
  cache_read_tokens: [["cacheReadTokens"]],
  cache_write_tokens: [["cacheCreationTokens"]],
  reasoning_tokens: [["thinkingTokens"]],
};
const REMINDER = /<(system-reminder)\b/;
const FAILED = /^Error: |\(exit code: [1-9]\d*\)/;
/** A failure is said at the beginning. */
const FAILED_CHARS = 300;

export const droidImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some(isStart),
  async *read(source) {
    const settings = objectIn(await source.siblings.read(`${source.stem}.settings.json`)) ?? {};
    yield* readWith(source, new DroidSession(source, settings, source.resume.state as DroidState | undefined));
  },
};

function isStart(record: JsonObject): boolean {
  return record.type === "session_start" && textAt(record, "id") !== undefined;
}

interface DroidState {
  readonly transcript: TranscriptState;
  readonly session: SessionState;
  readonly start: JsonObject | undefined;
}

class DroidSession implements LineReader {
  readonly #transcript: Transcript;
  readonly #settings: JsonObject;
  readonly #isGrowing: () => boolean;
  #session: TranscriptSession;
  /** What the first line says, until a line with a time comes. */
  #start: JsonObject | undefined;
  #last: Origin = { line: 0, at: undefined };

  constructor(source: ImportSource, settings: JsonObject, known?: DroidState) {
    this.#transcript = new Transcript(tool, source, known?.transcript);
    this.#session =
      known === undefined ? this.#transcript.session(source.stem) : this.#transcript.revive(known.session);
    this.#start = known?.start;
    this.#settings = settings;
    this.#isGrowing = source.isGrowing;
  }

  state(): DroidState {
    return { transcript: this.#transcript.state(), session: this.#session.state(), start: this.#start };
  }

  *take(line: number, record: JsonObject): Generator<ImportStep> {
    const origin: Origin = { line, at: record.timestamp, native: textAt(record, "id"), identity: [record] };
    this.#last = origin;
    if (isStart(record)) {
      this.#session = this.#transcript.session(String(record.id));
      this.#start = record;
      return;
    }
    if (this.#start !== undefined && record.timestamp !== undefined) yield* this.#about(record.timestamp);
    if (record.type === "message" && isJsonObject(record.message)) {
      const blocks = blocksOf(record.message.content);
      if (record.message.role === "assistant") yield* this.#answer(origin, blocks);
      else if (record.message.role === "user") yield* this.#user(origin, blocks);
      else yield this.#session.raw(origin, record);
    } else yield this.#session.raw({ ...origin, native: undefined }, record);
  }

  *#about(at: JsonValue | undefined): Generator<ImportStep> {
    const start = this.#start ?? {};
    this.#start = undefined;
    const version = typeof start.version === "number" ? String(start.version) : textAt(start, "version");
    yield* this.#session.about({ line: 1, at }, { title: textAt(start, "title"), cwd: textAt(start, "cwd"), version });
  }

  *end(): Generator<ImportStep> {
    yield* this.#session.close();
    const usage = toUsage(this.#settings.tokenUsage, usageNames);
    if (usage === undefined || this.#isGrowing() || this.#last.line === 0) return;
    const { line, at } = this.#last;
    yield totalStep(this.#session, { line, at }, { usage, model: textAt(this.#settings, "model") });
  }

  *#answer(origin: Origin, blocks: readonly JsonObject[]): Generator<ImportStep> {
    yield* this.#session.say("answer", origin, {
      line: origin.line,
      at: origin.at,
      parts: answerParts(origin.native ?? "part", blocks),
      model: textAt(this.#settings, "model"),
    });
    yield* this.#session.close();
  }

  *#user(origin: Origin, blocks: readonly JsonObject[]): Generator<ImportStep> {
    const of = (name: string): Origin =>
      origin.native === undefined
        ? { ...origin, identity: [name, ...(origin.identity ?? [])] }
        : { ...origin, native: `${origin.native}:${name}` };
    const results = blocks.filter(({ type }) => type === "tool_result");
    for (const block of results) {
      const call_id = textAt(block, "tool_use_id") ?? "";
      const result = resultIn(block);
      const isFailed = typeof result === "string" && FAILED.test(result.slice(0, FAILED_CHARS));
      yield this.#session.result({
        ...of(`result-${call_id}`),
        call_id,
        result,
        is_error: isFailed ? true : hasFailed(block),
      });
    }
    const rest = blocks.filter(({ type }) => type !== "tool_result");
    if (rest.length === 0 && results.length > 0) return;
    const { content, injected } = splitInjected([...rest], REMINDER);
    if (injected.length > 0) {
      yield this.#session.message(of("reminder"), { role: "user", content: injected.join("\n"), injected: "reminder" });
    }
    if (content === undefined) return;
    const [, name, args = ""] =
      (typeof content === "string" ? /^(\/[\w:-]+)(?:\s+([\s\S]*))?$/.exec(content) : null) ?? [];
    const extra = name === undefined ? {} : { extra: { command: { name, args, text: content } } };
    yield this.#session.message({ ...origin, ...extra }, { role: "user", content });
  }
}
