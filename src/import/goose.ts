// Goose's sessions in its database, and in lines as older versions wrote them. Messages that a compaction hid from the model stay
// in the table.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import type {
  ImportSource,
  ImportStep,
  LineImporter,
  Opening,
  SourceFacts,
  SourceOf,
  TableImporter,
  TableRow,
} from "./importer.js";
import { blockTexts, objectAt, objectIn, onlyText, textAt } from "./transcript/fields.js";
import { type LineReader, readWith } from "./transcript/line-reader.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import { totalStep } from "./transcript/totals.js";
import {
  type Origin,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "goose", lacks: ["system prompt", "rules files", "tool definitions"] };

const usageNames: UsageNames = {
  input_tokens: [["accumulated_input_tokens"]],
  output_tokens: [["accumulated_output_tokens"]],
};
const SESSION = [
  ...["id", "name", "description", "session_type", "working_dir", "created_at", "provider_name", "model_config_json"],
  ...["parent_session_id", "accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cost"],
];
const MESSAGE = ["message_id", "session_id", "role", "content_json", "created_timestamp", "metadata_json"];
const RESULTS_MAX = 4_096;

export const gooseTablesImporter: TableImporter = {
  format: tool.format,
  reads: "tables",
  recognises: ({ tables }: Opening) =>
    tables?.messages?.includes("content_json") === true && tables.sessions?.includes("working_dir") === true,
  read: readTables,
};

/** Before version 1.10, one file a session. */
export const gooseImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some(isHeader),
  async *read(source) {
    yield* readWith(source, new GooseLines(source, source.resume.state as LinesState | undefined));
  },
};

function isHeader(record: JsonObject): boolean {
  return textAt(record, "working_dir") !== undefined && "description" in record && !("role" in record);
}

async function* readTables(source: SourceOf<"tables">): AsyncGenerator<Iterable<ImportStep>> {
  const transcript = new Transcript(tool, source);
  const query = { table: "messages", columns: MESSAGE, order: ["session_id", "id"] };
  let chat: GooseChat | undefined;
  let key: string | undefined;
  let line = 0;
  for await (const row of source.rows(query)) {
    line += 1;
    if (chat === undefined || key !== row.session_id) {
      if (chat !== undefined) yield chat.end(line);
      key = String(row.session_id);
      chat = new GooseChat(transcript.session(key), source);
      yield chat.about(line, await sessionIn(source, key));
    }
    const content = objectIn(
      typeof row.content_json === "string" ? `{"content":${row.content_json}}` : undefined,
    )?.content;
    if (content === undefined) yield [{ line, reason: `message ${row.message_id} holds no JSON` }];
    else {
      const metadata = objectIn(typeof row.metadata_json === "string" ? row.metadata_json : undefined) ?? {};
      yield chat.message(line, { ...plain(row), id: plain(row).message_id ?? null, content, metadata });
    }
  }
  if (chat !== undefined) yield chat.end(line);
}

async function sessionIn(source: SourceOf<"tables">, id: string): Promise<JsonObject> {
  for await (const row of source.rows({ table: "sessions", columns: SESSION, where: { id } })) return plain(row);
  return {};
}

function plain(row: TableRow): JsonObject {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => !(value instanceof Uint8Array))) as JsonObject;
}

interface LinesState {
  readonly transcript: TranscriptState;
  readonly session: SessionState;
}

class GooseLines implements LineReader {
  readonly #transcript: Transcript;
  readonly #session: TranscriptSession;
  readonly #chat: GooseChat;

  constructor(source: ImportSource, known?: LinesState) {
    this.#transcript = new Transcript(tool, source, known?.transcript);
    this.#session =
      known === undefined ? this.#transcript.session(source.stem) : this.#transcript.revive(known.session);
    this.#chat = new GooseChat(this.#session, source);
  }

  state(): LinesState {
    return { transcript: this.#transcript.state(), session: this.#session.state() };
  }

  *take(line: number, record: JsonObject): Generator<ImportStep> {
    if (isHeader(record)) yield* this.#chat.about(line, record);
    else if (typeof record.role === "string" && "content" in record) {
      yield* this.#chat.message(line, { ...record, created_timestamp: record.created ?? null });
    } else yield this.#session.raw({ line, at: record.created, identity: [record] }, record);
  }

  *end(): Generator<ImportStep> {
    yield* this.#session.close();
  }
}

class GooseChat {
  readonly #session: TranscriptSession;
  readonly #isGrowing: () => boolean;
  /** The native ids of what the model still has. */
  readonly #visible: string[] = [];
  #hidden = 0;
  #isCompacted = false;
  #about: JsonObject = {};
  #last: JsonValue | undefined;

  constructor(session: TranscriptSession, source: SourceFacts) {
    this.#session = session;
    this.#isGrowing = source.isGrowing;
  }

  *about(line: number, about: JsonObject): Generator<ImportStep> {
    this.#about = about;
    yield* this.#session.about(
      { line, at: about.created_at },
      {
        title: textAt(about, "name") ?? textAt(about, "description"),
        cwd: textAt(about, "working_dir"),
        parent: textAt(about, "parent_session_id"),
      },
    );
  }

