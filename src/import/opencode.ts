// OpenCode's sessions in all three storage formats: a file for each session, message and part; the same in a database; and
// newer tables in which a message holds its parts.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import type {
  DocumentImporter,
  ImportStep,
  Opening,
  SourceFacts,
  SourceOf,
  TableImporter,
  TableQuery,
  TableRow,
} from "./importer.js";
import { numberAt, objectAt, objectIn, textAt } from "./transcript/fields.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";

const tool = { format: "opencode", lacks: ["system prompt", "tool definitions"] };

export const openCodeImporter: DocumentImporter = {
  format: tool.format,
  reads: "document",
  recognises: ({ document }: Opening) => isJsonObject(document) && kindOf(document) !== undefined,
  read,
};

export const openCodeTablesImporter: TableImporter = {
  format: tool.format,
  reads: "tables",
  recognises: ({ tables }: Opening) =>
    tables?.session_message?.includes("data") === true ||
    (tables?.message?.includes("data") === true && tables.part?.includes("data") === true),
  read: readTables,
};

function kindOf(value: JsonObject): "session" | "message" | "part" | undefined {
  if (textAt(value, "id") === undefined) return undefined;
  if (textAt(value, "messageID") !== undefined && typeof value.type === "string") return "part";
  if (textAt(value, "sessionID") !== undefined && typeof value.role === "string" && isJsonObject(value.time))
    return "message";
  if (!("title" in value) || !isJsonObject(value.time)) return undefined;
  // The oldest sessions do not say where they ran.
  return "directory" in value || "updated" in value.time ? "session" : undefined;
}

async function* read(source: SourceOf<"document">): AsyncGenerator<ImportStep> {
  const transcript = new Transcript(tool, source);
  const sessions = new Map<string, OpenCodeSession>();
  const messages: { readonly line: number; readonly value: JsonObject }[] = [];
  const partsByMessage = new Map<string, JsonObject[]>();
  for await (const item of source.values("")) {
    if ("reason" in item) {
      yield item;
      continue;
    }
    const value = isJsonObject(item.value) ? item.value : {};
    const kind = kindOf(value);
    if (kind === "session") {
      const session = new OpenCodeSession(transcript.session(String(value.id)), source);
      sessions.set(String(value.id), session);
      yield* session.about(item.line, value);
    } else if (kind === "message") messages.push({ line: item.line, value });
    else if (kind === "part") addTo(partsByMessage, String(value.messageID), value);
    else yield { line: item.line, reason: "the value is not a session, message or part" };
  }
  for (const { line, value } of messages.toSorted((a, b) => createdAt(a.value) - createdAt(b.value))) {
    const key = String(value.sessionID);
    let session = sessions.get(key);
    if (session === undefined) {
      session = new OpenCodeSession(transcript.session(key), source);
      sessions.set(key, session);
      const about = await sessionNear(source, key);
      if (about !== undefined) yield* session.about(line, about);
    }
    if (value.summary === true) session.follow(await earlierMessages(source, value));
    const parts = partsByMessage.get(String(value.id)) ?? [];
    partsByMessage.delete(String(value.id));
    yield* session.message(line, value, [...parts, ...(await partsNear(source, value, parts))]);
  }
  // A part in a file of its own is read with its message.
  for (const [message, parts] of partsByMessage) {
    const key = parts.map((part) => textAt(part, "sessionID")).find((id) => id !== undefined) ?? sessionInPath(source);
    const isElsewhere = messages.length === 0 && (await hasMessage(source, key, message));
    if (isElsewhere) continue;
    for (const part of parts) {
      const step = new OpenCodeSession(transcript.session(key ?? message), source).loose(part);
      yield key === undefined && "entry" in step ? { ...step, entry: { ...step.entry, session_id: "" } } : step;
    }
  }
}

/** Of a part below its session's folder, the session. */
function sessionInPath({ path }: SourceFacts): string | undefined {
  const [place, session] = path.split(/[\\/]/).slice(-4);
  return place === "part" ? session : undefined;
}

