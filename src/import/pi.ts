// pi's sessions, and OpenClaw's, which are the same in files or in a database: a tree of entries, whose newest one ends
// the chosen branch.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import { toUsage, type UsageNames } from "../model/usage.js";
import type {
  ImportSource,
  ImportStep,
  LineImporter,
  Opening,
  SourceFacts,
  SourceOf,
  SourceRecord,
  TableImporter,
  TableRow,
} from "./importer.js";
import { LINE_BYTES_MAX, oneByOne } from "./lines.js";
import { Branches, type BranchesState, type BranchSwitch } from "./transcript/branches.js";
import { blocksOf, numberAt, objectIn, onlyText, textAt } from "./transcript/fields.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import type { SessionState, TranscriptState } from "./transcript/transcript.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";
import { AmplifiedFault, decompressedWithin, type UnpackBudget } from "./zstd.js";

const tool = { format: "pi", lacks: ["system prompt", "tool definitions"] };

const usageNames: UsageNames = {
  input_tokens: [["input"]],
  output_tokens: [["output"]],
  cache_read_tokens: [["cacheRead"]],
  cache_write_tokens: [["cacheWrite"]],
};

export const piImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  rereads: true,
  recognises: ({ records }: Opening) => records.some((record) => isHeader(record) || isMessage(record)),
  read,
};

/** Where newer versions of OpenClaw store the same entries. */
export const openClawImporter: TableImporter = {
  format: tool.format,
  reads: "tables",
  recognises: ({ tables }: Opening) =>
    tables?.transcript_events?.some((name) => /^event_(json|zstd)$/.test(name)) === true,
  read: readTables,
};

function isHeader(record: JsonObject): boolean {
  return record.type === "session" && textAt(record, "id") !== undefined && "timestamp" in record;
}

function isMessage(record: JsonObject): boolean {
  if (!isJsonObject(record.message) || typeof record.message.role !== "string" || "role" in record) return false;
  return record.type === "message" || (Object.keys(record).length === 1 && "content" in record.message);
}

async function* read(source: ImportSource): AsyncGenerator<Iterable<ImportStep>> {
  const known = source.resume.state as PiNote | undefined;
  const tree = new Tree(known?.tree);
  // A file that continues may have begun before there was anything to branch from.
  const isTree = known !== undefined || source.opening.records.some((record) => "parentId" in record);
  if (isTree) for await (const item of oneByOne(source.records())) if ("record" in item) tree.add(item.record);
  const session = new PiSession(source, tree, known?.session);
  source.resume.onSave((): PiNote => ({ session: session.state(), tree: tree.state() }));
  yield session.turn();
  for await (const records of source.records()) yield session.takeAll(records);
}

interface PiNote {
  readonly session: PiSessionNote;
  readonly tree: TreeNote;
}

interface PiSessionNote {
  readonly transcript: TranscriptState;
  readonly session: SessionState;
  readonly branches: BranchesState;
}

interface TreeNote {
  readonly parents: ReadonlyMap<string, string | undefined>;
  readonly newest: string | undefined;
  readonly is_tree: boolean;
}

/** The parent of each entry. */
class Tree {
  readonly #parents: Map<string, string | undefined>;
  /** How many entries there were, and which of them were on the branch, at the end of the last reading. */
  readonly #knownCount: number;
  readonly #knownBranch: ReadonlySet<string> | undefined;
  #newest: string | undefined;
  #isTree: boolean;

  constructor(known?: TreeNote) {
    this.#parents = new Map(known?.parents);
    this.#newest = known?.newest;
    this.#isTree = known?.is_tree ?? false;
    this.#knownCount = this.#parents.size;
    this.#knownBranch = this.branch();
  }

