// Files of plain messages as OpenAI and Anthropic accept them: a list, a document with `messages`, or such documents
// line by line. Tool results stay separate messages.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { isRole } from "../model/roles.js";
import { anthropicUsage, openAiUsage, toUsage } from "../model/usage.js";
import type { DocumentImporter, ImportSource, ImportStep, LineImporter, Opening, SourceOf } from "./importer.js";
import { oneByOne } from "./lines.js";
import { textAt } from "./transcript/fields.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import type { TranscriptState } from "./transcript/transcript.js";
import { Transcript, type TranscriptSession } from "./transcript/transcript.js";

type Provider = "anthropic" | "openai";

const isOf: { readonly [P in Provider]: (messages: JsonValue | undefined, whole: JsonValue | undefined) => boolean } = {
  anthropic: (messages, whole) => isMessages(messages) && isAnthropic(messages as readonly JsonValue[], whole),
  openai: (messages) => isMessages(messages),
};

export const anthropicDocumentImporter = documentImporter("anthropic");
export const anthropicLineImporter = lineImporter("anthropic");
export const openAiDocumentImporter = documentImporter("openai");
export const openAiLineImporter = lineImporter("openai");

function documentImporter(format: Provider): DocumentImporter {
  return {
    format,
    reads: "document",
    recognises: ({ document, records }: Opening) =>
      records.length < 2 && isOf[format](isJsonObject(document) ? document.messages : document, document),
    read: (source) => readDocument(format, source),
  };
}

function lineImporter(format: Provider): LineImporter {
  return {
    format,
    reads: "lines",
    recognises: ({ records }: Opening) => records.some((record) => isOf[format](record.messages, record)),
    read: (source) => readLines(format, source),
  };
}

function isMessages(value: JsonValue | undefined): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  // The opening may have cut off the last one.
  return isMessage(value[0]) && value.slice(0, -1).every(isMessage);
}

function isMessage(value: JsonValue | undefined): boolean {
  return (
    isJsonObject(value) && isRole(roleOf(value)) && ("content" in value || "tool_calls" in value || "parts" in value)
  );
}

function isAnthropic(messages: readonly JsonValue[], whole: JsonValue | undefined): boolean {
  if (isJsonObject(whole) && "system" in whole) return true;
  return messages.some((message) => {
    const content = isJsonObject(message) ? message.content : undefined;
    const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
    return blocks.some(({ type }) => type === "tool_use" || type === "tool_result" || type === "thinking");
  });
}

/** Two roles that views show under other names. */
function roleOf(message: JsonObject): JsonValue {
  if (message.role === "function") return "tool";
  return message.role === "model" ? "assistant" : (message.role ?? "");
}

const HEADER = [
  "id",
  "session_id",
  "conversation_id",
  "title",
  "model",
  "usage",
  "system",
  "created",
  "created_at",
  "timestamp",
];

async function* readDocument(format: Provider, source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const isList = Array.isArray(source.opening.document);
  const chat = new Chat(format, source);
  yield* chat.begin(1, isList ? {} : await source.header(HEADER), source.stem);
  for await (const item of source.values(isList ? "*" : "messages.*")) {
    if ("reason" in item) yield item;
    else yield* chat.take(item.line, item.value);
  }
}

async function* readLines(format: Provider, source: ImportSource): AsyncGenerator<ImportStep> {
  const chat = new Chat(format, source, source.resume.state as ChatState | undefined);
  source.resume.onSave(() => chat.state());
  for await (const item of oneByOne(source.records())) {
    if ("reason" in item) yield item;
    else if (!Array.isArray(item.record.messages))
      yield { line: item.line, reason: "the line has no list of messages" };
    else {
      const { messages, ...header } = item.record;
      yield* chat.begin(item.line, header, `${source.stem}:${item.line}`);
      for (const message of messages as readonly JsonValue[]) yield* chat.take(item.line, message);
    }
  }
}

interface ChatState {
  readonly transcript: TranscriptState;
  readonly calls: number;
}

class Chat {
  readonly #format: Provider;
  readonly #transcript: Transcript;
  #session: TranscriptSession;
  #calls: number;

  constructor(format: Provider, source: SourceOf<"document"> | ImportSource, known?: ChatState) {
    const tool = { format, lacks: ["times", "tool definitions", "working folder"] };
    this.#format = format;
    this.#transcript = new Transcript(tool, source, known?.transcript);
    this.#session = this.#transcript.session(source.stem);
    this.#calls = known?.calls ?? 0;
  }

