// The reading side of a recorder: the index, the reader and verify, in this thread or in one of their own.
import { type Verification, verify } from "../custody/verify.js";
import { Indexer } from "../indexing/indexer.js";
import type { Entry, ErasedEntry } from "../model/entry.js";
import { Fault } from "../model/fault.js";
import type { EntryCounts, EntryIndex, SessionRange } from "../ports/entry-index.js";
import type { EntryLog } from "../ports/entry-log.js";
import { type ConsolidationPlan, type History, HistoryReader } from "../read/history/history.js";
import type { ListQuery } from "../read/list-query.js";
import { type EntryList, type InteractionList, Reader } from "../read/reader.js";
import type { HistoryQuery, SessionListQuery, TimelineQuery } from "../read/session-query.js";
import { type SessionList, SessionReader, type SessionSummary, type Timeline } from "../read/session-reader.js";
import { Thread } from "./calls.js";

export interface Reading {
  listInteractions(query: ListQuery): Promise<InteractionList>;
  listEntries(query: ListQuery): Promise<EntryList>;
  getById(id: string): Promise<Entry | ErasedEntry | undefined>;
  getByPosition(position: number): Promise<Entry | ErasedEntry | undefined>;
  count(): Promise<EntryCounts>;
  listSessions(query: SessionListQuery): Promise<SessionList>;
  sessionSummary(session_id: string): Promise<SessionSummary | undefined>;
  timeline(query: TimelineQuery): Promise<Timeline>;
  sessionPositions(range: SessionRange): Promise<readonly number[]>;
  history(query: HistoryQuery): Promise<History>;
  planConsolidation(wish: { readonly session_id: string; readonly through: number }): Promise<ConsolidationPlan>;
  indexedThrough(): Promise<number>;
  rebuildIndex(): Promise<void>;
  verify(): Promise<Verification>;
  /** Word that the log has grown, so that the index follows soon. Reads do not depend on it. */
  appended(): void;
  close(): Promise<void>;
}

export class LocalReading implements Reading {
  readonly #log: EntryLog;
  readonly #index: EntryIndex;
  readonly #indexer: Indexer;
  readonly #reader: Reader;
  readonly #sessions: SessionReader;
  readonly #histories: HistoryReader;

  constructor(parts: { readonly log: EntryLog; readonly index: EntryIndex }) {
    this.#log = parts.log;
    this.#index = parts.index;
    this.#indexer = new Indexer(parts);
    const readingParts = { ...parts, catchUp: () => this.#indexer.catchUp() };
    this.#reader = new Reader(readingParts);
    this.#sessions = new SessionReader(readingParts);
    this.#histories = new HistoryReader(readingParts);
  }

  listInteractions(query: ListQuery): Promise<InteractionList> {
    return this.#reader.listInteractions(query);
  }

  listEntries(query: ListQuery): Promise<EntryList> {
    return this.#reader.listEntries(query);
  }

  getById(id: string): Promise<Entry | ErasedEntry | undefined> {
    return this.#reader.getById(id);
  }

  getByPosition(position: number): Promise<Entry | ErasedEntry | undefined> {
    return this.#reader.getByPosition(position);
  }

  count(): Promise<EntryCounts> {
    return this.#reader.count();
  }

  listSessions(query: SessionListQuery): Promise<SessionList> {
    return this.#sessions.list(query);
  }

  sessionSummary(session_id: string): Promise<SessionSummary | undefined> {
    return this.#sessions.summary(session_id);
  }

  timeline(query: TimelineQuery): Promise<Timeline> {
    return this.#sessions.timeline(query);
  }

  sessionPositions(range: SessionRange): Promise<readonly number[]> {
    return this.#sessions.positions(range);
  }

  history(query: HistoryQuery): Promise<History> {
    return this.#histories.history(query);
  }

  planConsolidation(wish: { readonly session_id: string; readonly through: number }): Promise<ConsolidationPlan> {
    return this.#histories.planConsolidation(wish.session_id, wish.through);
  }

  indexedThrough(): Promise<number> {
    return this.#index.checkpoint();
  }

  async rebuildIndex(): Promise<void> {
    await this.#index.reset();
    await this.#indexer.catchUp();
  }

  verify(): Promise<Verification> {
    return verify(this.#log);
  }

  indexStep(): Promise<boolean> {
    return this.#indexer.step();
  }

  appended(): void {}

  async close(): Promise<void> {
    await this.#index.close();
    await this.#log.close();
  }
}

/** The same in a thread of its own, started when it is first needed. */
export class ThreadedReading implements Reading {
  readonly #options: { readonly log_path: string; readonly index_path: string };
  #thread: Promise<Thread> | undefined;
  #started: Thread | undefined;

  constructor(options: { readonly log_path: string; readonly index_path: string }) {
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

  indexedThrough(): Promise<number> {
    return this.#call("indexedThrough");
  }

  rebuildIndex(): Promise<void> {
    return this.#call("rebuildIndex");
  }

  verify(): Promise<Verification> {
    return this.#call("verify");
  }

  appended(): void {
    this.#started?.tell("appended", undefined);
  }

  async close(): Promise<void> {
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
    const thread = new Thread({ file: new URL("./read-thread.js", import.meta.url), options: this.#options });
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
