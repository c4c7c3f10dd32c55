// Gemini CLI's chats: lines of which the last with an id counts, or the older form of one document; rewound messages
// leave the talk.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type {
  DocumentImporter,
  ImportSource,
  ImportStep,
  LineImporter,
  Opening,
  SourceFacts,
  SourceOf,
} from "./importer.js";
import { blockTexts, objectAt, textAt } from "./transcript/fields.js";
import type { SessionNote, TranscriptNote } from "./transcript/note.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";
import { toUsage, type UsageNames } from "./transcript/usage.js";

const tool = { format: "gemini-cli", lacks: ["system prompt", "tool definitions", "working folder"] };

const usageNames: UsageNames = {
  input_tokens: [["input"]],
  output_tokens: [["output"]],
  cache_read_tokens: [["cached"]],
  reasoning_tokens: [["thoughts"]],
};
const SPEAKERS = ["user", "gemini", "model", "info", "error", "warning"];
const HEADER = ["sessionId", "projectHash", "startTime", "lastUpdated", "summary", "kind", "directories"];

export const geminiCliImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some((record) => isHeader(record) && !Array.isArray(record.messages)),
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

async function* read(source: ImportSource): AsyncGenerator<ImportStep> {
  const known = source.resume.known as GeminiNote | undefined;
  const chat = new Chat(source, known?.chat);
  const survey = source.path === "-" ? undefined : await surveyOf(source, known?.survey);
  const left = leftSince(known?.survey, survey);
  source.resume.note((): GeminiNote => ({ chat: chat.note(), survey }));
  for await (const item of source.records()) {
    if ("reason" in item) {
      yield item;
      continue;
    }
    const { line, record } = item;
    const id = textAt(record, "id");
    // Only the last of those with one id was the message in the end.
    if (id !== undefined && survey !== undefined && survey.lastLines.get(id) !== line) continue;
    const isRewound = id !== undefined && survey?.rewound.has(id) === true;
    if (isHeader(record)) yield* chat.header(line, record);
    else if (isJsonObject(record.$set)) yield* chat.set(line, record.$set, record);
    else if (SPEAKERS.includes(String(record.type)) && !isRewound) yield* chat.message(line, record);
    else yield chat.raw(line, record);
    if ("$rewindTo" in record) for (const native of left.splice(0)) yield chat.withdrawal(line, record, native);
  }
}

/** What was recorded of a file before it was rewound. */
function leftSince(before: Survey | undefined, now: Survey | undefined): string[] {
  return (before?.order ?? []).filter((id) => now?.rewound.has(id) === true);
}

interface GeminiNote {
  readonly chat: ChatNote;
  readonly survey: Survey | undefined;
}

interface ChatNote {
  readonly transcript: TranscriptNote;
  readonly session: SessionNote;
  readonly start: JsonValue | undefined;
}

/** Which line is the last of each id, and which messages were rewound and not written again after that. */
interface Survey {
  readonly lastLines: ReadonlyMap<string, number>;
  readonly rewound: ReadonlySet<string>;
  /** The messages that stand, in their order. */
  readonly order: readonly string[];
}

async function surveyOf(source: ImportSource, known: Survey | undefined): Promise<Survey> {
  const lastLines = new Map(known?.lastLines);
  const rewound = new Set(known?.rewound);
  let order = [...(known?.order ?? [])];
  for await (const item of source.records()) {
    if (!("record" in item)) continue;
    const id = textAt(item.record, "id");
    const to = textAt(item.record, "$rewindTo");
    if (id !== undefined) {
      if (!lastLines.has(id) || rewound.has(id)) order.push(id);
      lastLines.set(id, item.line);
      rewound.delete(id);
    } else if (to !== undefined && order.includes(to)) {
      const at = order.lastIndexOf(to);
      for (const left of order.slice(at)) rewound.add(left);
      order = order.slice(0, at);
    }
  }
  return { lastLines, rewound, order };
}

