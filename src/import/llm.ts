// simonw/llm's logs.db, in both of its generations: responses to prompts, and linked messages.
import type { JsonObject, JsonValue } from "../model/json.js";
import { toUsage, type Usage } from "../model/usage.js";
import type { ImportStep, Opening, SourceOf, TableImporter, TableQuery, TableRow } from "./importer.js";
import { objectIn, textAt } from "./transcript/fields.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";

const tool = { format: "llm", lacks: ["working folder"] };

export const llmImporter: TableImporter = {
  format: tool.format,
  reads: "tables",
  recognises: ({ tables }: Opening) => has(tables, "responses", "prompt") || has(tables, "turns", "tip_message_hash"),
  read,
};

function has(tables: Opening["tables"], table: string, column: string): boolean {
  return tables?.[table]?.includes(column) === true;
}

async function* read(source: SourceOf<"tables">): AsyncGenerator<Iterable<ImportStep>> {
  const log = new LlmLog(source);
  if (has(source.tables, "responses", "prompt")) yield* log.responses();
  if (has(source.tables, "turns", "tip_message_hash")) yield* log.turns();
}

class LlmLog {
  readonly #source: SourceOf<"tables">;
  readonly #transcript: Transcript;
  #line = 0;
  #session: { readonly key: string; readonly session: TranscriptSession; system: string } | undefined;

  constructor(source: SourceOf<"tables">) {
    this.#source = source;
    this.#transcript = new Transcript(tool, source);
  }

  async *responses(): AsyncGenerator<Iterable<ImportStep>> {
    const order = ["conversation_id", "datetime_utc"];
    let conversation: { readonly id: TableRow[string]; readonly name: string } | undefined;
    for await (const row of this.#source.rows({ table: "responses", columns: responseColumns, order })) {
      const id = row.conversation_id ?? null;
      if (conversation?.id !== id) {
        const [known] = await this.#all({ table: "conversations", columns: ["name"], where: { id: text(id) } });
        conversation = { id, name: text(known?.name) };
      }
      const where = { response_id: String(row.id) };
      const [results, calls] = [
        await this.#all({ table: "tool_results", columns: resultColumns, where, order: ["id"] }),
        await this.#all({ table: "tool_calls", columns: callColumns, where, order: ["id"] }),
      ];
      yield this.#response(row, { title: conversation.name, results, calls });
    }
  }

  async #all(query: TableQuery): Promise<readonly TableRow[]> {
    const rows: TableRow[] = [];
    for await (const row of this.#source.rows(query)) rows.push(row);
    return rows;
  }

  *#response(
    row: TableRow,
    { title, results, calls }: { title: string; results: readonly TableRow[]; calls: readonly TableRow[] },
  ): Generator<ImportStep> {
    this.#line += 1;
    const id = String(row.id);
    const at = utc(row.datetime_utc);
    const origin = { line: this.#line, at };
    const session = yield* this.#sessionOf(text(row.conversation_id) || id, origin, title);
    yield* this.#results(session, id, origin, results);
    const system = text(row.system);
    if (system !== "" && system !== this.#session?.system) {
      if (this.#session !== undefined) this.#session.system = system;
      yield session.message({ ...origin, native: `${id}:system` }, { role: "system", content: system });
    }
    const prompt = text(row.prompt);
    // After tool results the model is called again without a prompt.
    if (prompt !== "") yield session.message({ ...origin, native: `${id}:prompt` }, { role: "user", content: prompt });
    const reasoning = text(row.reasoning);
    const parts: AnswerPart[] = [
      ...(reasoning === "" ? [] : [{ id, thinking: reasoning }]),
      { id, text: text(row.response) },
      ...calls.map((call) => toCall(id, call)).map((call) => ({ id: call.id, call })),
    ];
    yield* session.say(
      id,
      { ...origin, native: id },
      {
        line: this.#line,
        at,
        parts,
        model: text(row.resolved_model) || text(row.model),
        usage: usageOf(row),
        extra: typeof row.duration_ms === "number" ? { duration_ms: row.duration_ms } : undefined,
      },
    );
    yield* session.close();
  }

  /** Results are stored with the response that they led to. */
  *#results(
    session: TranscriptSession,
    response: string,
    origin: Origin,
    rows: readonly TableRow[],
  ): Generator<ImportStep> {
    for (const row of rows) {
      yield session.result({
        ...origin,
        native: `result:${response}:${row.id}`,
        call_id: text(row.tool_call_id),
        tool: text(row.name) || undefined,
        result: text(row.output),
        is_error: text(row.exception) !== "" ? true : undefined,
      });
    }
  }

  async *turns(): AsyncGenerator<Iterable<ImportStep>> {
    const order = ["thread_id", "datetime_utc"];
    for await (const row of this.#source.rows({ table: "turns", columns: turnColumns, order })) {
      const where = { id: text(row.thread_id) };
      const [thread] = await this.#all({ table: "threads", columns: ["name", "forked_from"], where });
      const chain = await this.#chain(text(row.tip_message_hash), text(row.parent_message_hash));
      yield this.#turn(row, thread, chain);
    }
  }

  /** What a turn added: from its tip back to where the turn before it ended. */
  *#turn(row: TableRow, thread: TableRow | undefined, chain: readonly LlmMessage[]): Generator<ImportStep> {
    this.#line += 1;
    const id = String(row.id);
    const at = utc(row.datetime_utc);
    const origin = { line: this.#line, at };
    const session = yield* this.#sessionOf(
      text(row.thread_id) || id,
      origin,
      text(thread?.name),
      text(thread?.forked_from),
    );
    const last = chain.findLastIndex(({ role }) => role === "assistant");
    for (const [index, { hash, role, parts }] of chain.entries()) {
      const native = `${id}:${hash.slice(0, 32)}`;
      if (role === "assistant") {
        const spent = index === last ? { usage: usageOf(row) } : {};
        const model = text(row.resolved_model) || text(row.model);
        const said = parts.flatMap((part) => toAnswerPart(part, hash));
        yield* session.say(native, { ...origin, native }, { line: this.#line, at, parts: said, model, ...spent });
        yield* session.close();
      }
      for (const part of parts) {
        if (isResult(part)) yield* this.#partResult(session, origin, `${native}:${part.position}`, part);
      }
      if (role === "user" || role === "system") {
        const content = parts
          .filter((part) => !isResult(part))
          .map(({ text: words }) => text(words))
          .join("\n");
        if (content !== "") yield session.message({ ...origin, native }, { role, content });
      }
    }
  }

  *#partResult(session: TranscriptSession, origin: Origin, native: string, part: TableRow): Generator<ImportStep> {
    const payload = objectOf(part.payload);
    yield session.result({
      ...origin,
      native: `result:${native}`,
      call_id: textAt(payload, "tool_call_id") ?? textAt(payload, "id") ?? "",
      tool: text(part.tool_name) || textAt(payload, "name"),
      result: text(part.text) || (payload.output ?? ""),
      is_error: textAt(payload, "exception") === undefined ? undefined : true,
    });
  }

  async #chain(tip: string, end: string): Promise<readonly LlmMessage[]> {
    const found: LlmMessage[] = [];
    const seen = new Set<string>();
    let hash = tip;
    while (hash !== "" && hash !== end && !seen.has(hash)) {
      seen.add(hash);
      const [row] = await this.#all({ table: "messages", columns: ["role", "parent_hash"], where: { hash } });
      if (row === undefined) break;
      found.push({ hash, role: text(row.role), parts: await this.#parts(hash) });
      hash = text(row.parent_hash);
    }
    return found.reverse();
  }

  #parts(message_hash: string): Promise<readonly TableRow[]> {
    const columns = ["position", "type", "tool_name", "text", "payload"];
    return this.#all({ table: "parts", columns, where: { message_hash }, order: ["position"] });
  }

  *#sessionOf(key: string, origin: Origin, title: string, parent = ""): Generator<ImportStep, TranscriptSession> {
    if (this.#session?.key !== key) this.#session = { key, session: this.#transcript.session(key), system: "" };
    const { session } = this.#session;
    yield* session.about(origin, { title: title || undefined, parent: parent || undefined });
    return session;
  }
}

