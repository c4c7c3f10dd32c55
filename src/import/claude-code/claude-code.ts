// Claude Code's transcripts: a line for each block of an answer, each tool result and each note, of one session or several.
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../../model/json.js";
import { anthropicUsage, toUsage } from "../../model/usage.js";
import type {
  DocumentImporter,
  ImportSource,
  ImportStep,
  LineImporter,
  Opening,
  SourceFacts,
  SourceOf,
  SourceRecord,
} from "../importer.js";
import { Branches, type BranchesState } from "../transcript/branches.js";
import { objectAt, textAt } from "../transcript/fields.js";
import { type Origin, Transcript, type TranscriptState } from "../transcript/transcript.js";
import { type AnswerTokens, ClaudeSession, type ClaudeSessionState, LACKS } from "./claude-session.js";

const tool = { format: "claude-code", lacks: LACKS };

const NOTED = [
  ...["summary", "file-history-snapshot", "queue-operation", "ai-title", "custom-title", "progress", "system"],
  ...["attachment", "api-request", "api-request-shape", "api-request-blob", "cost-state"],
];

export const claudeCodeImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some(isLine),
  read,
};

/** Sessions exported from its web interface: the same lines in one document. */
export const claudeCodeDocumentImporter: DocumentImporter = {
  format: tool.format,
  reads: "document",
  recognises: ({ document }: Opening) =>
    isJsonObject(document) && Array.isArray(document.loglines) && document.loglines.some((line) => isLine(line)),
  read: readDocument,
};

function isLine(record: JsonValue): boolean {
  if (!isJsonObject(record) || "role" in record || "payload" in record) return false;
  const { type, message } = record;
  if (type === "user" || type === "assistant") return message !== undefined;
  if (type === undefined && "sessionId" in record && isJsonObject(message)) return typeof message.role === "string";
  if (type === "started" || type === "result") return "agentId" in record && "key" in record;
  return NOTED.includes(String(type)) && ["sessionId", "leafUuid", "uuid"].some((name) => name in record);
}

async function* read(source: ImportSource): AsyncGenerator<Iterable<ImportStep>> {
  const sessions = new ClaudeSessions(source, source.resume.state as ClaudeState | undefined);
  source.resume.onSave(() => sessions.state());
  for await (const records of source.records()) yield sessions.takeAll(records);
  yield sessions.end();
}

async function* readDocument(source: SourceOf<"document">): AsyncGenerator<ImportStep | Iterable<ImportStep>> {
  const sessions = new ClaudeSessions(source);
  for await (const item of source.values("loglines.*")) {
    if ("reason" in item) yield item;
    else if (isJsonObject(item.value)) yield sessions.take(item.line, item.value, 0);
    else yield { line: item.line, reason: "the item is not an object" };
  }
  yield sessions.end();
}

interface ClaudeState {
  readonly key: string;
  readonly transcript: TranscriptState;
  readonly sessions: ReadonlyMap<string, ClaudeSessionState>;
  readonly branches: BranchesState;
}

class ClaudeSessions {
  readonly #source: SourceFacts;
  readonly #transcript: Transcript;
  /** The session of lines without one: the first that another line names, otherwise the name of folder or file. */
  readonly #key: string;
  readonly #sessions = new Map<string, ClaudeSession>();
  readonly #branches: Branches;

  constructor(source: SourceFacts, known?: ClaudeState) {
    this.#source = source;
    this.#transcript = new Transcript(tool, source, known?.transcript);
    this.#branches = new Branches(tool.format, known?.branches);
    for (const [name, note] of known?.sessions ?? []) {
      this.#sessions.set(name, this.#open(this.#transcript.revive(note.transcript), note));
    }
    // Titles and snapshots without a time come first, and the file's own time may be that of a copy.
    const [begun] = source.opening.records.flatMap((record) => textAt(record, "timestamp") ?? []);
    this.#transcript.times.take(begun);
    const folder = /([^\\/]+)[\\/]subagents[\\/]/.exec(source.path)?.[1];
    const [said] = source.opening.records.flatMap((record) => textAt(record, "sessionId") ?? []);
    this.#key = known?.key ?? said ?? folder ?? source.stem;
  }

  state(): ClaudeState {
    const sessions = new Map([...this.#sessions].map(([name, session]) => [name, session.state()]));
    return { key: this.#key, transcript: this.#transcript.state(), sessions, branches: this.#branches.state() };
  }

  *takeAll(records: Iterable<SourceRecord>): Generator<ImportStep> {
    for (const item of records) {
      if ("reason" in item) yield item;
      else yield* this.take(item.line, item.record, item.bytes);
    }
  }

  *take(line: number, record: JsonObject, bytes: number): Generator<ImportStep> {
    const native = textAt(record, "uuid");
    const { timestamp: at } = record;
    const origin: Origin =
      native === undefined ? { line, at, identity: [JSON.stringify(record)] } : { line, at, native };
    yield* this.#sessionOf(record).take({ origin, record, bytes });
  }

  *end(): Generator<ImportStep> {
    const isGrowing = this.#source.isGrowing();
    for (const session of this.#sessions.values()) yield* session.end(isGrowing);
  }

  #sessionOf(record: JsonObject): ClaudeSession {
    const agent = /^agent-(.+)$/.exec(this.#source.stem)?.[1];
    const key = textAt(record, "sessionId") ?? this.#key;
    const isRequest = typeof record.type === "string" && record.type.startsWith("api-request");
    const id = textAt(record, "agentId") ?? agent;
    if (record.isSidechain !== true && agent === undefined && !(isRequest && id !== undefined))
      return this.#session(key);
    return this.#session(key, id === undefined ? "sidechain" : `agent-${id}`);
  }

  #session(key: string, child?: string): ClaudeSession {
    const name = child === undefined ? key : `${key}\0${child}`;
    let session = this.#sessions.get(name);
    if (session === undefined) {
      const main = this.#transcript.session(key);
      session = this.#open(child === undefined ? main : main.child(child));
      this.#sessions.set(name, session);
    }
    return session;
  }

  #open(transcript: ReturnType<Transcript["session"]>, known?: ClaudeSessionState): ClaudeSession {
    const subagents = (since: string | undefined, until: string | undefined) => this.#subagentTokens(since, until);
    return new ClaudeSession({ transcript, branches: this.#branches, subagents }, known);
  }

  /** From the transcripts of subagents next to this one, which the tool's totals include. */
  async #subagentTokens(since = "", until = "9999"): Promise<readonly AnswerTokens[]> {
    const folder = `${this.#source.stem}/subagents`;
    const names = (await this.#source.siblings.list(folder)).filter((name) => name.endsWith(".jsonl"));
    const answers = new Map<string, AnswerTokens>();
    for (const name of names) {
      for (const line of (await this.#source.siblings.read(`${folder}/${name}`))?.split("\n") ?? []) {
        const record = parseJsonObject(line);
        const at = record === undefined ? undefined : textAt(record, "timestamp");
        if (record?.type !== "assistant" || at === undefined || at <= since || at > until) continue;
        const message = objectAt(record, "message");
        const usage = toUsage(message.usage, anthropicUsage);
        const [id, model] = [textAt(message, "id"), textAt(message, "model")];
        if (id !== undefined && model !== undefined && usage !== undefined) answers.set(id, { model, usage });
      }
    }
    return [...answers.values()];
  }
}
