// Zed's agent threads in its database: one document a thread, compressed or not. Messages have no times, and some no ids.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { anthropicUsage, toUsage, type Usage } from "../model/usage.js";
import type { ImportStep, Opening, SourceOf, TableImporter, TableRow } from "./importer.js";
import { LINE_BYTES_MAX } from "./lines.js";
import { blockTexts, objectAt, objectIn, textAt } from "./transcript/fields.js";
import { type AnswerPart, addUsage } from "./transcript/model-answer.js";
import { totalStep } from "./transcript/totals.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";
import { AmplifiedFault, decompressedWithin, isCompressed, type UnpackBudget } from "./zstd.js";

const tool = { format: "zed", lacks: ["system prompt", "rules files", "tool definitions"] };
const COLUMNS = ["id", "summary", "updated_at", "created_at", "data_type", "data", "parent_id", "folder_paths"];

export const zedImporter: TableImporter = {
  format: tool.format,
  reads: "tables",
  recognises: ({ tables }: Opening) =>
    ["summary", "data_type", "data"].every((column) => tables?.threads?.includes(column) === true),
  read,
};

async function* read(source: SourceOf<"tables">): AsyncGenerator<Iterable<ImportStep>> {
  const transcript = new Transcript(tool, source);
  let line = 0;
  for await (const row of source.rows({ table: "threads", columns: COLUMNS, order: ["updated_at", "id"] })) {
    line += 1;
    const thread = threadOf(row, source.unpacking);
    if (thread === undefined) yield [{ line, reason: `thread ${String(row.id)} holds no document` }];
    else yield new Thread(transcript.session(String(row.id)), source.isGrowing()).take(line, row, thread);
  }
}

function threadOf({ data }: TableRow, budget: UnpackBudget): JsonObject | undefined {
  if (typeof data === "string") return objectIn(data);
  if (!(data instanceof Uint8Array)) return undefined;
  if (!isCompressed(data)) return objectIn(Buffer.from(data).toString("utf8"));
  try {
    return objectIn(decompressedWithin(data, LINE_BYTES_MAX, budget).toString("utf8"));
  } catch (error) {
    if (error instanceof AmplifiedFault) throw error;
    return undefined;
  }
}

class Thread {
  readonly #session: TranscriptSession;
  readonly #isGrowing: boolean;
  #at: JsonValue | undefined;
  #model: string | undefined;
  #counted: Usage | undefined;

  constructor(session: TranscriptSession, isGrowing: boolean) {
    this.#session = session;
    this.#isGrowing = isGrowing;
  }

