// Loads a session: first around the linked position, then what follows, then what precedes, then live entries.
import { useEffect, useMemo, useRef, useState } from "react";
import {
  ApiError,
  connection,
  getSession,
  isTransient,
  listSessions,
  NetworkError,
  type Row,
  type Session,
  sessionEntries,
} from "../api.js";
import { isPartial, PARTIAL_MS, RETRY_MS } from "../requests.js";
import { useStore } from "../store.js";
import { sleep, tailLog } from "../tail-log.js";
import { type Transcript, toTranscript } from "./lines.js";

export interface Loaded {
  readonly session: Session | undefined;
  readonly transcript: Transcript;
  /** Number of entries loaded so far. */
  readonly entries: number;
  /** Whether every recorded entry is loaded. */
  readonly isWhole: boolean;
  readonly error: Error | undefined;
  reload(): void;
}

/** The first page is small, so something is on screen at once. */
const FIRST_PAGE = 60;
const PAGE = 500;
/** How many entries to load before the linked position. */
const LEADING_ENTRIES = 20;
/** Layout time grows with the session's length, so long sessions are laid out less often. */
const PUBLISH_MS = 200;
const ENTRIES_PER_MS = 50;
/** How often to check that the session still exists. */
const SUMMARY_MS = 5_000;

export function useSession(id: string, position: number | undefined): Loaded {
  const [session, setSession] = useState<Session>();
  const [subagents, setSubagents] = useState<readonly Session[]>([]);
  const [entries, setEntries] = useState<readonly Row[]>([]);
  const [isWhole, setWhole] = useState(false);
  const [error, setError] = useState<Error>();
  const [summaryError, setSummaryError] = useState<Error>();
  const [round, setRound] = useState(0);
  const start = useRef(position);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round number asks to load again.
  useEffect(() => {
    const stop = new AbortController();
    setError(undefined);
    const failing =
      (tell: (reason: Error) => void) =>
      (reason: Error): void => {
        if (stop.signal.aborted) return;
        if (reason instanceof ApiError && reason.code === "session_not_found") setEntries([]);
        tell(reason);
      };
    // The summary is polled, so the next success clears an earlier failure.
    const summaryLoaded = (summary: Session): void => {
      setSession(summary);
      setSummaryError(undefined);
    };
    const loadSummary = (): void => void getSession(id, stop.signal).then(summaryLoaded, failing(setSummaryError));
    loadSummary();
    const timer = setInterval(loadSummary, SUMMARY_MS);
    const load = new Loading({ id, signal: stop.signal, show: setEntries, whole: () => setWhole(true) });
    load.run(start.current).catch(failing(setError));
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [id, round]);

  const isOpen = useStore(connection) === "open";
  // A complete session stays on screen and its tail reconnects by itself. One that was cut off while loading is
  // reloaded.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the connection returns, not on a failure.
  useEffect(() => {
    if (!isOpen || !(error instanceof NetworkError)) return;
    if (isWhole) setError(undefined);
    else setRound((before) => before + 1);
  }, [isOpen]);

  useEffect(() => {
    if (!isTransient(error)) return;
    const timer = setTimeout(() => setRound((before) => before + 1), RETRY_MS);
    return () => clearTimeout(timer);
  }, [error]);

  const project = session?.projects[0];
  useEffect(() => {
    if (project === undefined) return;
    const stop = new AbortController();
    findSubagents(id, project, stop.signal).then(setSubagents, () => undefined);
    return () => stop.abort();
  }, [id, project]);

  const before = useRef<Transcript>(undefined);
  const transcript = useMemo(() => toTranscript(entries, subagents, before.current?.lines), [entries, subagents]);
  before.current = transcript;
  return {
    session,
    transcript,
    entries: entries.length,
    isWhole,
    error: error ?? summaryError,
    reload: () => setRound((before) => before + 1),
  };
}

/** A session names its parent, so its children are found among the sessions of the same project. */
async function findSubagents(id: string, project: string, signal: AbortSignal): Promise<readonly Session[]> {
  const { sessions } = await listSessions({ project, limit: 500 }, signal);
  return sessions.filter(({ parent }) => parent === id);
}

interface LoadingOptions {
  readonly id: string;
  readonly signal: AbortSignal;
  show(entries: readonly Row[]): void;
  whole(): void;
}

class Loading {
  readonly #id: string;
  readonly #signal: AbortSignal;
  readonly #options: LoadingOptions;
  #entries: Row[] = [];
  #shownMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: LoadingOptions) {
    this.#id = options.id;
    this.#signal = options.signal;
    this.#options = options;
  }

  async run(position: number | undefined): Promise<void> {
    while (!(await this.#read(position))) await sleep(PARTIAL_MS, this.#signal);
    this.#publish(true);
    this.#options.whole();
    await tailLog({
      after: this.#entries.at(-1)?.position ?? 0,
      filters: { session_id: this.#id },
      signal: this.#signal,
      onEntries: (rows) => {
        const last = this.#entries.at(-1)?.position ?? 0;
        this.#add(rows.filter((row) => row.position > last).map(toListRow), "asc");
        this.#publish(false);
      },
    });
  }

  /**
   * Returns whether everything was there. While the index is being built, entries are missing; those that came are
   * shown.
   */
  async #read(position: number | undefined): Promise<boolean> {
    this.#entries = [];
    const from = position === undefined ? 0 : Math.max(0, position - LEADING_ENTRIES);
    if (!(await this.#pages({ order: "asc", after: from, limit: FIRST_PAGE }))) return false;
    return from === 0 || this.#pages({ order: "desc", after: from + 1, limit: PAGE });
  }

  async #pages(first: {
    readonly order: "asc" | "desc";
    readonly after: number;
    readonly limit: number;
  }): Promise<boolean> {
    const { order, after } = first;
    let cursor: string | null = null;
    let limit = first.limit;
    do {
      const query = cursor === null ? { after: after === 0 ? undefined : after } : { cursor };
      const page: Awaited<ReturnType<typeof sessionEntries>> = await sessionEntries(
        this.#id,
        { order, limit, excerpts: 1, ...query },
        this.#signal,
      );
      this.#add(page.entries, order);
      this.#publish(cursor === null);
      if (isPartial(page)) return false;
      cursor = page.next_cursor;
      limit = PAGE;
    } while (cursor !== null);
    return true;
  }

  #add(rows: readonly Row[], order: "asc" | "desc"): void {
    if (rows.length === 0) return;
    this.#entries = order === "asc" ? [...this.#entries, ...rows] : [...rows.toReversed(), ...this.#entries];
  }

  /** Publishes at once if due, otherwise when the interval since the last time has passed. */
  #publish(isDue: boolean): void {
    if (this.#signal.aborted) return;
    const waitMs = Math.max(PUBLISH_MS, this.#entries.length / ENTRIES_PER_MS);
    const leftMs = isDue ? 0 : this.#shownMs + waitMs - performance.now();
    if (leftMs > 0) {
      this.#timer ??= setTimeout(() => this.#publish(true), leftMs);
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#options.show(this.#entries);
    this.#shownMs = performance.now();
  }
}

/** The tail sends whole entries; this makes one the row that lists return. */
function toListRow(entry: Row): Row {
  if (entry.kind !== "interaction" && entry.kind !== "response") return entry;
  const { response = "", context_pack: _, ...rest } = entry as Row & { response?: string; context_pack?: unknown };
  return { ...rest, response_chars: response.length, response_excerpt: response.slice(0, 2_000) } as Row;
}
