// The reading side of a recorder: the index, the reader and verify, in this thread or in one of their own.
import { type Verification, verify } from "../custody/verify.js";
import { createMask } from "../guard/masking/mask.js";
import type { Entry, ErasedEntry } from "../model/entry.js";
import { Fault } from "../model/fault.js";
import type { EntryCounts, EntryIndex, RowFilter, RowKey, SessionRange } from "../ports/entry-index.js";
import type { EntryLog } from "../ports/entry-log.js";
import { fixedIndex, type IndexHolder } from "../ports/index-holder.js";
import type { Mask } from "../ports/mask.js";
import { EntryReader } from "../read/entry-reader.js";
import type { ConsolidationPlan, History } from "../read/history/history.js";
import type { ListQuery } from "../read/list-query.js";
import type { EntryList, InteractionList } from "../read/reader.js";
import type { ReflectionQuery } from "../read/reflection-query.js";
import type { SearchQuery } from "../read/search/search-query.js";
import type { SearchPage } from "../read/search/searcher.js";
import type { HistoryQuery, SessionListQuery, TimelineQuery } from "../read/session-query.js";
import type { SessionList, SessionSummary, Timeline } from "../read/session-reader.js";
import { type IndexState, type RebuildOptions, SteadyReaders } from "../reading/steady.js";
import type { ReflectionReport } from "../reflect/report.js";
import { Thread } from "./calls.js";
import { purgeFile } from "./purging.js";

/** A message to the thread costs more than an entry's share of a commit, so that one is sent for many of them. */
const GATHER_MS = 50;
/** Bodies are read by the thousand and soon dropped. V8 cleans up after them with threads that capture would use. */
const YOUNG_MB = 96;

export interface PositionsQuery {
  readonly filter: RowFilter;
  readonly after?: RowKey;
  readonly limit: number;
}

export interface Reading {
  listInteractions(query: ListQuery): Promise<InteractionList>;
  listEntries(query: ListQuery): Promise<EntryList>;
  getById(id: string): Promise<Entry | ErasedEntry | undefined>;
  getByPosition(position: number): Promise<Entry | ErasedEntry | undefined>;
  count(): Promise<EntryCounts>;
  listSessions(query: SessionListQuery): Promise<SessionList>;
  sessionSummary(session_id: string): Promise<SessionSummary | undefined>;
  /** The summary with nothing masked, for exports that hand the record itself on. */
  recordedSummary(session_id: string): Promise<SessionSummary | undefined>;
  timeline(query: TimelineQuery): Promise<Timeline>;
  sessionPositions(range: SessionRange): Promise<readonly number[]>;
  history(query: HistoryQuery): Promise<History>;
  planConsolidation(wish: { readonly session_id: string; readonly through: number }): Promise<ConsolidationPlan>;
  search(query: SearchQuery): Promise<SearchPage>;
  sessionHistory(wish: { readonly query: SearchQuery; readonly phrase: string }): Promise<string>;
  reflect(query: ReflectionQuery): Promise<ReflectionReport>;
  indexState(): Promise<IndexState>;
  rebuildIndex(): Promise<void>;
  /** Position through which a rebuild has come; undefined while there is none. */
  rebuiltThrough(): Promise<number | undefined>;
  verify(): Promise<Verification>;
  /** Places of entries, newest first; waits for the whole index, since nothing may be passed over. */
  positions(query: PositionsQuery): Promise<readonly RowKey[]>;
  /** Removes what forgotten entries left in the index's files; answers with what is left, in words. */
  purge(): Promise<string | undefined>;
  /** Word that the log has grown, so that the index follows soon. Reads do not depend on it. */
  appended(): void;
  close(): Promise<void>;
}

export class LocalReading implements Reading {
  readonly #log: EntryLog;
  readonly #mask: Mask;
  readonly #entries: EntryReader;
  readonly #readers: SteadyReaders;
  #rebuilding: Promise<void> | undefined;
  #rebuiltThrough: number | undefined;

  constructor(parts: {
    readonly log: EntryLog;
    readonly index: EntryIndex | IndexHolder;
    readonly mask?: Mask;
    readonly rebuild?: Partial<RebuildOptions> | undefined;
  }) {
    const { log, mask = createMask() } = parts;
    this.#log = log;
    this.#mask = mask;
    this.#entries = new EntryReader({ log, mask });
    const holder = "current" in parts.index ? parts.index : fixedIndex(parts.index);
    this.#readers = new SteadyReaders({ log, holder, mask, options: parts.rebuild });
  }

