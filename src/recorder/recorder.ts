// The recorder: everything that can be done with an open store, as the interface of the library.

import { type ExportOptions, type Exports, exportInput, parseExportQuery } from "../export/exports.js";
import type { PageVerification } from "../export/share/verify-page.js";
import type { Keys } from "../guard/keys.js";
import type { Scope } from "../guard/scopes.js";
import type { ImportedSessions } from "../import/again.js";
import type { ProposeMemory } from "../import/import-batcher.js";
import type { ImportOptions, ImportReport } from "../import/import-files.js";
import type { ExportedMemory } from "../import/importer.js";
import type { Watch, WatchCounts, WatchOptions } from "../import/watch/watch-files.js";
import type { Watches } from "../import/watch/watches.js";
import {
  type AppendResult,
  type Capture,
  type Captured,
  notAnInteraction,
  toAppendResult,
  toReceipt,
} from "../log/capture/capture.js";
import type { ImportWriter } from "../log/capture/import-writer.js";
import { type WithinOptions, WithinScope } from "../log/capture/within.js";
import type {
  ForgetOptions,
  Forgotten,
  Retained,
  RetentionOptions,
  Scrubbed,
  ScrubOptions,
} from "../log/forgetting/forget-requests.js";
import type { SealKeepingOptions } from "../log/seals/sealing.js";
import type { LearningOptions } from "../memories/background/learning.js";
import { splitMemoryFiles, withMemoryFiles } from "../memories/files/memory-files.js";
import type { ProposalInput } from "../memories/review/memory-input.js";
import { toEntry } from "../model/body.js";
import type { CompletionInput, EntryInput, FeedbackInput, Interaction, InteractionInput } from "../model/entry.js";
import { closedFault, Fault } from "../model/fault.js";
import { ACTOR_DEFAULT, isKeyId, parseSessionId } from "../model/ids.js";
import { knownOptions, optionNames } from "../model/options.js";
import { orThrow, RecorderError, type Rejection, reject } from "../model/rejection.js";
import type { Contradiction, Seal, Verification } from "../model/verification.js";
import type { Calls } from "../operations/calls.js";
import type { Operations } from "../operations/index.js";
import { type AnyOperation, askedWith, type OperateHow, type Options } from "../operations/operation.js";
import type { TelemetryAnswer, TelemetryBody } from "../otlp/intake.js";
import type { AssemblingOptions, RemapOptions, Remapped } from "../otlp/trace-assembler.js";
import { rebuildWithProgress } from "../reading/rebuild.js";
import type { Tail } from "../reading/tail/tail.js";
import { parseTailQuery, type TailOptions, type TailQuery, tailInput } from "../reading/tail/tail-query.js";
import type { OptionsOf } from "../search/filters.js";
import { Memories, type MemoryPasses } from "./memories.js";
import type { Health, Monitoring } from "./monitoring.js";
import { methodsBy, type Operate, OperationMethodsBase } from "./operation-methods.js";
import { Session, type SessionLabels, type SessionRecorder } from "./session.js";
import type { StoreAdmin } from "./store-admin.js";

export type { AppendResult } from "../log/capture/capture.js";
export type { Tail } from "../reading/tail/tail.js";
export type { Health } from "./monitoring.js";

/** Filters of the list of interactions. An empty one filters nothing; `"-"` selects entries without that label. */
export type InteractionListOptions = OptionsOf<Operations["listInteractions"]["input"]>;

/** Filters of the list of entries. An empty one filters nothing; `"-"` selects entries without that label. */
export type EntryListOptions = OptionsOf<Operations["listEntries"]["input"]>;

/** Filters of the list of sessions: those with an entry that has the label. */
export type SessionListOptions = OptionsOf<Operations["listSessions"]["input"]>;

/** Filters of a search; the same can be typed into the query, and then both must hold. */
export type SearchOptions = Omit<OptionsOf<Operations["search"]["input"]>, "q">;

/** Filters as in lists, and how many of the newest entries: 30 by default, at most 100,000. */
export type ReflectionOptions = OptionsOf<Operations["reflect"]["input"]>;