const responseColumns = [
  ...["id", "model", "prompt", "system", "response", "conversation_id", "datetime_utc", "resolved_model", "reasoning"],
  ...["token_details", "input_tokens", "output_tokens", "duration_ms"],
];
const resultColumns = ["id", "name", "output", "tool_call_id", "exception"];
const callColumns = ["id", "name", "arguments", "tool_call_id"];
const turnColumns = [
  ...["id", "thread_id", "parent_message_hash", "tip_message_hash", "model", "resolved_model", "input_tokens"],
  ...["output_tokens", "token_details", "duration_ms", "datetime_utc"],
];

/** A message of the newer generation. */
interface LlmMessage {
  readonly hash: string;
  readonly role: string;
  readonly parts: readonly TableRow[];
}

function toCall(
  response: string,
  row: TableRow,
): { readonly id: string; readonly name: string; readonly args: JsonValue } {
  return {
    id: text(row.tool_call_id) || `call-${response}-${row.id}`,
    name: text(row.name) || "unknown",
    args: text(row.arguments),
  };
}

function isResult({ type }: TableRow): boolean {
  return /tool.?result/.test(text(type));
}

function toAnswerPart(part: TableRow, hash: string): readonly AnswerPart[] {
  const payload = objectOf(part.payload);
  const type = text(part.type);
  const id = `${hash.slice(0, 32)}:${part.position}`;
  if (/tool.?call/.test(type)) {
    const call = textAt(payload, "tool_call_id") ?? textAt(payload, "id") ?? id;
    const name = text(part.tool_name) || (textAt(payload, "name") ?? "unknown");
    return [{ id, call: { id: call, name, args: payload.arguments ?? payload.input ?? {} } }];
  }
  if (/reason|think/.test(type)) return [{ id, thinking: text(part.text) }];
  return isResult(part) ? [] : [{ id, text: text(part.text) }];
}

function usageOf(row: TableRow): Usage | undefined {
  return toUsage(
    { ...objectOf(row.token_details), input: numeric(row.input_tokens), output: numeric(row.output_tokens) },
    {
      input_tokens: [["input"]],
      output_tokens: [["output"]],
      cache_read_tokens: [
        ["cache_read_input_tokens"],
        ["prompt_tokens_details", "cached_tokens"],
        ["input_tokens_details", "cached_tokens"],
      ],
      cache_write_tokens: [["cache_creation_input_tokens"]],
      reasoning_tokens: [
        ["completion_tokens_details", "reasoning_tokens"],
        ["output_tokens_details", "reasoning_tokens"],
      ],
    },
  );
}

function numeric(value: TableRow[string] | undefined): JsonValue {
  return typeof value === "number" ? value : null;
}

function text(value: TableRow[string] | undefined): string {
  return typeof value === "string" ? value : "";
}

function objectOf(value: TableRow[string] | undefined): JsonObject {
  return objectIn(text(value)) ?? {};
}

/** The column says that it is UTC, but its values do not. */
function utc(value: TableRow[string] | undefined): string | undefined {
  const time = text(value);
  if (time === "") return undefined;
  return /(?:Z|[+-]\d{2}:?\d{2})$/.test(time) ? time : `${time}Z`;
}