  listInteractions(query: ListQuery): Promise<InteractionList> {
    return this.#readers.read(({ entries }) => entries.listInteractions(query));
  }

  listEntries(query: ListQuery): Promise<EntryList> {
    return this.#readers.read(({ entries }) => entries.listEntries(query));
  }

  getById(id: string): Promise<Entry | ErasedEntry | undefined> {
    return this.#entries.getById(id);
  }

  getByPosition(position: number): Promise<Entry | ErasedEntry | undefined> {
    return this.#entries.getByPosition(position);
  }

  count(): Promise<EntryCounts> {
    return this.#readers.read(({ entries }) => entries.count());
  }

  listSessions(query: SessionListQuery): Promise<SessionList> {
    return this.#readers.read(({ sessions }) => sessions.list(query));
  }

  sessionSummary(session_id: string): Promise<SessionSummary | undefined> {
    return this.#readers.readWhole(({ sessions }) => sessions.summary(session_id));
  }

  recordedSummary(session_id: string): Promise<SessionSummary | undefined> {
    return this.#readers.readWhole(({ sessions }) => sessions.recordedSummary(session_id));
  }

  timeline(query: TimelineQuery): Promise<Timeline> {
    return this.#readers.read(({ sessions }) => sessions.timeline(query));
  }

  sessionPositions(range: SessionRange): Promise<readonly number[]> {
    return this.#readers.readWhole(({ sessions }) => sessions.positions(range));
  }

  history(query: HistoryQuery): Promise<History> {
    return this.#readers.readWhole(({ histories }) => histories.history(query));
  }

  planConsolidation(wish: { readonly session_id: string; readonly through: number }): Promise<ConsolidationPlan> {
    return this.#readers.readWhole(({ histories }) => histories.planConsolidation(wish.session_id, wish.through));
  }

  search(query: SearchQuery): Promise<SearchPage> {
    return this.#readers.read(({ searches }) => searches.search(query));
  }

  async sessionHistory(wish: { readonly query: SearchQuery; readonly phrase: string }): Promise<string> {
    const found = await this.#readers.read(async ({ searches }) => ({ text: await searches.sessionHistory(wish) }));
    return found.partial ? `${found.text}\n(${PARTIAL_NOTE})` : found.text;
  }

  async reflect(query: ReflectionQuery): Promise<ReflectionReport> {
    const report = await this.#readers.read(async ({ reflections }) => {
      // Loaded when it is first needed: with its lists of words it takes longer than a command may take to start.
      const { Reflection } = await import("../reflect/reflection.js");
      const reflection = new Reflection({ mask: (text) => this.#mask.text(text) });
      await reflections.read(query, reflection);
      return reflection.finish();
    });
    return report.partial ? { ...report, markdown: `${report.markdown}\n\n${PARTIAL_NOTE}` } : report;
  }

  indexState(): Promise<IndexState> {
    return this.#readers.state();
  }

  /** Whoever asks while it goes on waits for the same rebuild. */
  rebuildIndex(): Promise<void> {
    this.#rebuilding ??= this.#rebuild();
    return this.#rebuilding;
  }

  async rebuiltThrough(): Promise<number | undefined> {
    return this.#rebuiltThrough;
  }