/** What a recorder is made of; see compose-recorder.ts. */
export interface RecorderParts {
  readonly calls: Calls;
  readonly capture: Pick<Capture, "record" | "appendOne">;
  readonly admin: Omit<Pick<StoreAdmin, keyof StoreAdmin>, "note" | "forget" | "isContradicted" | "close">;
  readonly keys: Pick<Keys, keyof Keys>;
  readonly passes: MemoryPasses;
  /** Opened with parsed options; the original ones are needed by threads and servers. */
  readonly tails: { open(query: TailQuery, given: TailOptions): Tail };
  readonly imports: Pick<ImportWriter, keyof ImportWriter> & { readonly sessions?: ImportedSessions };
  readonly exports: Pick<Exports, "entries" | "unaudited">;
  readonly monitoring: Pick<Monitoring, keyof Monitoring>;
  /** How a session is consolidated if that is not planned here. */
  readonly consolidate?: SessionRecorder["consolidate"];
  readonly nowMs: () => number;
  /** Runs an operation, here or on a server. */
  readonly operate: Operate;
  /** Begins to learn in the background, unless it has begun. */
  readonly learn: (options: LearningOptions) => void;
  readonly watches: Watches;
  /** Absent where the store is on a server, which has routes of its own. */
  readonly telemetry?: {
    readonly take: (body: TelemetryBody) => Promise<TelemetryAnswer | Rejection>;
    readonly assemble: (options: AssemblingOptions) => Promise<void>;
    readonly remap: (options: RemapOptions) => Promise<Remapped>;
  };
  /** The parts for requests with this key. */
  readonly by: (key_id: string, scope: Scope) => RecorderParts;
  /** Waits for what is being written, then closes the store. */
  readonly close: () => Promise<void>;
}

/** An open store. Refused input rejects the promise with a `RecorderError`; a failing disk or store with a `Fault`. */
export class Recorder extends OperationMethodsBase {
  /** The keys that servers on this store require. */
  readonly keys: RecorderParts["keys"];
  /** What was learned: proposed, decided upon by a person, and recalled. */
  readonly memories: Memories;
  /** The state of the store, for monitoring. */
  readonly monitoring: RecorderParts["monitoring"];
  readonly #parts: RecorderParts;
  readonly #surrounded = new WithinScope();
  readonly #operations = methodsBy((operation, options) => this.operate(operation, options));
  /** Needed by every request with a key; there are as many as keys in use. */
  readonly #byKey = new Map<string, Recorder>();
  #closing: Promise<void> | undefined;

