// Turns the transcript of any tool into sessions with messages, tool calls and errors, each once, in the same form as
// live capture.

import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { parseLabel } from "../../model/ids.js";
import { isJsonObject, type JsonObject, type JsonValue, jsonEquals } from "../../model/json.js";
import { Rejection } from "../../model/rejection.js";
import { IMPORT_DERIVATION } from "../again.js";
import { hashedId, idOf, OccurrenceCounter, type OccurrenceCounts, sessionOf } from "../identity.js";
import type { EntryStep, FindEntry, ImportedEntry, ImportStep, ReadStored, SourceFacts } from "../importer.js";
import { LineTimes } from "../line-times.js";
import { objectAt, objectIn } from "./fields.js";
import { fitted } from "./fitting.js";
import { answerFields, greaterUsage, type ModelAnswer, restOf, type ToolCall } from "./model-answer.js";

/** Which tool wrote a transcript, and what its transcripts lack. */
export interface TranscriptTool {
  /** The importer's format, which prefixes ids. */
  readonly format: string;
  readonly lacks: readonly string[];
}

/** Where a record comes from, and what identifies it. */
export interface Origin {
  readonly line: number;
  readonly at: JsonValue | undefined;
  /** The source's own id. */
  readonly native?: string | undefined;
  /** What identifies a record without an id; repetitions are numbered. */
  readonly identity?: readonly unknown[];
  /** Whether repetitions without a time are one record. */
  readonly is_once?: boolean;
  /** Whether its time does not identify it, because copies get new times. */
  readonly is_restamped?: boolean;
  readonly extra?: JsonObject | undefined;
}

export interface SessionFacts {
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  /** The root of the repository, where the source names it. */
  readonly root?: string | undefined;
  readonly git_branch?: string | undefined;
  readonly version?: string | undefined;
  readonly parent?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** What this session lacks, where it is not what all of the tool's sessions lack. */
  readonly lacks?: readonly string[] | undefined;
}

export interface ToolResult extends Origin {
  readonly call_id: string;
  /** Set if the result itself names its tool. */
  readonly tool?: string | undefined;
  readonly args?: JsonValue | undefined;
  readonly result: JsonValue;
  readonly is_error?: boolean | undefined;
  readonly duration_ms?: number | undefined;
}

/** A compaction: from here on the model was given the summary, and of what came before only what was kept. */
export interface Compaction {
  /** In the tool's own words; empty where it recorded none. */
  readonly summary: string;
  /** The ids of the entries that stay, as `idsOf` returns them. */
  readonly kept: readonly string[];
  readonly trigger?: string | undefined;
  readonly tokens_before?: number | undefined;
  /** Native ids of what came before, where it was read from other files. */
  readonly dropped?: readonly string[];
}

/** Calls without a result yet; of more than these, the oldest are dropped. */
const CALLS_MAX = 4_096;
/** How many steps may wait for an answer that is still open. */
const WAITING_MAX = 256;

export class Transcript {
  readonly tool: TranscriptTool;
  readonly path: string;
  readonly times: LineTimes;
  readonly projects = new ProjectNames();
  readonly #occurrences: OccurrenceCounter;

  constructor(tool: TranscriptTool, source: SourceFacts, known?: TranscriptState) {
    this.tool = tool;
    this.path = source.path;
    this.times = new LineTimes(source, known?.last_ms);
    this.#occurrences = new OccurrenceCounter(known?.counts);
  }

  session(key: string, parent?: TranscriptSession): TranscriptSession {
    const { session_id, native_id } = sessionOf(this.tool.format, key);
    return this.revive({
      session_id,
      native_id,
      parent_id: parent?.id,
      project: parent?.project ?? "",
      facts: undefined,
      calls: new Map(),
      open: undefined,
      waiting: [],
      placed: 0,
    });
  }

  /** A session with a saved state. */
  revive(note: SessionState): TranscriptSession {
    return new TranscriptSession(this, note);
  }

  state(): TranscriptState {
    return { last_ms: this.times.state(), counts: this.#occurrences.state() };
  }

  /** An id for a record without one: a hash of what identifies it, and the number of the repetition. */
  identify(session_id: string, { at, identity = [], is_once = false, is_restamped = false }: Origin): string {
    const isDated = !is_restamped && this.times.isTime(at);
    const id = hashedId(this.tool.format, isDated ? [session_id, at, ...identity] : [session_id, ...identity]);
    if (isDated || is_once) return id;
    const times = this.#occurrences.count(id.slice(this.tool.format.length + 1));
    return times === 0 ? id : `${id}:${times}`;
  }

  /** Resets the count of repetitions: the same records come a second time. */
  restart(): void {
    this.#occurrences.clear();
  }
}

export class TranscriptSession {
  readonly id: string;
  readonly #transcript: Transcript;
  readonly #nativeId: string | undefined;
  readonly #parentId: string | undefined;
  readonly #calls: Map<string, ToolCall>;
  #project: string;
  #facts: SessionFacts | undefined;
  #open: OpenAnswer | undefined;
  #waiting: SessionStep[];
  /** The position of its last message or tool call so far. */
  #placed: number;
  readonly #onPlaced = (position: number): void => {
    this.#placed = Math.max(this.#placed, position);
  };