async function* readDocument(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const chat = new Chat(source);
  yield* chat.header(1, await source.header(HEADER));
  for await (const item of source.values("messages.*")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) yield* chat.message(item.line, item.value);
    else yield { line: item.line, reason: "the message is no object" };
  }
}

class Chat {
  readonly #transcript: Transcript;
  #session: TranscriptSession;
  #start: JsonValue | undefined;

  constructor(source: SourceFacts, known?: ChatNote) {
    const transcript = new Transcript(tool, source, known?.transcript);
    this.#transcript = transcript;
    this.#session = known === undefined ? transcript.session(source.stem) : transcript.revive(known.session);
    this.#start = known?.start;
  }

  note(): ChatNote {
    return { transcript: this.#transcript.note(), session: this.#session.note(), start: this.#start };
  }

  *header(line: number, record: JsonObject): Generator<ImportStep> {
    this.#session = this.#transcript.session(textAt(record, "sessionId") ?? this.#session.id);
    this.#start = record.startTime;
    const [folder] = Array.isArray(record.directories) ? (record.directories as readonly JsonValue[]) : [];
    const origin = { line, at: record.startTime };
    yield* this.#session.about(origin, {
      title: textAt(record, "summary"),
      cwd: typeof folder === "string" ? folder : undefined,
      metadata: { ...(record.projectHash === undefined ? {} : { project_hash: record.projectHash }) },
    });
  }

  *set(line: number, set: JsonObject, record: JsonObject): Generator<ImportStep> {
    const origin = { line, at: set.lastUpdated ?? this.#start };
    if (textAt(set, "summary") !== undefined) yield* this.#session.about(origin, { title: textAt(set, "summary") });
    yield this.raw(line, record);
  }

  raw(line: number, record: JsonObject): ImportStep {
    const native = textAt(record, "id");
    return this.#session.raw({ line, at: record.timestamp, native, identity: [record], is_once: true }, record);
  }

  withdrawal(line: number, { timestamp }: JsonObject, native: string): ImportStep {
    return this.#session.withdrawal({ line, at: timestamp, native });
  }

  *message(line: number, message: JsonObject): Generator<ImportStep> {
    const native = textAt(message, "id");
    const origin = { line, at: message.timestamp, native, ...(native === undefined ? { identity: [message] } : {}) };
    const { type } = message;
    if (type === "user") yield this.#session.message(origin, { role: "user", content: contentOf(message.content) });
    else if (type === "gemini" || type === "model") yield* this.#answer(origin, message);
    else if (type === "error") yield this.#session.error(origin, blockTexts(message.content) || "unknown error");
    else yield this.raw(line, message);
  }

  *#answer(origin: Origin, message: JsonObject): Generator<ImportStep> {
    const session = this.#session;
    const id = origin.native ?? "part";
    const calls = (Array.isArray(message.toolCalls) ? message.toolCalls : [])
      .filter(isJsonObject)
      .map((call, index) => ({
        call,
        id: textAt(call, "id") ?? `${id}-call-${index}`,
      }));
    const thoughts = (Array.isArray(message.thoughts) ? message.thoughts : []).filter(isJsonObject);
    yield* session.say("answer", origin, {
      ...{
        line: origin.line,
        at: origin.at,
        model: textAt(message, "model"),
        usage: toUsage(message.tokens, usageNames),
      },
      parts: [
        ...thoughts.map((thought) => ({
          id,
          thinking: [thought.subject, thought.description].filter(Boolean).join("\n"),
        })),
        { id, text: blockTexts(message.content) },
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
      ...{ line: origin.line, at: call.timestamp ?? origin.at, native: `result:${call_id}`, call_id },
      result: resultOf(call.result) ?? call.resultDisplay ?? "",
      is_error: status === undefined ? undefined : status === "error",
    });
  }
}

/** Text parts are joined by the client; anything else stays as it is. */
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

/** The output of a function as its response has it; what is more than that stays as it is. */
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
