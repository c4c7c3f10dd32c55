// The recorder: everything that can be done with an open store, behind the interface of the library.
import { hash } from "node:crypto";
import { homedir } from "node:os";
import { type AppendResult, notAnInteraction, toAppendResult } from "./capture/append-result.js";
import { Capture, type CapturedItem } from "./capture/capture.js";
import { GroupCommit } from "./capture/group-commit.js";
import { ImportDoor } from "./capture/import-door.js";
import type { Surroundings } from "./capture/pack.js";
import { type AuditNote, audited, recordAudit } from "./custody/audit.js";
import type { ForgetOptions } from "./custody/forget-wish.js";
import { Forgetting } from "./custody/forgetting.js";
import type { Forgotten, Retained, RetentionOptions, Scrubbed, ScrubOptions } from "./custody/forgotten.js";
import { defaultSealKeyPath } from "./custody/seal-key.js";
import { Sealing } from "./custody/sealing.js";
import type { Verification } from "./custody/verify.js";
import { MemoryKeys } from "./engines/memory/keys.js";
import { exportEntries } from "./export/export-entries.js";
import { type ExportOptions, parseExportQuery, targetOf } from "./export/export-query.js";
import { Keys, person } from "./guard/keys.js";
import { createMask } from "./guard/masking/mask.js";
import { type ImportOptions, type ImportReport, importFiles, parseImportOptions } from "./import/import-files.js";
import { toEntry } from "./model/body.js";
import type {
  CaptureKind,
  CompletionInput,
  Entry,
  EntryInput,
  ErasedEntry,
  ErasedInteraction,
  Interaction,
  InteractionInput,
} from "./model/entry.js";
import { isPositionText, parseSessionId } from "./model/ids.js";
import { orThrow, RecorderError, Rejection, reject } from "./model/rejection.js";
import type { Seal } from "./model/seal.js";
import type { EntryCounts, SessionRange } from "./ports/entry-index.js";
import type { EntryLog } from "./ports/entry-log.js";
import type { KeyStore } from "./ports/key-store.js";
import type { Mask } from "./ports/mask.js";
import { consolidatedFurther, throughElsewhere, throughInvalid } from "./read/history/consolidation-refusals.js";
import {
  type EntryListOptions,
  type InteractionListOptions,
  parseEntryQuery,
  parseInteractionQuery,
} from "./read/list-query.js";
import type { EntryList, InteractionList } from "./read/reader.js";
import { parseReflectionQuery, type ReflectionOptions } from "./read/reflection-query.js";
import {
  parseSearchQuery,
  parseSessionHistory,
  type SearchOptions,
  type SessionHistoryOptions,
} from "./read/search/search-query.js";
import type { SearchPage } from "./read/search/searcher.js";
import {
  parseHistoryQuery,
  parseSessionListQuery,
  parseTimelineQuery,
  type SessionListOptions,
} from "./read/session-query.js";
import type { SessionList } from "./read/session-reader.js";
import { rebuildWithProgress } from "./reading/rebuild-progress.js";
import type { ReflectionReport } from "./reflect/report.js";
import { Session } from "./session.js";
import { TailHub } from "./tail/hub.js";
import { parseTailQuery, type TailOptions } from "./tail/read-tail.js";
import { LocalTailSource, type TailSource } from "./tail/source.js";
import type { Tail } from "./tail/tail.js";
import { closed } from "./threads/calls.js";
import type { Reading } from "./threads/reading.js";
import { type Health, Vitals } from "./vitals.js";

export type { AppendResult } from "./capture/append-result.js";
export type { Tail } from "./tail/tail.js";
export type { Health } from "./vitals.js";