  async #rebuild(): Promise<void> {
    try {
      await this.#readers.rebuild((position) => {
        this.#rebuiltThrough = position;
      });
    } finally {
      this.#rebuilding = undefined;
      this.#rebuiltThrough = undefined;
    }
  }

  verify(): Promise<Verification> {
    return verify(this.#log);
  }

  positions(query: PositionsQuery): Promise<readonly RowKey[]> {
    return this.#readers.readWhole(async ({ indexer, index }) => {
      await indexer.catchUp();
      return index.list(query);
    });
  }

  async purge(): Promise<string | undefined> {
    await this.positions({ filter: {}, limit: 0 });
    return this.#readers.readWhole(async ({ index }) => index.purge?.());
  }

  isPurgeDue(): Promise<boolean> {
    return this.#readers.isPurgeDue();
  }

  /** How far the log has come, and the index behind it. */
  async progress(): Promise<IndexState & { readonly position: number }> {
    const { position } = await this.#log.head();
    return { position, ...(await this.#readers.state()) };
  }

  indexStep(): Promise<boolean> {
    return this.#readers.step();
  }

  appended(): void {}

  async close(): Promise<void> {
    await this.#readers.close();
    await this.#log.close();
  }
}

export interface ReadThreadOptions {
  readonly log_path: string;
  readonly index_path: string;
  /** Values that the user registered to be masked. */
  readonly mask?: readonly string[] | undefined;
  readonly rebuild?: Partial<RebuildOptions> | undefined;
}

/** What an answer in words says where others say `partial`. */
const PARTIAL_NOTE = "The index is being rebuilt; older entries may be missing.";

/** The same in a thread of its own, started when it is first needed. */
export class ThreadedReading implements Reading {
  readonly #options: ReadThreadOptions;
  #thread: Promise<Thread> | undefined;
  #started: Thread | undefined;
  #telling: NodeJS.Timeout | undefined;

  constructor(options: ReadThreadOptions) {
    this.#options = options;
  }

  listInteractions(query: ListQuery): Promise<InteractionList> {
    return this.#call("listInteractions", query);
  }

  listEntries(query: ListQuery): Promise<EntryList> {
    return this.#call("listEntries", query);
  }

  getById(id: string): Promise<Entry | ErasedEntry | undefined> {
    return this.#call("getById", id);
  }

  getByPosition(position: number): Promise<Entry | ErasedEntry | undefined> {
    return this.#call("getByPosition", position);
  }

  count(): Promise<EntryCounts> {
    return this.#call("count");
  }

  listSessions(query: SessionListQuery): Promise<SessionList> {
    return this.#call("listSessions", query);
  }

  sessionSummary(session_id: string): Promise<SessionSummary | undefined> {
    return this.#call("sessionSummary", session_id);
  }

  recordedSummary(session_id: string): Promise<SessionSummary | undefined> {
    return this.#call("recordedSummary", session_id);
  }

  timeline(query: TimelineQuery): Promise<Timeline> {
    return this.#call("timeline", query);
  }

  sessionPositions(range: SessionRange): Promise<readonly number[]> {
    return this.#call("sessionPositions", range);
  }

  history(query: HistoryQuery): Promise<History> {
    return this.#call("history", query);
  }

  planConsolidation(wish: { readonly session_id: string; readonly through: number }): Promise<ConsolidationPlan> {
    return this.#call("planConsolidation", wish);
  }

  search(query: SearchQuery): Promise<SearchPage> {
    return this.#call("search", query);
  }

  sessionHistory(wish: { readonly query: SearchQuery; readonly phrase: string }): Promise<string> {
    return this.#call("sessionHistory", wish);
  }

  reflect(query: ReflectionQuery): Promise<ReflectionReport> {
    return this.#call("reflect", query);
  }

  indexState(): Promise<IndexState> {
    return this.#call("indexState");
  }

  rebuiltThrough(): Promise<number | undefined> {
    return this.#call("rebuiltThrough");
  }

  rebuildIndex(): Promise<void> {
    return this.#call("rebuildIndex");
  }

  verify(): Promise<Verification> {
    return this.#call("verify");
  }

  positions(query: PositionsQuery): Promise<readonly RowKey[]> {
    return this.#call("positions", query);
  }

  /** In a thread of its own, since the one that answers reads would be held up by it. */
  async purge(): Promise<string | undefined> {
    await this.positions({ filter: {}, limit: 0 });
    return purgeFile({ file: "index", path: this.#options.index_path });
  }

  appended(): void {
    if (this.#started === undefined || this.#telling !== undefined) return;
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      this.#started?.tell("appended", undefined);
    }, GATHER_MS).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#telling);
    const thread = await this.#thread?.catch(() => undefined);
    await thread?.close();
  }

  async #call<T>(method: keyof Reading, argument?: unknown): Promise<T> {
    this.#thread ??= this.#start();
    const thread = await this.#thread;
    try {
      return await thread.call<T>(method, argument);
    } catch (error) {
      // The next call starts another thread; this one's answer is lost, and reads can be asked again.
      if (error instanceof Fault && error.code === "thread_stopped") this.#thread = undefined;
      throw error;
    }
  }

  /** A thread that could not open its files is given up, so that the next call tries again. */
  async #start(): Promise<Thread> {
    const file = new URL("./read-thread.js", import.meta.url);
    const thread = new Thread({ file, options: this.#options, young_mb: YOUNG_MB });
    try {
      await thread.call("open", undefined);
      this.#started = thread;
      return thread;
    } catch (error) {
      this.#thread = undefined;
      await thread.close();
      throw error;
    }
  }
}
