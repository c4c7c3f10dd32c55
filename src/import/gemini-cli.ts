// Gemini CLI's chats: lines of which the last with an id counts, or the older form of one document; rewound messages
// leave the talk.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { toUsage, type UsageNames } from "../model/usage.js";
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
import { Branches, type BranchesNote } from "./transcript/branches.js";
import { blockTexts, objectAt, textAt } from "./transcript/fields.js";
import type { SessionNote, TranscriptNote } from "./transcript/note.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";

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
  rereads: true,
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

async function* read(source: ImportSource): AsyncGenerator<Iterable<ImportStep>> {
  const known = source.resume.known as GeminiNote | undefined;
  const survey = new Survey(known?.standing);
  for await (const item of oneByOne(source.records())) if ("record" in item) survey.add(item.line, item.record);
  const chat = new Chat(source, known?.chat);
  source.resume.note((): GeminiNote => ({ chat: chat.note(), standing: survey.standing() }));
  yield chat.turn(survey);
  for await (const records of source.records()) yield chat.takeAll(records, survey);
}

interface GeminiNote {
  readonly chat: ChatNote;
  readonly standing: readonly string[];
}

interface ChatNote {
  readonly transcript: TranscriptNote;
  readonly session: SessionNote;
  readonly branches: BranchesNote;
  readonly start: JsonValue | undefined;
}

/** Which line is the last of each id, and which messages were rewound and not written again after that. */
class Survey {
  readonly #lastLines = new Map<string, number>();
  readonly #rewound = new Set<string>();
  readonly #known: readonly string[];
  /** In the order in which they were said. */
  readonly #standing: Set<string>;

  /** Begins with the messages that stood where reading stopped before. */
  constructor(known: readonly string[] = []) {
    this.#known = known;
    this.#standing = new Set(known);
  }

  add(line: number, record: JsonObject): void {
    const id = textAt(record, "id");
    const to = textAt(record, "$rewindTo");
    if (id !== undefined) {
      this.#standing.add(id);
      this.#lastLines.set(id, line);
      this.#rewound.delete(id);
    } else if (to !== undefined && this.#standing.has(to)) {
      const order = this.standing();
      for (const left of order.slice(order.indexOf(to))) {
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

  isLast(id: string, line: number): boolean {
    return this.#lastLines.get(id) === line;
  }

  isRewound(id: string): boolean {
    return this.#rewound.has(id);
  }
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
  readonly #branches: Branches;
  #session: TranscriptSession;
  #start: JsonValue | undefined;

  constructor(source: SourceFacts, known?: ChatNote) {
    const transcript = new Transcript(tool, source, known?.transcript);
    this.#transcript = transcript;
    this.#branches = new Branches(tool.format, known?.branches);
    this.#session = known === undefined ? transcript.session(source.stem) : transcript.revive(known.session);
    this.#start = known?.start;
  }

  note(): ChatNote {
    return {
      ...{ transcript: this.#transcript.note(), session: this.#session.note() },
      ...{ branches: this.#branches.note(), start: this.#start },
    };
  }

  /** Takes back what was recorded before it was rewound. */
  turn(survey: Survey): Generator<ImportStep> {
    return this.#branches.turn(this.#session, { left: survey.left(), back: [] });
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
    // Only the last of those with one id was the message in the end.
    if (id !== undefined && !survey.isLast(id, line)) return;
    const isRewound = id !== undefined && survey.isRewound(id);
    if (isHeader(record)) yield* this.header(line, record);
    else if (isJsonObject(record.$set)) yield* this.#set(line, record.$set, record);
    else if (SPEAKERS.includes(String(record.type))) {
      yield* this.#branches.take(this.message(line, record), isRewound);
    } else yield this.#raw(line, record);
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

  *#set(line: number, set: JsonObject, record: JsonObject): Generator<ImportStep> {
    const origin = { line, at: set.lastUpdated ?? this.#start };
    if (textAt(set, "summary") !== undefined) yield* this.#session.about(origin, { title: textAt(set, "summary") });
    yield this.#raw(line, record);
  }

  #raw(line: number, record: JsonObject): ImportStep {
    const native = textAt(record, "id");
    return this.#session.raw({ line, at: record.timestamp, native, identity: [record], is_once: true }, record);
  }

  *message(line: number, message: JsonObject): Generator<ImportStep> {
    const native = textAt(message, "id");
    const origin = { line, at: message.timestamp, native, ...(native === undefined ? { identity: [message] } : {}) };
    const { type } = message;
    if (type === "user") yield this.#session.message(origin, { role: "user", content: contentOf(message.content) });
    else if (type === "gemini" || type === "model") yield* this.#answer(origin, message);
    else if (type === "error") yield this.#session.error(origin, blockTexts(message.content) || "unknown error");
    else yield this.#raw(line, message);
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