  constructor(transcript: Transcript, note: SessionState) {
    this.#transcript = transcript;
    this.id = note.session_id;
    this.#nativeId = note.native_id;
    this.#parentId = note.parent_id;
    this.#project = note.project;
    this.#facts = note.facts;
    this.#calls = new Map(note.calls);
    this.#open = note.open;
    this.#placed = note.placed;
    this.#waiting = note.waiting.map(({ line, entry, native }) => this.#recorded(line, entry, native));
  }

  state(): SessionState {
    return {
      session_id: this.id,
      native_id: this.#nativeId,
      parent_id: this.#parentId,
      project: this.#project,
      facts: this.#facts,
      calls: this.#calls,
      open: this.#open,
      waiting: this.#waiting.map(({ line, entry, native }) => ({ line, entry, native })),
      placed: this.#placed,
    };
  }

  get project(): string {
    return this.#project;
  }

  /** The ids under which a record may have been recorded: its own, or another one if a different session has that. */
  idsOf(native: string): readonly string[] {
    const { id } = idOf(this.#transcript.tool.format, native);
    return [id, this.#ownId(id)];
  }

  /** A session that this one started. */
  child(name: string): TranscriptSession {
    return this.#transcript.session(`${this.id}/${name}`, this);
  }

  /** Whether the facts contain anything new. */
  isNew(facts: SessionFacts): boolean {
    const known = this.#facts;
    if (known === undefined || facts.metadata !== undefined) return true;
    if (facts.lacks !== undefined && facts.lacks.join() !== (known.lacks ?? this.#transcript.tool.lacks).join())
      return true;
    for (const name of factNames) if (facts[name] !== undefined && facts[name] !== known[name]) return true;
    return false;
  }

  /** An entry with the facts of its session, if there are new ones. */
  *about(origin: Origin, facts: SessionFacts): Generator<EntryStep> {
    if (!this.isNew(facts)) return;
    const { metadata } = facts;
    const parent = facts.parent ?? this.#facts?.parent ?? this.#parentId;
    const merged: SessionFacts = { ...this.#facts, ...withoutGaps(facts), ...withoutGaps({ parent }) };
    this.#facts = merged;
    const { title, cwd, root = cwd, git_branch, version, lacks } = merged;
    if (root !== undefined) this.#project = this.#transcript.projects.of(root);
    const { tool, path } = this.#transcript;
    const source = { tool: tool.format, ...withoutGaps({ version }), lacks: lacks ?? tool.lacks };
    const known = { ...withoutGaps({ cwd, git_branch, version }), ...metadata };
    const derived = { derivation: IMPORT_DERIVATION, path };
    const fields = { ...withoutGaps({ title, parent }), metadata: { ...known, source: { ...source, ...derived } } };
    // Path and derivation do not identify it: a moved file is the same file, and so is one that is derived in another way.
    const identity: unknown[] = ["session_info", { ...fields, metadata: { ...known, source } }];
    // What was lacking before may be lacking again.
    if (facts.lacks !== undefined) identity.push(origin.native ?? origin.at ?? null);
    const id = hashedId(tool.format, [this.id, ...identity]);
    const extra = this.#nativeId === undefined ? {} : { extra: { native_id: this.#nativeId } };
    yield { line: origin.line, entry: this.#entry({ kind: "session_info", ...fields, ...extra }, id, origin) };
  }

  message(
    origin: Origin,
    fields: { readonly role: string; readonly content: unknown; readonly [field: string]: unknown },
  ): SessionStep {
    return this.#step(origin, { kind: "message", ...fields });
  }

  /** A tool result, with the call that it answers. */
  result(result: ToolResult): SessionStep {
    const { call_id, is_error, duration_ms } = result;
    const call = this.#calls.get(call_id);
    this.#calls.delete(call_id);
    const tool = result.tool ?? call?.name ?? "unknown";
    const args = result.args ?? call?.args;
    return this.#step(result, {
      kind: "tool_call",
      tool,
      args: argsOf(args),
      result: result.result,
      is_error,
      duration_ms,
      tool_call_id: call_id === "" ? undefined : call_id,
    });
  }

  /** Ends the open answer, and records a compaction once everything before it has its position; returns the id of its entry. */
  *compact(origin: Origin, { summary, kept, dropped = [], ...known }: Compaction): Generator<ImportStep, string> {
    yield* this.close();
    const { id } = this.#idOf(origin);
    const extra = origin.extra === undefined ? {} : { extra: origin.extra };
    const fields = { kind: "consolidation", summary, ...known, ...extra };
    const made = this.#entry(fields, id, origin);
    const deferred = async (find: FindEntry, read: ReadStored): Promise<readonly ImportedEntry[]> => {
      for (const native of dropped) {
        for (const entry of this.idsOf(native)) (await this.#placesOf(entry, find, read)).forEach(this.#onPlaced);
      }
      const through = this.#placed;
      // What was recorded before stays as it is.
      if ((await find(id)) !== undefined) return [{ ...made, through }];
      const positions = new Set<number>();
      for (const entry of kept) for (const position of await this.#placesOf(entry, find, read)) positions.add(position);
      return [{ ...made, through, kept: [...positions].filter((at) => at <= through).sort((a, b) => a - b) }];
    };
    yield { line: origin.line, session_id: this.id, deferred };
    return id;
  }

  /** The id that a message has where the source names none. */
  idWithoutNative(origin: Origin): string {
    return this.#idOf(origin).id;
  }

  /** Withdraws messages once they have their positions, which `of` returns then. */
  withdraw(origin: Origin, of: () => readonly number[]): ImportStep {
    const deferred = (): readonly ImportedEntry[] =>
      of().map((withdraws) => {
        const id = hashedId(this.#transcript.tool.format, ["withdrawal", this.id, withdraws]);
        return this.#entry({ kind: "withdrawal", withdraws }, id, origin);
      });
    return { line: origin.line, deferred };
  }

  error(origin: Origin, error: string, context = ""): SessionStep {
    return this.#step(origin, { kind: "error", error, ...(context === "" ? {} : { context }) });
  }

  raw(origin: Origin, record: JsonObject): SessionStep {
    return this.#step(origin, { kind: "raw", source: this.#transcript.tool.format, record });
  }

  /** Adds parts to an answer: consecutive ones with the same key become one message. */
  *say(key: string, origin: Origin, said: ModelAnswer): Generator<ImportStep> {
    for (const { call } of said.parts) if (call !== undefined) this.#expect(call);
    if (this.#open?.key === key) {
      const { said: before } = this.#open;
      const usage = greaterUsage(before.usage, said.usage);
      const extra = { ...before.extra, ...said.extra };
      this.#open.said = { ...before, parts: [...before.parts, ...said.parts], usage, extra };
      return;
    }
    yield* this.close();
    this.#open = { key, origin, said };
  }

  /** Changes the open answer, if there is one. */
  amend(change: (said: ModelAnswer) => ModelAnswer): boolean {
    if (this.#open === undefined) return false;
    this.#open.said = change(this.#open.said);
    return true;
  }

  get openAnswer(): ModelAnswer | undefined {
    return this.#open?.said;
  }

  /** Drops the open answer, which is recorded as something else. */
  *discard(): Generator<ImportStep> {
    const waiting = this.#waiting;
    this.#open = undefined;
    this.#waiting = [];
    yield* waiting;
  }

  get openKey(): string | undefined {
    return this.#open?.key;
  }

  /** A step that follows the open answer without ending it. */
  *queue(step: SessionStep): Generator<ImportStep> {
    if (this.#open === undefined) yield step;
    else {
      this.#waiting.push(step);
      if (this.#waiting.length >= WAITING_MAX) yield* this.close();
    }
  }

  /** Ends the open answer. */
  *close(): Generator<ImportStep> {
    if (this.#open === undefined) return;
    const { origin, said } = this.#open;
    const waiting = this.#waiting;
    this.#open = undefined;
    this.#waiting = [];
    yield this.#saidStep(origin, said, { id: this.#idOf(origin).id, times: 0, isOwn: false });
    yield* waiting;
  }

  #saidStep(
    origin: Origin,
    said: ModelAnswer,
    name: { readonly id: string; readonly times: number; readonly isOwn: boolean },
  ): EntryStep {
    const { id: first, times, isOwn } = name;
    const id = times === 0 ? first : `${first}:${times}`;
    const further = times === 0 ? said : { ...said, extra: { ...said.extra, continues: first } };
    const entry = this.#entry(answerFields(further), id, origin);
    const onExisting = (stored: JsonObject | undefined): EntryStep | undefined => {
      if (stored === undefined) return undefined;
      if (!isSame(stored, entry)) {
        return isOwn ? undefined : this.#saidStep(origin, said, { id: this.#ownId(first), times: 0, isOwn: true });
      }
      const rest = restOf(said, stored);
      return rest && this.#saidStep(origin, rest, { id: first, times: times + 1, isOwn });
    };
    return { line: said.line, entry, onPlaced: this.#onPlaced, onExisting };
  }

  /** Where an entry of this session is, and the rest of it that was recorded under numbered ids. */
  async #placesOf(first: string, find: FindEntry, read: ReadStored): Promise<readonly number[]> {
    const positions: number[] = [];
    for (let part = 0; ; part += 1) {
      const position = await find(part === 0 ? first : `${first}:${part}`);
      const body = position === undefined ? undefined : await read(position);
      const isPart = part === 0 || typeof objectAt(body ?? {}, "extra").continues === "string";
      if (position === undefined || body?.session_id !== this.id || !isPart) return positions;
      if ("role" in body || "tool" in body) positions.push(position);
    }
  }

  #expect(call: ToolCall): void {
    if (this.#calls.size >= CALLS_MAX) {
      const [oldest] = this.#calls.keys();
      if (oldest !== undefined) this.#calls.delete(oldest);
    }
    this.#calls.set(call.id, call);
  }

  #step(origin: Origin, fields: EntryFields): SessionStep {
    const { id, native_id } = this.#idOf(origin);
    const extra = native_id === undefined ? origin.extra : { ...origin.extra, native_id };
    const given = extra === undefined ? fields : Object.assign(fields, { extra });
    const entry = this.#entry(fittedFields(given), id, origin);
    return this.#recorded(origin.line, entry, origin.native);
  }

  #recorded(line: number, entry: ImportedEntry, native: string | undefined): SessionStep {
    const isSaid = entry.kind === "message" || entry.kind === "tool_call";
    const onPlaced = isSaid ? this.#onPlaced : undefined;
    if (native === undefined) return { line, entry, onPlaced };
    const onExisting = (stored: JsonObject | undefined): EntryStep | undefined => {
      if (stored === undefined || isSame(stored, entry)) return undefined;
      const extra = isJsonObject(entry.extra) ? entry.extra : {};
      const id = stored.session_id === this.id ? this.#laterId(entry) : this.#ownId(entry.id);
      return this.#recorded(line, { ...entry, id, extra: { ...extra, native_id: native } }, native);
    };
    return { line, entry, native, onPlaced, onExisting };
  }

  #idOf(origin: Origin): { readonly id: string; readonly native_id: string | undefined } {
    const { format } = this.#transcript.tool;
    if (origin.native === undefined) return { id: this.#transcript.identify(this.id, origin), native_id: undefined };
    const { id, isNative } = idOf(format, origin.native);
    return { id, native_id: isNative ? undefined : origin.native };
  }

  /** An id for a record whose own id is taken by another session. */
  #ownId(id: string): string {
    return hashedId(this.#transcript.tool.format, [this.id, id]);
  }

  /** An id for the result of a call whose id an earlier call of this session had. */
  #laterId({ id, created_at }: ImportedEntry): string {
    return hashedId(this.#transcript.tool.format, [this.id, id, created_at]);
  }

  /** Completes the given object in place: spreading it takes several times as long as the rest. */
  #entry(fields: EntryFields, id: string, { at }: Origin): ImportedEntry {
    const { tool, times } = this.#transcript;
    const entry = fields as { -readonly [N in keyof EntryFields]: EntryFields[N] };
    entry.id = id;
    entry.session_id = this.id;
    entry.client = tool.format;
    if (times.isOfFile(at)) entry.extra = { ...(isJsonObject(entry.extra) ? entry.extra : {}), time_is: "file" };
    entry.created_at = times.createdAt(at);
    entry.project = this.#project === "" ? undefined : this.#project;
    return entry as ImportedEntry;
  }
}

/** What is longer than an entry may be keeps its beginning, and says how long it was. */
function fittedFields(fields: EntryFields): EntryFields {
  const name = fields.kind === "tool_call" ? "result" : "content";
  if (fields[name] === undefined) return fields;
  const { value, truncated } = fitted(fields[name]);
  if (truncated === undefined) return fields;
  const extra = isJsonObject(fields.extra as JsonValue) ? (fields.extra as JsonObject) : {};
  return { ...fields, [name]: value, extra: { ...extra, truncated } };
}

type EntryFields = { readonly kind: string; readonly [field: string]: unknown };

const factNames = ["title", "cwd", "git_branch", "version", "parent"] as const;

const SAID = ["role", "content", "tool", "result", "error"] as const;

/** Whether what is stored under an id is the same record: of the same session, or a copy with the same text and time. */
function isSame(stored: JsonObject, entry: ImportedEntry): boolean {
  if (stored.role !== entry.role) return false;
  const isOwn = stored.session_id === entry.session_id;
  // A hook tells of the same call, with the result in another form.
  if (isOwn && isJsonObject(stored.extra) && stored.extra.hook === true) return true;
  if (isOwn && entry.kind !== "tool_call") return true;
  const isSameTime = stored.created_at === entry.created_at;
  // Some models reuse ids of calls: within a session, either the same time or the same text makes a copy.
  if (isOwn && isSameTime) return true;
  return (isOwn || isSameTime) && SAID.every((name) => jsonEquals(stored[name], entry[name]));
}

function argsOf(args: JsonValue | undefined): JsonObject | undefined {
  if (args === undefined || args === null || args === "") return undefined;
  if (isJsonObject(args)) return args;
  return (typeof args === "string" ? objectIn(args) : undefined) ?? { _raw: args };
}

function withoutGaps<T extends object>(facts: T): Partial<T> {
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)) as Partial<T>;
}

/** Where tools put worktrees inside a repository, for folders that do not exist on this machine. */
const WORKTREES =
  /^(.+?)[\\/](?:\.claude[\\/]worktrees|\.codex[\\/]worktrees|\.worktrees|\.git[\\/]worktrees)[\\/][^\\/]+/;
const KNOWN_MAX = 10_000;
/** No system has longer paths. */
const PATH_CHARS_MAX = 4_096;

class ProjectNames {
  readonly #byFolder = new Map<string, string>();

  of(cwd: string): string {
    const known = this.#byFolder.get(cwd);
    if (known !== undefined) return known;
    if (this.#byFolder.size >= KNOWN_MAX) this.#byFolder.clear();
    const name = cwd.length > PATH_CHARS_MAX ? "" : lastName(isAbsolute(cwd) ? rootOf(cwd) : cwd);
    const label = parseLabel("project", name) instanceof Rejection ? "" : name;
    this.#byFolder.set(cwd, label);
    return label;
  }
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path);
}

/** The root of the folder's repository, main worktree; the folder itself if there is no repository. */
function rootOf(cwd: string): string {
  for (let folder = cwd; lastName(folder) !== ""; folder = parentOf(folder)) {
    const root = repositoryAt(folder);
    if (root !== undefined) return root;
  }
  const [, outer] = WORKTREES.exec(cwd) ?? [];
  return outer ?? (cwd === homedir() ? "" : cwd);
}

/** A folder that cannot be read counts as one without a repository. */
function repositoryAt(folder: string): string | undefined {
  const git = `${folder}/.git`;
  try {
    const found = statSync(git);
    if (found.isDirectory()) return folder;
    if (!found.isFile() || found.size > PATH_CHARS_MAX) return undefined;
    // A worktree has a file there, which names its place inside of the main repository.
    const [, place] = /^gitdir: (.+?)[\\/]\.git[\\/]worktrees[\\/]/.exec(readFileSync(git, "utf8")) ?? [];
    return place ?? folder;
  } catch {
    return undefined;
  }
}

function parentOf(path: string): string {
  return path.replace(/[\\/]*[^\\/]*[\\/]*$/, "");
}

function lastName(path: string): string {
  return /[^\\/]+(?=[\\/]*$)/.exec(path)?.[0]?.replace(/^[A-Za-z]:$/, "") ?? "";
}

/** A step of a session, with the native id under which another session may have recorded it. */
interface SessionStep extends EntryStep {
  readonly native?: string | undefined;
}

/** State of a transcript for a reading that resumes later, and of each of its sessions. */
export interface TranscriptState {
  readonly last_ms: number | undefined;
  readonly counts: OccurrenceCounts;
}

export interface SessionState {
  readonly session_id: string;
  readonly native_id: string | undefined;
  readonly parent_id: string | undefined;
  readonly project: string;
  readonly facts: SessionFacts | undefined;
  readonly calls: ReadonlyMap<string, ToolCall>;
  readonly open: OpenAnswer | undefined;
  readonly waiting: readonly Pick<SessionStep, "line" | "entry" | "native">[];
  readonly placed: number;
}

interface OpenAnswer {
  readonly key: string;
  readonly origin: Origin;
  said: ModelAnswer;
}