  state(): TreeNote {
    return { parents: this.#parents, newest: this.#newest, is_tree: this.#isTree };
  }

  /** The ids on the branch from one entry up to another, without the latter; none where the first is not on it. */
  between(first: string, last: string): readonly string[] {
    const found: string[] = [];
    const seen = new Set<string>();
    for (let id = this.#parents.get(last); id !== undefined && !seen.has(id); id = this.#parents.get(id)) {
      seen.add(id);
      found.push(id);
      if (id === first) return found;
    }
    return [];
  }

  add(record: JsonObject): void {
    const id = textAt(record, "id");
    if (id === undefined || isHeader(record)) return;
    this.#isTree ||= "parentId" in record;
    this.#parents.set(id, textAt(record, "parentId"));
    this.#newest = id;
  }

  /**
   * The ids from the newest entry back to the root; any other entry is on an abandoned branch. Undefined if no entry
   * names a parent.
   */
  branch(): ReadonlySet<string> | undefined {
    if (!this.#isTree) return undefined;
    const branch = new Set<string>();
    for (let id = this.#newest; id !== undefined && !branch.has(id); id = this.#parents.get(id)) branch.add(id);
    return branch;
  }

  /** What was read before and is now on another branch. */
  turned(): BranchSwitch {
    const branch = this.branch();
    const turned = { left: [] as string[], back: [] as string[] };
    for (const id of [...this.#parents.keys()].slice(0, this.#knownCount)) {
      const was = this.#knownBranch?.has(id) ?? true;
      const is = branch?.has(id) ?? true;
      if (was !== is) (is ? turned.back : turned.left).push(id);
    }
    return turned;
  }
}

async function* readTables(source: SourceOf<"tables">): AsyncGenerator<Iterable<ImportStep>> {
  const columns = source.tables.transcript_events ?? [];
  const key = columns.find((name) => /^session_?(id|key)$/i.test(name));
  const order = columns.find((name) => /^(seq|sequence|position)$/i.test(name));
  const events = (session: TableRow[string]) => ({
    table: "transcript_events",
    columns: ["event_json", "event_zstd"],
    ...(key === undefined ? {} : { where: { [key]: session as string | number | null } }),
    ...(order === undefined ? {} : { order: [order] }),
  });
  for (const id of await sessionsIn(source, key)) {
    const tree = new Tree();
    for await (const row of source.rows(events(id))) tree.add(eventOf(row, source.unpacking) ?? {});
    const session = new PiSession({ ...source, stem: key === undefined ? source.stem : String(id) }, tree);
    let line = 0;
    for await (const row of source.rows(events(id))) {
      line += 1;
      const record = eventOf(row, source.unpacking);
      if (record === undefined) yield [{ line, reason: `row ${line} of session ${id ?? ""} holds no event` }];
      else yield session.take(line, record);
    }
    yield session.end();
  }
}

async function sessionsIn(
  source: SourceOf<"tables">,
  key: string | undefined,
): Promise<readonly (string | number | null)[]> {
  if (key === undefined) return [null];
  const ids: (string | number | null)[] = [];
  for await (const row of source.rows({ table: "transcript_events", columns: [key], distinct: true })) {
    const id = row[key] ?? null;
    // No tool writes bytes there.
    if (!(id instanceof Uint8Array)) ids.push(id);
  }
  return ids;
}

function eventOf({ event_json: json, event_zstd: packed }: TableRow, budget: UnpackBudget): JsonObject | undefined {
  if (typeof json === "string") return objectIn(json);
  try {
    return objectIn(decompressedWithin(packed as Uint8Array, LINE_BYTES_MAX, budget).toString("utf8"));
  } catch (error) {
    if (error instanceof AmplifiedFault) throw error;
    return undefined;
  }
}

class PiSession {
  readonly #transcript: Transcript;
  readonly #branches: Branches;
  readonly #branch: ReadonlySet<string> | undefined;
  readonly #turned: BranchSwitch;
  readonly #tree: Tree;
  #session: TranscriptSession;

  constructor(source: SourceFacts, tree: Tree, known?: PiSessionNote) {
    const transcript = new Transcript(tool, source, known?.transcript);
    this.#transcript = transcript;
    this.#branches = new Branches(tool.format, known?.branches);
    this.#branch = tree.branch();
    this.#turned = tree.turned();
    this.#tree = tree;
    this.#session = known === undefined ? transcript.session(source.stem) : transcript.revive(known.session);
  }

  state(): PiSessionNote {
    return {
      transcript: this.#transcript.state(),
      session: this.#session.state(),
      branches: this.#branches.state(),
    };
  }

  /** What was recorded before and is now on another branch. */
  turn(): Generator<ImportStep> {
    return this.#branches.applySwitch(this.#session, this.#turned);
  }

  *takeAll(records: Iterable<SourceRecord>): Generator<ImportStep> {
    for (const item of records) {
      if ("reason" in item) yield item;
      else yield* this.take(item.line, item.record);
    }
    yield* this.end();
  }

  end(): Generator<ImportStep> {
    return this.#branches.end();
  }

  *take(line: number, record: JsonObject): Generator<ImportStep> {
    const native = textAt(record, "id");
    const message = isJsonObject(record.message) ? record.message : undefined;
    const at = record.timestamp ?? message?.timestamp;
    const origin = { line, at, native, ...(native === undefined ? { identity: [record] } : {}) };
    const isLeft = native !== undefined && this.#branch?.has(native) === false;
    if (isHeader(record)) {
      this.#session = this.#transcript.session(native as string);
      // A session that continues another one names its file, which ends in the other's id.
      const fork = /([0-9a-f-]{36})(?:\.jsonl)?$/.exec(textAt(record, "parentSession") ?? "")?.[1];
      yield* this.#session.about(origin, {
        cwd: textAt(record, "cwd"),
        ...(fork === undefined ? {} : { metadata: { forked_from: fork } }),
      });
    } else if (record.type === "session_info") {
      yield* this.#session.about(origin, { title: textAt(record, "name") });
    } else if (message !== undefined && isMessage(record)) {
      yield* this.#branches.take(this.#message(origin, message), isLeft);
    } else if (record.type === "compaction" && !isLeft) yield* this.#compaction(origin, record);
    else if (record.type === "custom_message" || record.type === "branch_summary") {
      yield* this.#branches.take([this.#injected(origin, record)], isLeft);
    } else yield this.#session.raw({ ...origin, is_once: true }, record);
  }

  /** The model was given the summary, and what is on the branch from the first entry that was kept. */
  *#compaction(origin: Origin, record: JsonObject): Generator<ImportStep> {
    const { native = "" } = origin;
    const first = textAt(record, "firstKeptEntryId");
    const natives = first === undefined ? [] : this.#tree.between(first, native);
    const kept = natives.flatMap((id) => [id, outputOf(id)].flatMap((name) => this.#session.idsOf(name)));
    const { summary: _, id: _id, parentId: _parent, timestamp: _time, type: _type, ...extra } = record;
    yield* this.#session.compact(
      { ...origin, extra },
      { summary: textAt(record, "summary") ?? "", kept, tokens_before: numberAt(record, "tokensBefore") },
    );
  }

  /** What an extension told the model, or the summary of a branch that was left. */
  #injected(origin: Origin, record: JsonObject): ImportStep {
    const summary = textAt(record, "summary");
    const content = summary ?? onlyText(record.content) ?? toContent(record.content);
    return this.#session.message(origin, {
      ...{ role: "user", content, injected: summary === undefined ? "other" : "summary" },
    });
  }

  *#message(origin: Origin, message: JsonObject): Generator<ImportStep> {
    const session = this.#session;
    if (message.role === "assistant") yield* this.#assistant(origin, message);
    else if (message.role === "toolResult" || message.role === "tool") {
      yield session.result({
        ...origin,
        call_id: textAt(message, "toolCallId") ?? "",
        tool: textAt(message, "toolName"),
        result: onlyText(message.content) ?? message.content ?? "",
        is_error: typeof message.isError === "boolean" ? message.isError : undefined,
        ...(message.details === undefined ? {} : { extra: { details: message.details } }),
      });
    } else if (message.role === "bashExecution") {
      const code = numberAt(message, "exitCode");
      yield session.result({
        ...origin,
        call_id: "",
        tool: "!",
        args: { command: message.command ?? "" },
        result: message.output ?? "",
        is_error: code === undefined ? undefined : code !== 0,
      });
      if (message.excludeFromContext === true || origin.native === undefined) return;
      const output = textAt(message, "output") ?? "(no output)";
      const ending = code === undefined || code === 0 ? "" : `\n\nCommand exited with code ${code}`;
      const content = `Ran \`${message.command ?? ""}\`\n\`\`\`\n${output}\n\`\`\`${ending}`;
      const of = { ...origin, native: outputOf(origin.native) };
      yield session.message(of, { role: "user", content, injected: "output" });
    } else if (message.role === "user" || message.role === "system") {
      const content = onlyText(message.content) ?? toContent(message.content);
      yield session.message(origin, { role: message.role, content });
    } else yield session.raw(origin, { message });
  }

  *#assistant(origin: Origin, message: JsonObject): Generator<ImportStep> {
    const session = this.#session;
    const reason = textAt(message, "stopReason");
    const usage = toUsage(message.usage, usageNames);
    const isSpent = usage !== undefined && Object.values(usage).some((count) => count > 0);
    yield* session.say("answer", origin, {
      line: origin.line,
      at: origin.at,
      parts: partsOf(message.content, origin.native ?? "part"),
      model: textAt(message, "model"),
      usage: isSpent ? usage : undefined,
      extra: {
        ...(reason === undefined ? {} : { stop_reason: reason }),
        ...(typeof message.responseId === "string" ? { message_id: message.responseId } : {}),
      },
    });
    yield* session.close();
    const error = textAt(message, "errorMessage");
    if (reason !== "error" || error === undefined) return;
    const of = origin.native === undefined ? { identity: ["error", message] } : { native: `${origin.native}:error` };
    yield session.error({ ...origin, ...of }, error, textAt(message, "model"));
  }
}