/** The messages of a session before one of them, by the names of their files, which are in order of time. */
async function earlierMessages(source: SourceFacts, message: JsonObject): Promise<readonly string[]> {
  const { id, sessionID: session } = message;
  if (!isPlain(String(session))) return [];
  const names = await source.siblings.list(`../${session}`);
  const at = names.indexOf(`${id}.json`);
  return names.slice(Math.max(0, at - EARLIER_MAX), Math.max(0, at)).map((name) => name.replace(/\.json$/, ""));
}

/** One of so many earlier messages is recorded, whatever is broken. */
const EARLIER_MAX = 10;

function addTo(map: Map<string, JsonObject[]>, key: string, value: JsonObject): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function createdAt(message: JsonObject): number {
  const { created } = objectAt(message, "time");
  return typeof created === "number" ? created : 0;
}

/** Names come from the files, and must not lead outside. */
function isPlain(name: string): boolean {
  return /^[\w-]+$/.test(name);
}

/** In the folder of their message, which at first was in one of its session's. */
async function partsNear(
  source: SourceFacts,
  { id: message, sessionID: session }: JsonObject,
  known: readonly JsonObject[],
): Promise<readonly JsonObject[]> {
  const ids = new Set(known.map(({ id }) => id));
  const found: JsonObject[] = [];
  for (const names of [[message], [session, message]]) {
    if (!names.every((name) => isPlain(String(name)))) continue;
    const folder = `../../part/${names.join("/")}`;
    for (const name of await source.siblings.list(folder)) {
      const part = objectIn(await source.siblings.read(`${folder}/${name}`));
      if (part === undefined || ids.has(part.id ?? null)) continue;
      ids.add(part.id ?? null);
      found.push(part);
    }
  }
  return found;
}

async function sessionNear(source: SourceFacts, session: string): Promise<JsonObject | undefined> {
  if (!isPlain(session)) return undefined;
  for (const project of await source.siblings.list("../../session")) {
    const found = objectIn(await source.siblings.read(`../../session/${project}/${session}.json`));
    if (found !== undefined) return found;
  }
  return objectIn(await source.siblings.read(`../../info/${session}.json`));
}

/** A session's messages are in a folder next to the parts', which may be a level deeper. */
async function hasMessage(source: SourceFacts, session: string | undefined, message: string): Promise<boolean> {
  for (const folder of ["../../message", "../../../message"]) {
    for (const name of session === undefined ? await source.siblings.list(folder) : [session]) {
      if (!isPlain(name) || !isPlain(message)) continue;
      if ((await source.siblings.read(`${folder}/${name}/${message}.json`)) !== undefined) return true;
    }
  }
  return false;
}

async function* readTables(source: SourceOf<"tables">): AsyncGenerator<Iterable<ImportStep>> {
  const transcript = new Transcript(tool, source);
  if (source.tables.message?.includes("data")) yield* readForm(source, transcript, olderForm);
  if (source.tables.session_message?.includes("data")) yield* readForm(source, transcript, newerForm);
}

/** One of the two forms of messages in its database. */
interface TableForm {
  readonly sessions: string;
  /** In the order of sessions, and of messages within each. */
  readonly query: TableQuery;
  readonly more: (row: TableRow) => { readonly [name: string]: TableRow[string] | undefined };
  readonly parts: (
    source: SourceOf<"tables">,
    row: TableRow,
    message: JsonObject,
  ) => readonly JsonObject[] | Promise<readonly JsonObject[]>;
}

const olderForm: TableForm = {
  sessions: "session",
  query: {
    table: "message",
    columns: ["id", "session_id", "time_created", "data"],
    order: ["session_id", "time_created", "id"],
  },
  more: (row) => ({ sessionID: row.session_id }),
  async parts(source, row) {
    const where = { message_id: String(row.id) };
    const rows = source.rows({ table: "part", columns: ["id", "data"], where, order: ["id"] });
    const parts: JsonObject[] = [];
    for await (const part of rows) parts.push(dataOf(part, {}) ?? { type: "unreadable" });
    return parts;
  },
};