  constructor(parts: RecorderParts) {
    super();
    this.#parts = parts;
    this.keys = parts.keys;
    this.memories = new Memories(this.#operations, parts.passes);
    this.monitoring = parts.monitoring;
  }

  /**
   * The same store for a caller that a server has let in with a key: what is recorded through it, audit entries included,
   * carries the key's id as `recorded_by`. With a key of scope `capture`, no answer depends on what others recorded. It is
   * closed with the recorder that it came from.
   */
  recordedBy(key_id: string, scope: Scope = "admin"): Recorder {
    if (key_id === "") return this;
    const parts = this.#open();
    // A key never changes its scope.
    const known = this.#byKey.get(key_id);
    if (known !== undefined) return known;
    if (isKeyId(key_id)) {
      const recorder = new Recorder(parts.by(key_id, scope));
      this.#byKey.set(key_id, recorder);
      return recorder;
    }
    throw new RecorderError({ code: "field_invalid", field: "key_id", message: "key_id is not the id of a key" });
  }

  /** Runs an operation; one that appends entries is handled by `append`. Servers ask for large answers as JSON. */
  override async operate(operation: AnyOperation, options: Options, how: OperateHow = {}): Promise<unknown> {
    const { operate, nowMs } = this.#open();
    const asked = askedWith(operation, options, nowMs());
    if (operation.needs === "recorder") return operation.answer(this, asked.query);
    const answer = await operate(operation, { ...asked, ...how });
    return operation.erases === true ? this.#forgetting(answer as Forgotten) : answer;
  }

  /** The labels in effect here: those given to `within`. */
  get currentLabels(): WithinOptions {
    return this.#surrounded.current;
  }

  /**
   * Runs a function; everything recorded while it runs, by `recordingFetch` and adapters too, belongs to this session
   * and carries these labels unless it has its own.
   */
  within<T>(labels: WithinOptions, work: () => T): T {
    return this.#surrounded.run(labels, work);
  }

  /** Records one round-trip with a model, and returns the whole interaction once it is on disk. */
  async recordInteraction(input: InteractionInput): Promise<Interaction> {
    const { kind } = (input ?? {}) as { readonly kind?: unknown };
    if (kind !== undefined && kind !== null && kind !== "interaction") throw new RecorderError(notAnInteraction());
    const surrounded = this.#surrounded.withDefaults(input, "interaction");
    const item = orThrow(await this.#open().capture.appendOne(surrounded, "interaction"));
    if (item.status === "recorded" && item.stored !== undefined) return toEntry(item.stored) as Interaction;
    return (await this.getEntry(item.id)) as Interaction;
  }

  /** Adds the response to an interaction that was recorded without one. */
  async completeInteraction(id: string, completion: CompletionInput): Promise<Interaction> {
    const input = { ...completion, kind: "response", interaction_id: id };
    const response = orThrow(await this.#open().capture.appendOne(input));
    const interaction = (await this.getEntry(id)) as Interaction | undefined;
    const message = `entry ${response.id} has no interaction`;
    return orThrow(interaction ?? reject({ code: "interaction_not_found", message }));
  }

  /** Appends one entry or a batch, all or none. */
  async append(input: EntryInput | readonly EntryInput[]): Promise<AppendResult> {
    return toAppendResult(orThrow(await this.#open().capture.record(this.#surrounded.withDefaults(input))));
  }

  /** Records feedback on an entry: a score from -1 to 1, a label or a comment. */
  async feedback(feedback: FeedbackInput): Promise<Captured> {
    const input = { ...feedback, kind: "feedback" };
    return toReceipt(orThrow(await this.#open().capture.appendOne(input)));
  }

  /**
   * One session by its id, which is kept exactly as given. It begins with its first entry. Labels apply to everything
   * that is recorded through it.
   */
  session(id: string, labels: SessionLabels = {}): Session {
    const recorder: SessionRecorder = {
      consolidate: this.#parts.consolidate,
      append: (input: EntryInput) => this.append(input),
      recordInteraction: (input: InteractionInput) => this.recordInteraction(input),
      calls: () => this.#open().calls,
      operations: this.#operations,
    };
    return new Session(recorder, orThrow(parseSessionId(id)), labels);
  }

  /**
   * Follows the log: entries as any process appends them, from now on or after a position. Each comes once and in
   * order; an interaction comes without the response that completes it later, which is a separate entry.
   */
  tail(options: TailOptions = {}): Tail {
    return this.#open().tails.open(orThrow(parseTailQuery(knownOptions(options, optionTables.tail))), options);
  }

  /**
   * Imports files, folders and `-` for standard input, in any known format, each entry once, however often it is
   * repeated. Lines that cannot be read are reported and left out. Statements of memory files (CLAUDE.md, AGENTS.md, a
   * folder called memory) become candidates if the record supports them.
   */
  async importFiles(paths: string | readonly string[], options: ImportOptions = {}): Promise<ImportReport> {
    const { imports: target } = this.#open();
    // Loaded on first use: the formats of other programs are a seventh of what a command would load.
    const { importFiles, parseImportOptions } = await import("../import/import-files.js");
    const plan = orThrow(parseImportOptions(knownOptions(options, optionTables.import)));
    if (options.again === true && target.sessions === undefined) {
      throw new Fault("store_unsuitable", "importing again is not available against a remote server", {
        hint: "Run it where the server keeps its store.",
      });
    }
    const { memory_files, others } = await splitMemoryFiles(typeof paths === "string" ? [paths] : paths);
    const report = await importFiles(others, {
      plan,
      options,
      target,
      propose: (memory) => this.#proposeExported(memory),
    });
    return withMemoryFiles(report, memory_files, (text) => this.memories.proposeFile({ text }), options.onFile);
  }

  async #proposeExported({ valid_until, project, ...memory }: ExportedMemory): ReturnType<ProposeMemory> {
    const given = { ...(valid_until === "" ? {} : { valid_until }), ...(project === "" ? {} : { project }) };
    try {
      const answer = await this.memories.propose({ ...memory, ...given, source: "import" } as ProposalInput);
      if (!("dropped" in answer)) return { is_new: true };
      return answer.dropped === "known" ? { is_new: false } : `the memory is not proposed: ${answer.reason}`;
    } catch (error) {
      if (error instanceof RecorderError) return `the memory is not proposed: ${error.message}`;
      throw error;
    }
  }

  /**
   * Keeps importing what other programs write, while they write it, from where it stopped: files, folders with future
   * files in them, or the places of known tools. It continues until it or the recorder is closed.
   */
  async watchFiles(paths: string | readonly string[] = [], options: WatchOptions = {}): Promise<Watch> {
    const { imports, watches } = this.#open();
    return watches.begin(typeof paths === "string" ? [paths] : paths, options, imports);
  }

  /** The totals of all watches; undefined if there is none. */
  watching(): WatchCounts | undefined {
    return this.#parts.watches.counts();
  }

  /**
   * The selected entries as text, in chunks: one line each, in Markdown one section each. It exports the log as it was
   * at the start; the audit entry about it comes later.
   */
  async *exportEntries(options: ExportOptions = {}): AsyncGenerator<string, void, undefined> {
    const { exports, nowMs } = this.#open();
    const query = orThrow(parseExportQuery(knownOptions(options, optionTables.export), nowMs()));
    const deed = { actor: options.actor ?? ACTOR_DEFAULT, id: options.export_id };
    yield* exports.entries(query, deed, options.onUnaudited);
  }

  /**
   * Walks the whole chain and says whether every entry is as it was recorded, and whether the log still contains what
   * its index was made from and what a server sealed last. With a seal, it also says whether the log contains what was
   * sealed: without either, truncation, or a rewrite of all following entries, is not detected.
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    const { against } = knownOptions(options, optionTables.verify);
    return against === undefined ? this.#operations.verify() : orThrow(await this.#open().admin.verify(against));
  }

  /**
   * Compares a page that `hansard share` wrote with the store: that it is as it was written, that every entry has the hash that
   * it says, that its seal holds, and that its text is what this store shows of these entries.
   */
  async verifyPage(html: string): Promise<PageVerification> {
    const { exports, admin, nowMs } = this.#open();
    const { verifyPage } = await import("../export/share/verify-page.js");
    return verifyPage(html, {
      page: (session_id, through) =>
        exports.unaudited(orThrow(parseExportQuery({ format: "html", session_id }, nowMs())), through),
      entry: (position) => this.getEntry(position),
      chain: async (seal) => (seal === undefined ? this.verify() : orThrow(await admin.verify(seal))),
    });
  }

  /**
   * Accepts a truncated or replaced log, for example after an older copy was put back by hand, and audits that. Returns
   * what was expected before; undefined if there was nothing to accept.
   */
  async acceptLog(options: AcceptLogOptions = {}): Promise<Contradiction | undefined> {
    const { actor = ACTOR_DEFAULT } = knownOptions(options, optionTables.acceptLog);
    return this.#open().admin.acceptLog(actor);
  }

  /** Keeps the newest seal next to its key until the recorder is closed: now, at the end, and regularly while recording. */
  async keepSeals(options: SealKeepingOptions = {}): Promise<void> {
    await this.#open().admin.keepSeals(knownOptions(options, optionTables.keepSeals));
  }

  /**
   * Learns in the background until the recorder is closed: proposes what rules find in what is recorded from now on, and counts
   * which memories its turns used. Of all programs on a store one does.
   */
  async learn(options: LearningOptions = {}): Promise<void> {
    this.#open().learn(knownOptions(options, optionTables.learn));
  }

  /**
   * Records the spans or log records of an OTLP request, each as a raw entry and once however often it comes. What they mean is
   * derived in the background, see `assembleTraces`.
   */
  async recordTelemetry(body: TelemetryBody): Promise<TelemetryAnswer> {
    return orThrow(await this.#telemetry("recording traces").take(body));
  }

  /**
   * Derives interactions, tool calls, errors and feedback from recorded traces in the background, until the recorder is
   * closed. Of all programs on a store one does.
   */
  async assembleTraces(options: AssemblingOptions = {}): Promise<void> {
    await this.#telemetry("deriving traces").assemble(knownOptions(options, optionTables.assembleTraces));
  }

  /** Maps all recorded traces again, and adds what an older version did not derive. */
  async remapTraces(options: RemapOptions = {}): Promise<Remapped> {
    return this.#telemetry("mapping traces again").remap(knownOptions(options, optionTables.remapTraces));
  }

  #telemetry(doing: string): NonNullable<RecorderParts["telemetry"]> {
    const { telemetry } = this.#open();
    if (telemetry !== undefined) return telemetry;
    throw new Fault("store_unsuitable", `${doing} is not available against a remote server`, {
      hint: "Run it where the server keeps its store.",
    });
  }

  /** A signed statement of the log's current state, to be kept elsewhere and passed to `verify`. */
  async seal(): Promise<Seal> {
    return this.#open().admin.seal();
  }

  /**
   * Erases the bodies of an entry, a session or a project for good, with everything that belongs to them; the chain
   * stays. With `dry_run` it only reports what would go.
   */
  async forget(options: ForgetOptions): Promise<Forgotten> {
    return this.#operations.forget(options);
  }

  /** Forgets entries older than the rules allow. */
  async retain(options: RetentionOptions): Promise<Retained> {
    return this.#forgetting(orThrow(await this.#open().admin.retain(knownOptions(options, optionTables.retain))));
  }

  /** Finds entries that contain secrets, well-known or registered ones, and forgets them unless it is a `dry_run`. */
  async scrub(options: ScrubOptions = {}): Promise<Scrubbed> {
    return this.#forgetting(await this.#open().admin.scrub(knownOptions(options, optionTables.scrub)));
  }

  async health(): Promise<Health> {
    return this.#open().monitoring.health();
  }

  /** Rebuilds the index from the log. The current one answers until the new one replaces it. */
  async rebuildIndex(options: RebuildIndexOptions = {}): Promise<void> {
    const { onProgress } = knownOptions(options, optionTables.rebuildIndex);
    await rebuildWithProgress(this.#open().calls, onProgress);
  }

  /** Waits for what is being written, then closes the store. */
  close(): Promise<void> {
    this.#closing ??= this.#parts.close();
    return this.#closing;
  }

  async #forgetting<F extends { readonly dry_run: boolean }>(forgotten: F): Promise<F> {
    if (!forgotten.dry_run) await this.#parts.watches.forget();
    return forgotten;
  }

  #open(): RecorderParts {
    if (this.#closing !== undefined) throw closedFault();
    return this.#parts;
  }
}

export interface VerifyOptions {
  /** A seal, or its text. */
  readonly against?: Seal | string | undefined;
}

export interface AcceptLogOptions {
  /** Who accepts it, recorded in the audit entry; `person` by default. */
  readonly actor?: string | undefined;
}

export interface RebuildIndexOptions {
  readonly onProgress?: ((position: number) => void) | undefined;
}

/** Options of the calls that are not operations; an unknown option is rejected with a suggestion. */
const optionTables = {
  tail: Object.keys(tailInput),
  export: [...Object.keys(exportInput), "actor", "onUnaudited"],
  import: optionNames<ImportOptions>({
    format: true,
    timezone: true,
    again: true,
    as_new: true,
    restore: true,
    found: true,
    stdin: true,
    onProgress: true,
    onFile: true,
  }),
  verify: optionNames<VerifyOptions>({ against: true }),
  retain: optionNames<RetentionOptions>({ rules: true, dry_run: true, actor: true }),
  scrub: optionNames<ScrubOptions>({ reason: true, dry_run: true, actor: true }),
  acceptLog: optionNames<AcceptLogOptions>({ actor: true }),
  keepSeals: optionNames<SealKeepingOptions>({ every_ms: true, onTrouble: true }),
  learn: optionNames<LearningOptions>({
    onTrouble: true,
    words: true,
    gather_ms: true,
    model: true,
    daily_tokens: true,
    entries_min: true,
    look_ms: true,
  }),
  assembleTraces: optionNames<AssemblingOptions>({ onTrouble: true }),
  remapTraces: optionNames<RemapOptions>({ onProgress: true }),
  rebuildIndex: optionNames<RebuildIndexOptions>({ onProgress: true }),
};