  *message(line: number, message: JsonObject): Generator<ImportStep> {
    const native = textAt(message, "id");
    const at = message.created_timestamp;
    this.#last = at;
    const origin: Origin = { line, at, native, identity: [message.role ?? "", message.content ?? null] };
    const metadata = objectAt(message, "metadata");
    const blocks = (Array.isArray(message.content) ? message.content : []).filter(isJsonObject);
    const isForModelOnly = metadata.userVisible === false && metadata.agentVisible !== false;
    if (metadata.agentVisible === false) this.#hidden += 1;
    else if (native !== undefined && !isForModelOnly) {
      this.#visible.push(
        native,
        ...blocks.flatMap((block) => (block.type === "toolResponse" ? [resultNative(block)] : [])),
      );
      if (this.#visible.length > RESULTS_MAX) this.#visible.shift();
    }
    // What the model was given instead of the messages that it no longer sees.
    if (isForModelOnly && this.#hidden > 0 && !this.#isCompacted) {
      this.#isCompacted = true;
      const kept = this.#visible.flatMap((one) => this.#session.idsOf(one));
      yield* this.#session.compact(origin, { summary: blockTexts(blocks), kept });
      return;
    }
    if (message.role === "assistant" && !isForModelOnly) yield* this.#answer(origin, blocks);
    else yield* this.#user(origin, message, blocks, isForModelOnly);
  }

  *end(line: number): Generator<ImportStep> {
    yield* this.#session.close();
    const usage = toUsage(this.#about, usageNames);
    if (usage === undefined || this.#isGrowing()) return;
    const config = objectIn(textAt(this.#about, "model_config_json"));
    const cost = this.#about.accumulated_cost;
    yield totalStep(
      this.#session,
      { line, at: this.#last },
      {
        usage,
        model: config === undefined ? undefined : textAt(config, "model_name"),
        cost: typeof cost === "number" ? cost : undefined,
      },
    );
  }

  *#answer(origin: Origin, blocks: readonly JsonObject[]): Generator<ImportStep> {
    const id = origin.native ?? "part";
    yield* this.#session.say("answer", origin, {
      line: origin.line,
      at: origin.at,
      parts: [...blocks.map((block) => partOf(block, id)), { id }],
    });
    yield* this.#session.close();
  }

  *#user(
    origin: Origin,
    message: JsonObject,
    blocks: readonly JsonObject[],
    isForModelOnly: boolean,
  ): Generator<ImportStep> {
    for (const block of blocks.filter(({ type }) => type === "toolResponse")) {
      const { status, value, error } = objectAt(block, "toolResult");
      const result = isJsonObject(value) ? value : {};
      yield this.#session.result({
        ...{ ...origin, native: resultNative(block) },
        call_id: textAt(block, "id") ?? "",
        result:
          status === "error" ? (error ?? "") : (onlyText(result.content ?? value) ?? result.content ?? value ?? ""),
        is_error: status === "error" || result.isError === true || (status === "success" ? false : undefined),
      });
    }
    const rest = blocks.filter(({ type }) => type !== "toolResponse");
    if (rest.length === 0 && blocks.length > 0) return;
    const content = onlyText(rest) ?? (rest.length === 0 ? (message.content ?? "") : rest.map(imageBlock));
    const role = message.role === "assistant" || message.role === "system" ? message.role : "user";
    const isNote = rest.length > 0 && rest.every(({ type }) => type === "systemNotification");
    // Notes are for the person.
    if (isNote) yield this.#session.raw(origin, message);
    else if (typeof content === "string" || Array.isArray(content)) {
      yield this.#session.message(origin, { role, content, ...(isForModelOnly ? { injected: "other" } : {}) });
    } else yield this.#session.raw(origin, message);
  }
}

function resultNative(block: JsonObject): string {
  return `result:${textAt(block, "id") ?? ""}`;
}

function partOf(block: JsonObject, id: string): AnswerPart {
  if (block.type === "text") return { id, text: textAt(block, "text") ?? "" };
  if (block.type === "thinking") {
    return textAt(block, "signature") === undefined
      ? { id, thinking: textAt(block, "thinking") ?? "" }
      : { id, thinking: block };
  }
  if (block.type === "redactedThinking") return { id, thinking: { type: "redacted_thinking", data: block.data ?? "" } };
  const call = textAt(block, "id");
  if (block.type !== "toolRequest" || call === undefined) return { id, block };
  const { value, error } = objectAt(block, "toolCall");
  const asked = isJsonObject(value) ? value : {};
  // A call that the model wrote wrongly has only the error.
  return {
    id,
    call: {
      id: call,
      name: textAt(asked, "name") ?? "unknown",
      args: asked.arguments ?? (error === undefined ? {} : { error }),
    },
  };
}

/** Images in Anthropic's form, which the record knows. */
function imageBlock(block: JsonObject): JsonObject {
  if (block.type !== "image" || typeof block.data !== "string") return block;
  return { type: "image", source: { type: "base64", media_type: block.mimeType ?? "image/png", data: block.data } };
}
