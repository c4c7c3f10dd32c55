// Kiro CLI's sessions: lines of prompts, answers and results, with what the session is called in a document next to them; or,
// in other versions, whole conversations in a database.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { ImportSource, ImportStep, LineImporter, Opening, SourceOf, TableImporter } from "./importer.js";
import { numberAt, objectAt, objectIn, textAt } from "./transcript/fields.js";
import { type LineReader, readWith } from "./transcript/line-reader.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import {
  type Origin,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "kiro-cli", lacks: ["system prompt", "rules files", "tool definitions"] };
const KINDS = ["Prompt", "AssistantMessage", "ToolResults"];
const CONVERSATIONS = "conversations_v2";
const EXIT = /^exit status: (-?\d+)$/;

export const kiroCliImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) =>
    records.some(
      (record) =>
        textAt(record, "version") !== undefined && KINDS.includes(String(record.kind)) && isJsonObject(record.data),
    ),
  async *read(source) {
    const about = objectIn(await source.siblings.read(`${source.stem}.json`)) ?? {};
    yield* readWith(source, new KiroSession(source, about, source.resume.state as KiroState | undefined));
  },
};

export const kiroCliTablesImporter: TableImporter = {
  format: tool.format,
  reads: "tables",
  recognises: ({ tables }: Opening) =>
    ["conversation_id", "value"].every((column) => tables?.[CONVERSATIONS]?.includes(column) === true),
  read: readTables,
};

interface KiroState {
  readonly transcript: TranscriptState;
  readonly session: SessionState;
}

class KiroSession implements LineReader {
  readonly #transcript: Transcript;
  readonly #session: TranscriptSession;
  readonly #about: JsonObject;
  /** When turns ended, by their last message. */
  readonly #ends: ReadonlyMap<string, JsonValue>;
  readonly #model: string | undefined;

  constructor(source: ImportSource, about: JsonObject, known?: KiroState) {
    this.#transcript = new Transcript(tool, source, known?.transcript);
    this.#about = about;
    const state = objectAt(about, "session_state");
    const turns = objectAt(state, "conversation_metadata").user_turn_metadatas;
    this.#ends = new Map(
      (Array.isArray(turns) ? turns : []).filter(isJsonObject).flatMap((turn) => {
        const last = Array.isArray(turn.message_ids) ? turn.message_ids.at(-1) : undefined;
        return typeof last === "string" && turn.end_timestamp !== undefined ? [[last, turn.end_timestamp]] : [];
      }),
    );
    this.#model = textAt(objectAt(objectAt(state, "rts_model_state"), "model_info"), "model_id");
    this.#session =
      known === undefined
        ? this.#transcript.session(textAt(about, "session_id") ?? source.stem)
        : this.#transcript.revive(known.session);
  }

  state(): KiroState {
    return { transcript: this.#transcript.state(), session: this.#session.state() };
  }

  *take(line: number, record: JsonObject): Generator<ImportStep> {
    const data = objectAt(record, "data");
    const native = textAt(data, "message_id");
    const at = objectAt(data, "meta").timestamp ?? this.#ends.get(native ?? "");
    const origin: Origin = { line, at, native, identity: [record] };
    yield* this.#session.about(
      { line, at: this.#about.created_at ?? at },
      {
        title: textAt(this.#about, "title"),
        cwd: textAt(this.#about, "cwd"),
        parent: textAt(this.#about, "parent_session_id"),
      },
    );
    const blocks = (Array.isArray(data.content) ? data.content : []).filter(isJsonObject);
    if (record.kind === "Prompt") {
      const texts = blocks.every(({ kind, data: text }) => kind === "text" && typeof text === "string");
      const content = texts ? blocks.map(({ data: text }) => text).join("\n") : blocks.map(asBlock);
      const [, name, args = ""] =
        (typeof content === "string" ? /^(\/[\w-]+)(?:\s+([\s\S]*))?$/.exec(content) : null) ?? [];
      const extra = name === undefined ? {} : { extra: { command: { name, args, text: content } } };
      yield this.#session.message({ ...origin, ...extra }, { role: "user", content });
    } else if (record.kind === "AssistantMessage") {
      yield* this.#session.say("answer", origin, {
        line,
        at,
        model: this.#model,
        parts:
          blocks.length === 0 ? [{ id: native ?? "part" }] : blocks.map((block) => partOf(block, native ?? "part")),
      });
      yield* this.#session.close();
    } else if (record.kind === "ToolResults") yield* this.#results(origin, blocks);
    else yield this.#session.raw(origin, record);
  }

  *end(): Generator<ImportStep> {
    yield* this.#session.close();
  }

  *#results(origin: Origin, blocks: readonly JsonObject[]): Generator<ImportStep> {
    for (const [nth, block] of blocks.entries()) {
      const data = objectAt(block, "data");
      const call_id = textAt(data, "toolUseId") ?? "";
      if (block.kind !== "toolResult") {
        yield this.#session.raw({ ...origin, native: `${origin.native ?? origin.line}:${nth}` }, block);
        continue;
      }
      const results = (Array.isArray(data.content) ? data.content : []).filter(isJsonObject);
      yield this.#session.result({
        ...{ ...origin, native: `result:${call_id === "" ? `${origin.native ?? origin.line}:${nth}` : call_id}` },
        call_id,
        ...outcomeOf(
          results.map((one) => one.data ?? ""),
          data.status,
        ),
      });
    }
  }
}