  /** Each line is a complete chat. */
  state(): ChatState {
    return { transcript: this.#transcript.state(), calls: this.#calls };
  }

  *begin(line: number, header: JsonObject, fallback: string): Generator<ImportStep> {
    const key = textAt(header, "session_id") ?? textAt(header, "conversation_id") ?? textAt(header, "id") ?? fallback;
    this.#session = this.#transcript.session(key);
    const at = header.created_at ?? header.created ?? header.timestamp;
    const usage = toUsage(header.usage, this.#format === "anthropic" ? anthropicUsage : openAiUsage);
    const model = textAt(header, "model");
    const metadata = { ...(model === undefined ? {} : { model }), ...(usage === undefined ? {} : { usage }) };
    yield* this.#session.about({ line, at }, { title: textAt(header, "title"), metadata });
    if (header.system === undefined || header.system === null) return;
    yield this.#session.message(
      { line, at, identity: ["system", header.system] },
      { role: "system", content: header.system },
    );
  }

  *take(line: number, message: JsonValue): Generator<ImportStep> {
    if (!isJsonObject(message) || !isRole(roleOf(message))) {
      yield { line, reason: "not a message: unknown role" };
      return;
    }
    const at = message.timestamp ?? message.created_at;
    const origin = { line, at, identity: [message] };
    const role = String(roleOf(message));
    if (this.#format === "anthropic" && role === "assistant" && Array.isArray(message.content)) {
      yield* this.#session.say("answer", origin, {
        line,
        at,
        parts: this.#parts(message.content, line),
        model: textAt(message, "model"),
        usage: toUsage(message.usage, anthropicUsage),
      });
      yield* this.#session.close();
    } else if (this.#format === "anthropic" && role === "user" && Array.isArray(message.content)) {
      yield* this.#user(origin, message.content);
    } else yield this.#plain(origin, role, message);
  }

  #parts(content: readonly JsonValue[], line: number): readonly AnswerPart[] {
    return content.filter(isJsonObject).map((block): AnswerPart => {
      const id = `part-${line}-${this.#calls}`;
      if (block.type === "text") return { id, text: textAt(block, "text") ?? "" };
      if (block.type === "thinking" || block.type === "redacted_thinking") return { id, thinking: block };
      if (block.type !== "tool_use") return { id, block };
      this.#calls += 1;
      const call = { id: textAt(block, "id") ?? `call-${this.#calls}`, name: textAt(block, "name") ?? "unknown" };
      return { id, call: { ...call, args: block.input ?? {} } };
    });
  }

  /** Each result is a message of its own; the user's other parts follow them. */
  *#user(
    origin: { readonly line: number; readonly at: JsonValue | undefined },
    content: readonly JsonValue[],
  ): Generator<ImportStep> {
    const isResult = (block: JsonValue): boolean => isJsonObject(block) && block.type === "tool_result";
    for (const block of content.filter(isResult) as readonly JsonObject[]) {
      const fields = { role: "tool", content: block.content ?? "", tool_call_id: textAt(block, "tool_use_id") ?? "" };
      const extra = block.is_error === true ? { is_error: true } : undefined;
      yield this.#session.message({ ...origin, identity: ["result", block], extra }, fields);
    }
    const rest = content.filter((block) => !isResult(block));
    if (rest.length > 0)
      yield this.#session.message({ ...origin, identity: ["user", rest] }, { role: "user", content: rest });
  }

  #plain(
    origin: { readonly line: number; readonly at: JsonValue | undefined },
    role: string,
    message: JsonObject,
  ): ImportStep {
    const { role: _, content, parts, tool_calls, tool_call_id, name, timestamp: __, usage, ...extra } = message;
    const counted = toUsage(usage, openAiUsage);
    const calls = Array.isArray(tool_calls) ? tool_calls.filter(isJsonObject) : [];
    const words = content ?? parts ?? (calls.length > 0 ? null : "");
    return this.#session.message(
      { ...origin, identity: [message], extra: { ...extra, ...(counted === undefined ? {} : { usage: counted }) } },
      {
        role,
        content: isJsonObject(words) ? JSON.stringify(words) : words,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
        ...(typeof tool_call_id === "string" ? { tool_call_id } : {}),
        ...(typeof name === "string" ? { name } : {}),
      },
    );
  }
}