  *take(line: number, row: TableRow, thread: JsonObject): Generator<ImportStep> {
    const time = row.created_at ?? row.updated_at;
    this.#at = time instanceof Uint8Array ? null : time;
    this.#model = textAt(objectAt(thread, "model"), "model");
    const folders = typeof row.folder_paths === "string" ? row.folder_paths.split("\n") : [];
    yield* this.#session.about(
      { line, at: this.#at },
      {
        title:
          textAt(thread, "title") ??
          textAt(thread, "summary") ??
          (typeof row.summary === "string" ? row.summary : undefined),
        cwd: folders[0] === "" ? undefined : folders[0],
        parent: typeof row.parent_id === "string" && row.parent_id !== "" ? row.parent_id : undefined,
      },
    );
    const usages = objectAt(thread, "request_token_usage");
    const messages = Array.isArray(thread.messages) ? (thread.messages as readonly JsonValue[]) : [];
    let asked: string | undefined;
    for (const [nth, message] of messages.entries()) {
      const [kind, said] = isJsonObject(message) ? (Object.entries(message)[0] ?? []) : [];
      const isLast = nth === messages.length - 1;
      if (kind === "User" && isJsonObject(said)) {
        asked = textAt(said, "id");
        yield* this.#user(line, said.content);
      } else if (kind === "Agent" && isJsonObject(said)) {
        // It is read again once it is complete.
        if (isLast && this.#isGrowing) return;
        const next = messages.slice(nth + 1).find((one) => isJsonObject(one) && ("User" in one || "Agent" in one));
        // The tokens are of the whole turn.
        const isFinal = !(isJsonObject(next) && "Agent" in next);
        const usage = isFinal && asked !== undefined ? toUsage(usages[asked], anthropicUsage) : undefined;
        yield* this.#agent(line, said, usage);
      } else if (isJsonObject(message) && typeof message.role === "string") yield* this.#older(line, message);
      else if (message !== "Resume") yield this.#session.raw(this.#origin(line, ["message", message]), { message });
    }
    const total = toUsage(thread.cumulative_token_usage, anthropicUsage);
    if (total !== undefined && !this.#isGrowing) {
      yield totalStep(this.#session, { line, at: this.#at }, { usage: total, model: this.#model }, this.#counted);
    }
  }

  *#user(line: number, content: JsonValue | undefined): Generator<ImportStep> {
    const own: JsonObject[] = [];
    const files: string[] = [];
    for (const item of Array.isArray(content) ? content : []) {
      const [kind, value] = isJsonObject(item) ? (Object.entries(item)[0] ?? []) : [];
      if (kind === "Text" && typeof value === "string") own.push({ type: "text", text: value });
      else if (kind === "Mention" && isJsonObject(value)) {
        // What is mentioned is named in the text; its content is added.
        const uri = isJsonObject(value.uri) ? (Object.values(value.uri)[0] ?? {}) : {};
        own.push({
          type: "text",
          text: `@${(isJsonObject(uri) ? (textAt(uri, "abs_path") ?? textAt(uri, "name")) : undefined) ?? "mention"}`,
        });
        if (typeof value.content === "string" && value.content !== "") files.push(value.content);
      } else if (kind === "Image" && isJsonObject(value)) own.push(imageOf(value));
      else if (isJsonObject(item)) own.push({ type: "other", value: item });
    }
    const isText = own.every(({ type }) => type === "text");
    const words = isText ? own.map(({ text }) => text).join("") : own;
    if (own.length > 0)
      yield this.#session.message(this.#origin(line, ["user", words]), { role: "user", content: words });
    for (const file of files) {
      yield this.#session.message(this.#origin(line, ["mention", file]), {
        role: "user",
        content: file,
        injected: "file",
      });
    }
  }

  *#agent(line: number, said: JsonObject, usage: Usage | undefined): Generator<ImportStep> {
    this.#counted = addUsage(this.#counted, usage);
    const content = Array.isArray(said.content) ? said.content : [];
    const origin = this.#origin(line, ["agent", content]);
    yield* this.#session.say("answer", origin, {
      line,
      at: this.#at,
      parts: [...content.map((item) => partOf(item)), { id: "0" }],
      model: this.#model,
      usage,
      extra: { time_is: "file" },
    });
    yield* this.#session.close();
    for (const [call_id, result] of Object.entries(objectAt(said, "tool_results"))) {
      if (!isJsonObject(result)) continue;
      yield this.#session.result({
        ...this.#origin(line, ["result", call_id, result]),
        call_id,
        tool: textAt(result, "tool_name"),
        result: resultOf(result),
        is_error: typeof result.is_error === "boolean" ? result.is_error : undefined,
      });
    }
  }

  /** A message as threads before version 0.3 have it. */
  *#older(line: number, message: JsonObject): Generator<ImportStep> {
    const segments = (Array.isArray(message.segments) ? message.segments : []).filter(isJsonObject);
    const content = blockTexts(segments.filter(({ type }) => type === "text")) || (textAt(message, "text") ?? "");
    if (message.role !== "assistant") {
      const role = message.role === "system" ? "system" : "user";
      yield this.#session.message(this.#origin(line, [role, content]), { role, content });
      return;
    }
    const calls = (Array.isArray(message.tool_uses) ? message.tool_uses : []).filter(isJsonObject);
    yield* this.#session.say("answer", this.#origin(line, ["assistant", segments, calls]), {
      line,
      at: this.#at,
      parts: [
        ...segments
          .filter(({ type }) => type === "thinking")
          .map((one) => ({ id: "0", thinking: textAt(one, "text") ?? "" })),
        { id: "0", text: content },
        ...calls.map((call, nth) => ({
          id: "0",
          call: { id: textAt(call, "id") ?? `${nth}`, name: textAt(call, "name") ?? "unknown", args: call.input ?? {} },
        })),
      ],
      extra: { time_is: "file" },
    });
    yield* this.#session.close();
    for (const result of (Array.isArray(message.tool_results) ? message.tool_results : []).filter(isJsonObject)) {
      const call_id = textAt(result, "tool_use_id") ?? "";
      yield this.#session.result({
        ...this.#origin(line, ["result", result]),
        call_id,
        result: resultOf(result),
        is_error: result.is_error === true,
      });
    }
  }

  /** Everything of a thread has its time, which is no time of its own. */
  #origin(line: number, identity: readonly unknown[]): Origin {
    return { line, at: this.#at, identity, is_restamped: true, extra: { time_is: "file" } };
  }
}

function partOf(item: JsonValue): AnswerPart {
  const [kind, value] = isJsonObject(item) ? (Object.entries(item)[0] ?? []) : [];
  const id = "0";
  if (kind === "Text" && typeof value === "string") return { id, text: value };
  if (!isJsonObject(value)) return { id, block: { type: kind ?? "unknown", value: value ?? item } };
  if (kind === "Thinking") {
    const [thinking, signature] = [textAt(value, "text") ?? "", textAt(value, "signature")];
    return { id, thinking: signature === undefined ? thinking : { type: "thinking", thinking, signature } };
  }
  const call = textAt(value, "id");
  if (kind !== "ToolUse" || call === undefined) return { id, block: { type: kind ?? "unknown", value } };
  return {
    id,
    call: { id: call, name: textAt(value, "name") ?? "unknown", args: value.input ?? textAt(value, "raw_input") ?? {} },
  };
}

/** A result's text, which has a name of its own in newer versions. */
function resultOf({ content, output }: JsonObject): JsonValue {
  if (typeof content === "string") return content;
  const text = isJsonObject(content) ? content.Text : undefined;
  return typeof text === "string" ? text : (content ?? output ?? "");
}

function imageOf(value: JsonObject): JsonObject {
  const data = textAt(value, "source");
  if (data === undefined) return { type: "other", value };
  return { type: "image", source: { type: "base64", media_type: "image/png", data } };
}