/** Text where it is nothing else; a command that failed counts as a success there. */
function outcomeOf(results: readonly JsonValue[], status: JsonValue | undefined) {
  const [only] = results;
  const texts = results.every((one) => typeof one === "string");
  const codes = results.filter(isJsonObject).map((one) => EXIT.exec(textAt(one, "exit_status") ?? "")?.[1]);
  const failed = codes.some((code) => code !== undefined && code !== "0");
  const isDone = typeof status === "string";
  return {
    result: texts ? results.join("\n") : results.length === 1 ? (only ?? "") : [...results],
    is_error: failed || (isDone ? !/^success$/i.test(status) : undefined),
  };
}

function partOf(block: JsonObject, id: string): AnswerPart {
  const data = objectAt(block, "data");
  const call = textAt(data, "toolUseId");
  if (block.kind === "text" && typeof block.data === "string") return { id, text: block.data };
  if (block.kind !== "toolUse" || call === undefined) return { id, block: asBlock(block) };
  return { id, call: { id: call, name: textAt(data, "name") ?? "unknown", args: data.input ?? {} } };
}

function asBlock({ kind, data }: JsonObject): JsonObject {
  return typeof data === "string" && kind === "text"
    ? { type: "text", text: data }
    : { type: kind ?? "unknown", data: data ?? null };
}

async function* readTables(source: SourceOf<"tables">): AsyncGenerator<Iterable<ImportStep>> {
  const transcript = new Transcript(tool, source);
  let line = 0;
  const columns = ["key", "conversation_id", "value", "created_at", "updated_at"];
  for await (const row of source.rows({ table: CONVERSATIONS, columns, order: ["updated_at"] })) {
    line += 1;
    const value = objectIn(typeof row.value === "string" ? row.value : undefined);
    if (value === undefined) yield [{ line, reason: `conversation ${row.conversation_id} holds no JSON` }];
    else {
      const id = textAt(value, "conversation_id") ?? String(row.conversation_id);
      const at = row.created_at instanceof Uint8Array ? null : (row.created_at ?? null);
      yield conversation(transcript.session(id), {
        line,
        at,
        cwd: typeof row.key === "string" ? row.key : undefined,
        value,
      });
    }
  }
}

function* conversation(
  session: TranscriptSession,
  of: { readonly line: number; readonly at: JsonValue; readonly cwd: string | undefined; readonly value: JsonObject },
): Generator<ImportStep> {
  const { line, value } = of;
  const turns = (Array.isArray(value.history) ? value.history : []).filter(isJsonObject);
  yield* session.about(
    { line, at: turns.length === 0 ? of.at : objectAt(turns[0] ?? {}, "user").timestamp },
    { cwd: of.cwd },
  );
  for (const turn of turns) {
    const user = objectAt(turn, "user");
    const at = user.timestamp;
    const [kind = "", said] = Object.entries(objectAt(user, "content"))[0] ?? [];
    const content = isJsonObject(said) ? said : {};
    const origin: Origin = { line, at, identity: [kind, content] };
    for (const [nth, result] of resultsIn(content).entries()) {
      const call_id = textAt(result, "tool_use_id") ?? "";
      const results = (Array.isArray(result.content) ? result.content : [])
        .filter(isJsonObject)
        .map((one) => one.Text ?? one.Json ?? one);
      const native = call_id === "" ? {} : { native: `result:${call_id}` };
      yield session.result({
        ...origin,
        ...native,
        identity: ["result", nth, result],
        call_id,
        ...outcomeOf(results, result.status),
      });
    }
    const prompt = textAt(content, "prompt");
    if (prompt !== undefined) yield session.message(origin, { role: "user", content: prompt });
    else if (resultsIn(content).length === 0) yield session.raw(origin, turn);
    yield* answer(session, line, turn);
  }
}

function resultsIn(content: JsonObject): readonly JsonObject[] {
  return (Array.isArray(content.tool_use_results) ? content.tool_use_results : []).filter(isJsonObject);
}

function* answer(session: TranscriptSession, line: number, turn: JsonObject): Generator<ImportStep> {
  const [, said] = Object.entries(objectAt(turn, "assistant"))[0] ?? [];
  if (!isJsonObject(said)) return;
  const at = numberAt(objectAt(turn, "request_metadata"), "stream_end_timestamp_ms");
  const native = textAt(said, "message_id");
  const id = native ?? "part";
  const calls = (Array.isArray(said.tool_uses) ? said.tool_uses : []).filter(isJsonObject);
  yield* session.say(
    "answer",
    { line, at, native, identity: ["assistant", said] },
    {
      line,
      at,
      model: textAt(objectAt(turn, "request_metadata"), "model_id"),
      parts: [
        { id, text: textAt(said, "content") ?? "" },
        ...calls.map((call, nth) => ({
          id,
          call: {
            id: textAt(call, "id") ?? `${id}-call-${nth}`,
            name: textAt(call, "name") ?? "unknown",
            args: call.args ?? {},
          },
        })),
      ],
    },
  );
  yield* session.close();
}