const newerForm: TableForm = {
  sessions: "session_v2",
  query: {
    table: "session_message",
    columns: ["id", "session_id", "type", "seq", "time_created", "data"],
    order: ["session_id", "seq", "id"],
  },
  more: (row) => ({ role: row.type }),
  parts: (_source, _row, message) => partsOfContent(message),
};

async function* readForm(
  source: SourceOf<"tables">,
  transcript: Transcript,
  form: TableForm,
): AsyncGenerator<Iterable<ImportStep>> {
  let session: OpenCodeSession | undefined;
  let key: string | undefined;
  let line = 0;
  for await (const row of source.rows(form.query)) {
    line += 1;
    const message = dataOf(row, form.more(row));
    if (message === undefined) {
      yield [{ line, reason: `message ${row.id} holds no JSON` }];
      continue;
    }
    if (session === undefined || key !== row.session_id) {
      key = String(row.session_id);
      session = new OpenCodeSession(transcript.session(key), source);
      yield session.about(line, await sessionIn(source, form.sessions, key));
    }
    yield session.message(line, message, await form.parts(source, row, message));
  }
}

async function sessionIn(source: SourceOf<"tables">, table: string, id: string): Promise<JsonObject> {
  const columns = ["title", "directory", "version", "parent_id", "fork_session_id", "time_created", "model"];
  for await (const row of source.rows({ table, columns, where: { id } })) {
    const { parent_id: parentID = null, fork_session_id: forkedID = null, ...rest } = plain(row);
    return { ...rest, parentID, forkedID, time: { created: plain(row).time_created ?? null } };
  }
  return {};
}

/** The JSON of a row, with id and time from the row's own columns. */
function dataOf(
  row: TableRow,
  more: { readonly [name: string]: TableRow[string] | undefined },
): JsonObject | undefined {
  const data = objectIn(typeof row.data === "string" ? row.data : undefined);
  if (data === undefined) return undefined;
  const given = plain({ ...more, id: row.id ?? null });
  const time = isJsonObject(data.time) ? data.time : { created: plain(row).time_created ?? null };
  return { ...data, ...given, time };
}

function plain(row: { readonly [name: string]: TableRow[string] | undefined }): JsonObject {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      typeof value === "string" || typeof value === "number" ? [[name, value]] : [],
    ),
  );
}

const usageNames: UsageNames = {
  input_tokens: [["input"]],
  output_tokens: [["output"]],
  cache_read_tokens: [["cache", "read"]],
  cache_write_tokens: [["cache", "write"]],
  reasoning_tokens: [["reasoning"]],
};

class OpenCodeSession {
  readonly #session: TranscriptSession;
  readonly #source: Pick<SourceFacts, "isGrowing">;
  /** The message that asks for a summary, which is the next answer. */
  #compaction: { readonly id: string; readonly is_auto: boolean } | undefined;
  /** Messages before this one that are in other files. */
  #earlier: readonly string[] = [];

  constructor(session: TranscriptSession, source: Pick<SourceFacts, "isGrowing">) {
    this.#session = session;
    this.#source = source;
  }