/** The native id of what the model was given of a user's command. */
function outputOf(native: string): string {
  return `${native}:output`;
}

function partsOf(content: JsonValue | undefined, id: string): readonly AnswerPart[] {
  const parts = blocksOf(content).map((block): AnswerPart => {
    const call = textAt(block, "id");
    const name = textAt(block, "name");
    if (block.type === "text") return { id, text: textAt(block, "text") ?? "" };
    if (block.type === "thinking") return thinkingPart(block, id);
    if (call === undefined || name === undefined) return { id, block };
    return { id, call: { id: call, name, args: block.arguments ?? block.input ?? {} } };
  });
  return parts.length === 0 ? [{ id }] : parts;
}

/** With a signature, it is a block that its provider accepts again. */
function thinkingPart(block: JsonObject, id: string): AnswerPart {
  const signature = textAt(block, "thinkingSignature");
  const thinking = textAt(block, "thinking") ?? "";
  return signature === undefined ? { id, thinking } : { id, thinking: { type: "thinking", thinking, signature } };
}

/** Images in Anthropic's form, which the record knows. */
function toContent(content: JsonValue | undefined): JsonValue {
  if (!Array.isArray(content)) return content ?? "";
  return content.map((block: JsonValue) => {
    if (!isJsonObject(block) || block.type !== "image" || typeof block.data !== "string") return block;
    return { type: "image", source: { type: "base64", media_type: block.mimeType ?? "image/png", data: block.data } };
  });
}