/** An open store. Refused input rejects the promise with a `RecorderError`; a failing disk or store with a `Fault`. */
export class Recorder {
  /** The keys that servers on this store ask for. */
  readonly keys: Keys;
  /** How the store is, for whoever watches over a server. */
  readonly vitals: Vitals;
  readonly #log: EntryLog;
  readonly #reading: Reading;
  readonly #commit: GroupCommit;
  readonly #capture: Capture;
  readonly #surroundings: Surroundings;
  readonly #mask: Mask;
  readonly #isRedacting: boolean;
  readonly #sealing: Sealing;
  readonly #tails: TailHub;
  readonly #forgetting: Forgetting;
  readonly #growth: { close(): void } | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: {
    readonly log: EntryLog;
    readonly reading: Reading;
    readonly surroundings: Surroundings;
    readonly keyStore?: KeyStore;
    readonly sealing?: Sealing;
    /** Hides secrets in what is listed; by default the well-known ones. */
    readonly mask?: Mask;
    /** Hides them before they are stored. */
    readonly redact?: Mask;
    readonly tailSource?: TailSource;
    /** Word from other servers that the log has grown, where there are any. */
    readonly growth?: { listen(onGrown: () => void): void; close(): void };
  }) {
    this.#log = parts.log;
    this.#reading = parts.reading;
    this.#surroundings = parts.surroundings;
    this.#mask = parts.mask ?? createMask();
    this.#isRedacting = parts.redact !== undefined;
    this.#sealing =
      parts.sealing ?? new Sealing({ key_path: defaultSealKeyPath({ home: homedir() }), data: "memory:" });
    this.#commit = new GroupCommit(parts.log);
    this.#capture = new Capture({ ...parts, commit: this.#commit });
    this.#tails = new TailHub({
      source: parts.tailSource ?? new LocalTailSource(parts.log, this.#mask),
      head: async () => (await parts.log.head()).position,
    });
    this.keys = new Keys({
      store: parts.keyStore ?? new MemoryKeys(),
      nowMs: parts.surroundings.nowMs,
      note: (note) => this.#note(note),
      mask: this.#mask,
    });
    this.vitals = new Vitals({ ...parts, commit: this.#commit, tails: () => this.#tails.size });
    this.#forgetting = new Forgetting({
      ...parts,
      index: parts.reading,
      commit: this.#commit,
      appended: () => this.#appended(),
    });
    this.#growth = parts.growth;
    parts.growth?.listen(() => this.#appended());
  }

  /** Records one round-trip with a model, and answers with the whole interaction once it is on disk. */
  async recordInteraction(input: InteractionInput): Promise<Interaction> {
    const { kind } = (input ?? {}) as { readonly kind?: unknown };
    if (kind !== undefined && kind !== null && kind !== "interaction") throw new RecorderError(notAnInteraction());
    const item = await this.#captureOne(input, "interaction");
    if (item.status === "recorded" && item.stored !== undefined) return toEntry(item.stored) as Interaction;
    return (await this.#reading.getById(item.id)) as Interaction;
  }

  /** Adds the response to an interaction that was recorded before it was there. */
  async completeInteraction(id: string, completion: CompletionInput): Promise<Interaction> {
    const response = await this.#captureOne({ ...completion, kind: "response", interaction_id: id }, "response");
    const interaction = (await this.#reading.getById(id)) as Interaction | undefined;
    const message = `entry ${response.id} has no interaction`;
    return orThrow(interaction ?? reject({ code: "interaction_not_found", message }));
  }

  /** Interactions, newest first, without their responses and context packs. */
  async listInteractions(options: InteractionListOptions = {}): Promise<InteractionList> {
    this.#assertOpen();
    return this.#reading.listInteractions(orThrow(parseInteractionQuery(options, this.#surroundings.nowMs())));
  }

  /** One interaction, whole, or what is left of it once it was erased; undefined where there is none. */
  async getInteraction(id: string): Promise<Interaction | ErasedInteraction | undefined> {
    const entry = await this.getEntry(id);
    return entry?.kind === "interaction" ? (entry as Interaction | ErasedInteraction) : undefined;
  }

  /** Appends one entry or a batch, all or none. */
  async append(input: EntryInput | readonly EntryInput[]): Promise<AppendResult> {
    if (!Array.isArray(input)) return toAppendResult([await this.#captureOne(input)]);
    return toAppendResult(orThrow(await this.#captureAll(input)));
  }

  /** Entries of all kinds, newest first. */
  async listEntries(options: EntryListOptions = {}): Promise<EntryList> {
    this.#assertOpen();
    return this.#reading.listEntries(orThrow(parseEntryQuery(options, this.#surroundings.nowMs())));
  }

  /** One entry by its id or its position; undefined where there is none. */
  async getEntry(idOrPosition: string | number): Promise<Entry | ErasedEntry | undefined> {
    this.#assertOpen();
    const text = String(idOrPosition);
    if (!isPositionText(text)) return this.#reading.getById(text);
    const position = Number(text);
    return Number.isSafeInteger(position) ? this.#reading.getByPosition(position) : undefined;
  }

  /** One session, by its id, which is kept exactly as given. It comes into being with its first entry. */
  session(id: string): Session {
    const session_id = orThrow(parseSessionId(id));
    return new Session(
      {
        append: (input) => this.append(input),
        summary: async (of) => this.#open().sessionSummary(of),
        timeline: async (of, options) => this.#open().timeline(orThrow(parseTimelineQuery(of, options))),
        history: async (of, options) => this.#open().history(orThrow(parseHistoryQuery(of, options))),
        consolidate: (of, through, summary) => this.#consolidate(of, through, summary),
      },
      session_id,
    );
  }

  /** Sessions, the one with the newest entry first. */
  async listSessions(options: SessionListOptions = {}): Promise<SessionList> {
    return this.#open().listSessions(orThrow(parseSessionListQuery(options)));
  }

  /**
   * Entries that hold all terms of the query, newest first: `timeout "connection reset" -retry kind:error since:7d`. What
   * was acknowledged before is found. Filters can be typed or given; both must hold.
   */
  async search(query: string, filters: SearchOptions = {}): Promise<SearchPage> {
    return this.#open().search(orThrow(parseSearchQuery(query, filters, this.#surroundings.nowMs())));
  }

  /** What was recorded about a phrase as text for an agent: a line each, newest first. */
  async sessionHistory(query: string, role?: string, limit?: number): Promise<string>;
  async sessionHistory(options: SessionHistoryOptions): Promise<string>;
  async sessionHistory(given: string | SessionHistoryOptions, role?: string, limit?: number): Promise<string> {
    const options = typeof given === "string" ? { query: given, role, limit } : given;
    const query = orThrow(parseSessionHistory(options, this.#surroundings.nowMs()));
    return this.#open().sessionHistory({ query, phrase: options.query ?? "" });
  }

  /**
   * Follows the log: entries as they are appended, by whichever process, from now on or after a position. Each comes
   * once and in order; an interaction comes without the response that completes it later, which is an entry of its own.
   */
  tail(options: TailOptions = {}): Tail {
    this.#assertOpen();
    return this.#tails.open(orThrow(parseTailQuery(options)));
  }

  /**
   * Reads files, folders and `-` for standard input into the log: whatever format they have, each entry once, however
   * often it is done. Lines that cannot be taken are reported and left out.
   */
  async importFiles(paths: string | readonly string[], options: ImportOptions = {}): Promise<ImportReport> {
    this.#assertOpen();
    const plan = orThrow(parseImportOptions(options));
    const parts = { log: this.#log, capture: this.#capture, commit: this.#commit };
    const target = new ImportDoor({
      ...parts,
      appended: () => this.#appended(),
      is_redacting: this.#isRedacting,
    });
    return importFiles(typeof paths === "string" ? [paths] : paths, { plan, options, target });
  }

  /**
   * The chosen entries as text, piece by piece: a line each, in Markdown a section each. What the log held at the beginning
   * is exported; the audit entry about it comes after that.
   */
  async *exportEntries(options: ExportOptions = {}): AsyncGenerator<string, void, undefined> {
    const reading = this.#open();
    const query = orThrow(parseExportQuery(options, this.#surroundings.nowMs()));
    const parts = {
      log: this.#log,
      sessionPositions: (range: SessionRange) => reading.sessionPositions(range),
      sessionSummary: (of: string) => reading.recordedSummary(of),
      mask: this.#mask,
    };
    const actor = options.actor ?? person.actor;
    const note = { action: "export", actor, target: targetOf(query), id: options.export_id } as const;
    yield* audited(exportEntries(parts, query), () => this.#note(note));
  }

  /** Looks back at the newest entries of conversations: what went wrong, what recurs, and how that has changed. */
  async reflect(options: ReflectionOptions = {}): Promise<ReflectionReport> {
    return this.#open().reflect(orThrow(parseReflectionQuery(options, this.#surroundings.nowMs())));
  }

  /** How much there is, by kind and project. */
  async count(): Promise<EntryCounts> {
    this.#assertOpen();
    return this.#reading.count();
  }

  /**
   * Walks the whole chain and says whether every entry is as it was recorded. Against a seal, it also says whether the
   * log still contains what was sealed: only so are entries seen that were cut off at its end.
   */
  async verify(options: { readonly against?: Seal | string | undefined } = {}): Promise<Verification> {
    const reading = this.#open();
    if (options.against === undefined) return reading.verify();
    return orThrow(await this.#sealing.against(options.against, this.#log, () => reading.verify()));
  }

  /** A signed statement of what the log holds now, to be kept elsewhere and given to `verify`. */
  async seal(): Promise<Seal> {
    this.#assertOpen();
    return this.#sealing.seal(this.#log, this.#surroundings.nowMs());
  }

  /**
   * Removes the bodies of an entry, a session or a project for good, with all that belongs to them; the chain stays. With
   * `dry_run` it only says what would go.
   */
  async forget(options: ForgetOptions): Promise<Forgotten> {
    this.#assertOpen();
    return orThrow(await this.#forgetting.forget(options));
  }

  /** Forgets what is older than the rules allow. */
  async retain(options: RetentionOptions): Promise<Retained> {
    this.#assertOpen();
    return orThrow(await this.#forgetting.retain(options));
  }

  /** Finds entries that hold secrets, well-known or registered ones, and forgets them unless it is a `dry_run`. */
  async scrub(options: ScrubOptions = {}): Promise<Scrubbed> {
    this.#assertOpen();
    return this.#forgetting.scrub(options, this.#mask);
  }

  async health(): Promise<Health> {
    this.#assertOpen();
    return this.vitals.health();
  }

  /** Builds the index anew from the log, beside the present one, which answers until the new one takes its place. */
  async rebuildIndex(options: { readonly onProgress?: (position: number) => void } = {}): Promise<void> {
    this.#assertOpen();
    await rebuildWithProgress(this.#reading, options.onProgress);
  }

  /** Waits for what is being written, then closes the store. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#growth?.close();
    await this.#tails.close();
    await this.#commit.drained();
    await this.#reading.close();
    await this.keys.close();
    await this.#log.close();
  }

  async #captureOne(input: unknown, kind?: CaptureKind): Promise<CapturedItem> {
    this.#assertOpen();
    const item = orThrow(await this.#capture.appendOne(input, kind));
    this.#appended();
    return item;
  }

  async #captureAll(inputs: readonly unknown[], kind?: CaptureKind): Promise<readonly CapturedItem[] | Rejection> {
    this.#assertOpen();
    if (inputs.length === 0) {
      return reject({ code: "entries_missing", message: "no entry was given", hint: "Give one entry or more." });
    }
    const items = await this.#capture.append(inputs, kind);
    this.#appended();
    return items;
  }

  /** Writes down what has to be accountable. */
  async #note(note: AuditNote): Promise<void> {
    this.#assertOpen();
    await recordAudit({ commit: this.#commit, surroundings: this.#surroundings }, note);
    this.#appended();
  }

  #appended(): void {
    this.#reading.appended();
    this.#tails.appended();
  }

  async #consolidate(session_id: string, through: number, summary?: string): Promise<{ readonly through: number }> {
    if (!Number.isSafeInteger(through) || through < 1) throw new RecorderError(throughInvalid());
    const plan = await this.#open().planConsolidation({ session_id, through });
    if (plan.outcome === "not_in_session") throw new RecorderError(throughElsewhere(through));
    if (plan.outcome === "backwards") throw new RecorderError(consolidatedFurther(plan.present));
    if (plan.outcome === "unmoved") return { through: plan.present };
    // The same place is consolidated once, however many ask for it at the same time.
    const id = `consolidated:${hash("sha256", session_id, "hex").slice(0, 32)}:${plan.through}`;
    const result = await this.#captureAll([{ kind: "consolidation", id, session_id, through: plan.through, summary }]);
    if (result instanceof Rejection && result.code !== "id_conflict") throw new RecorderError(result.whole());
    return { through: plan.through };
  }

  #open(): Reading {
    this.#assertOpen();
    return this.#reading;
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw closed();
  }
}