  about(line: number, session: JsonObject): Generator<ImportStep> {
    return this.#session.about(
      { line, at: objectAt(session, "time").created },
      {
        title: textAt(session, "title"),
        cwd: textAt(session, "directory"),
        version: textAt(session, "version"),
        parent: textAt(session, "parentID"),
        ...(textAt(session, "forkedID") === undefined ? {} : { metadata: { forked_from: session.forkedID ?? "" } }),
      },
    );
  }

  *message(line: number, message: JsonObject, parts: readonly JsonObject[]): Generator<ImportStep> {
    const origin = { line, at: objectAt(message, "time").created, native: textAt(message, "id") ?? `line-${line}` };
    // Stored before it has a text, and updated later: a copy taken too early is never complete.
    if (!isFinished(message, parts) && this.#source.isGrowing()) return;
    if (message.role === "assistant") yield* this.#assistant(origin, message, parts);
    else if (message.role === "user") yield* this.#user(origin, message, parts);
    else if (message.role === "tool") {
      // Programs that put a session into one file write results as messages.
      const call_id = textAt(message, "tool_call_id") ?? "";
      yield this.#session.result({ ...origin, call_id, result: message.content ?? "" });
    } else yield this.#session.raw(origin, message);
  }

  /** Names messages that were said before, and have files of their own. */
  follow(earlier: readonly string[]): void {
    this.#earlier = earlier;
  }

  /** A part whose message is missing. */
  loose(part: JsonObject): ImportStep {
    const at = objectAt(part, "time").start ?? objectAt(objectAt(part, "state"), "time").start;
    return this.#session.raw({ line: 1, at, native: textAt(part, "id") }, part);
  }

  *#user(
    origin: Origin & { native: string },
    message: JsonObject,
    parts: readonly JsonObject[],
  ): Generator<ImportStep> {
    // Before a compaction nothing stays; the answer after this message is the summary.
    const compaction = parts.find(({ type }) => type === "compaction");
    if (compaction !== undefined) this.#compaction = { id: origin.native, is_auto: compaction.auto === true };
    const isText = ({ type }: JsonObject): boolean => type === "text" || type === "file";
    const isAdded = (part: JsonObject): boolean => part.synthetic === true || part.ignored === true;
    const spoken = parts.filter((part) => isText(part) && !isAdded(part));
    const texts = spoken.filter(({ type }) => type === "text").map((part) => textAt(part, "text") ?? "");
    const words = texts.join("\n") || (textAt(message, "text") ?? textAt(message, "content") ?? "");
    const files = spoken.filter(({ type }) => type === "file");
    const written = words === "" && files.length > 0 ? [] : [{ type: "text", text: words }];
    const content = files.length === 0 ? words : [...written, ...files];
    // Of a message that holds nothing but what the tool put there, no user said anything.
    if (spoken.length > 0 || parts.length === 0) yield this.#session.message(origin, { role: "user", content });
    for (const part of parts) {
      if (spoken.includes(part) || part === compaction) continue;
      const text = part.synthetic === true && part.ignored !== true ? textAt(part, "text") : undefined;
      if (text === undefined) yield this.#raw(origin, part);
      else {
        const injected = text.startsWith("Called the ") ? "file" : "other";
        yield this.#session.message(partOrigin(origin, part), { role: "user", content: text, injected });
      }
    }
  }

  /** The answer to a request for a summary is the compaction. */
  *#summary(
    origin: Origin & { native: string },
    message: JsonObject,
    parts: readonly JsonObject[],
  ): Generator<ImportStep> {
    const text = parts.filter(({ type }) => type === "text").map((part) => textAt(part, "text") ?? "");
    const usage = toUsage(message.tokens, usageNames);
    const model = textAt(message, "modelID");
    const isKnown = this.#compaction !== undefined && this.#compaction.id === message.parentID;
    const trigger = isKnown ? (this.#compaction?.is_auto === true ? "auto" : "manual") : undefined;
    yield* this.#session.compact(
      {
        ...origin,
        extra: {
          ...(usage === undefined ? {} : { usage: usage as JsonObject }),
          ...(model === undefined ? {} : { model }),
          ...(typeof message.cost === "number" ? { cost: message.cost } : {}),
        },
      },
      { summary: text.join("\n"), kept: [], trigger, dropped: this.#earlier },
    );
    for (const part of parts) if (part.type !== "text") yield this.#raw(origin, part);
  }

  *#assistant(
    origin: Origin & { native: string },
    message: JsonObject,
    parts: readonly JsonObject[],
  ): Generator<ImportStep> {
    if (message.summary === true && !isJsonObject(message.error)) {
      yield* this.#summary(origin, message, parts);
      return;
    }
    const session = this.#session;
    const said = parts.length === 0 ? ownParts(message, origin.native) : parts.flatMap((part) => toAnswerPart(part));
    yield* session.say(origin.native, origin, {
      line: origin.line,
      at: origin.at,
      parts: said.length === 0 ? [{ id: origin.native }] : said,
      model:
        textAt(message, "modelID") ??
        textAt(objectAt(message, "model"), "modelID") ??
        textAt(objectAt(message, "model"), "id"),
      usage: toUsage(message.tokens, usageNames),
      extra: typeof message.cost === "number" ? { cost: message.cost } : undefined,
    });
    yield* session.close();
    for (const part of parts) {
      if (part.type === "tool") yield* this.#result(origin, part);
      else if (part.type !== "text" && part.type !== "reasoning") yield this.#raw(origin, part);
    }
    const { error } = message;
    if (!isJsonObject(error)) return;
    const reason = textAt(objectAt(error, "data"), "message") ?? textAt(error, "message") ?? JSON.stringify(error);
    yield session.error({ ...origin, native: `${origin.native}:error` }, reason, textAt(error, "name"));
  }

  *#result(origin: Origin, part: JsonObject): Generator<ImportStep> {
    const state = objectAt(part, "state");
    const status = textAt(state, "status");
    if (status !== "completed" && status !== "error") return;
    const { start, end } = objectAt(state, "time");
    const exit = numberAt(objectAt(state, "metadata"), "exit");
    const call_id = callId(part);
    yield this.#session.result({
      line: origin.line,
      at: end ?? origin.at,
      native: `result:${call_id}`,
      call_id,
      result: state.output ?? state.content ?? errorOf(state.error) ?? "",
      is_error: status === "error" || (exit !== undefined && exit !== 0),
      duration_ms: typeof start === "number" && typeof end === "number" ? end - start : undefined,
    });
  }

  #raw(origin: Origin & { native: string }, part: JsonObject): ImportStep {
    return this.#session.raw(partOrigin(origin, part), part);
  }
}

/** Some programs use the same name for the parts of every message. */
function partOrigin(origin: Origin & { native: string }, part: JsonObject): Origin {
  return { ...origin, native: `${origin.native}:${textAt(part, "id") ?? JSON.stringify(part).length}` };
}

function isFinished(message: JsonObject, parts: readonly JsonObject[]): boolean {
  if (message.role === "user") return parts.length > 0 || "text" in message || "content" in message;
  if (message.role !== "assistant") return true;
  return objectAt(message, "time").completed !== undefined || isJsonObject(message.error) || "finish" in message;
}

/** The newer tables store the parts of a message within it, under other names. */
function partsOfContent(message: JsonObject): readonly JsonObject[] {
  const content = Array.isArray(message.content) ? message.content.filter(isJsonObject) : [];
  return content.map((block, index): JsonObject => {
    const id = `${message.id ?? ""}:${index}`;
    if (block.type !== "tool") return { ...block, id: textAt(block, "id") ?? id };
    return {
      ...block,
      id: textAt(block, "id") ?? id,
      tool: block.name ?? "unknown",
      callID: textAt(block, "id") ?? id,
    };
  });
}

function toAnswerPart(part: JsonObject): readonly AnswerPart[] {
  const id = textAt(part, "id") ?? "part";
  if (part.type === "text") return part.synthetic === true ? [] : [{ id, text: textAt(part, "text") ?? "" }];
  if (part.type === "reasoning") return [{ id, thinking: textAt(part, "text") ?? "" }];
  if (part.type !== "tool") return [];
  const args: JsonValue = objectAt(part, "state").input ?? {};
  return [{ id, call: { id: callId(part), name: textAt(part, "tool") ?? "unknown", args } }];
}

/** For a message with its own text, as written by programs that put a session into one file. */
function ownParts(message: JsonObject, id: string): readonly AnswerPart[] {
  const text = textAt(message, "content");
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isJsonObject) : [];
  return [
    ...(text === undefined ? [] : [{ id, text }]),
    ...calls.map((call, index) => ({
      id,
      call: {
        id: textAt(call, "id") ?? `${id}:${index}`,
        name: textAt(call, "name") ?? "unknown",
        args: call.arguments ?? {},
      },
    })),
  ];
}

function callId(part: JsonObject): string {
  return textAt(part, "callID") ?? textAt(part, "id") ?? "call";
}

function errorOf(error: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(error) ? (error.message ?? error) : error;
}
