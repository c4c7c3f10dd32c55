// Loading a session: the place that the address names first, then what follows, then what came before, then what comes.
import { useEffect, useMemo, useRef, useState } from "react";
import { isPartial, PARTIAL_MS, PASSING_MS } from "../answer.js";
import {
  Away,
  connection,
  getSession,
  isPassing,
  listSessions,
  Refused,
  type Row,
  type Session,
  sessionEntries,
} from "../api.js";
import { useStore } from "../store.js";
import { follow, pause } from "../tail.js";
import { type Transcript, toTranscript } from "./lines.js";

export interface Loaded {
  readonly session: Session | undefined;
  readonly transcript: Transcript;
  /** How many there are so far. */
  readonly entries: number;
  /** Whether everything there is has come. */
  readonly isWhole: boolean;
  readonly error: Error | undefined;
  again(): void;
}

/** The first answer is small, so that there is something to read at once. */
const FIRST = 60;
const PAGE = 500;
/** How much is shown before the place that was asked for. */
const LEAD = 20;
/** Laying a session out takes longer the longer it is, so that it is done more rarely then. */
const PUBLISH_MS = 200;
const ENTRIES_PER_MS = 50;
/** How often it is asked whether the session is still there. */
const SUMMARY_MS = 5_000;

export function useSession(id: string, position: number | undefined): Loaded {
  const [session, setSession] = useState<Session>();
  const [subagents, setSubagents] = useState<readonly Session[]>([]);
  const [entries, setEntries] = useState<readonly Row[]>([]);
  const [isWhole, setWhole] = useState(false);
  const [error, setError] = useState<Error>();
  const [missed, setMissed] = useState<Error>();
  const [round, setRound] = useState(0);
  const start = useRef(position);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another round is asked for by its number.
  useEffect(() => {
    const stop = new AbortController();
    setError(undefined);
    const failing =
      (tell: (reason: Error) => void) =>
      (reason: Error): void => {
        if (stop.signal.aborted) return;
        if (reason instanceof Refused && reason.code === "session_not_found") setEntries([]);
        tell(reason);
      };
    // Asked for again and again: what failed once is forgotten with the next answer.
    const known = (summary: Session): void => {
      setSession(summary);
      setMissed(undefined);
    };
    const look = (): void => void getSession(id, stop.signal).then(known, failing(setMissed));
    look();
    const timer = setInterval(look, SUMMARY_MS);
    const load = new Loading({ id, signal: stop.signal, show: setEntries, whole: () => setWhole(true) });
    load.run(start.current).catch(failing(setError));
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, [id, round]);

  const isOpen = useStore(connection) === "open";
  // What is whole stays where it is, and the tail goes on by itself; what the server's going cut off is asked for anew.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only its return is a reason to ask again, a failure is none.
  useEffect(() => {
    if (!isOpen || !(error instanceof Away)) return;
    if (isWhole) setError(undefined);
    else setRound((before) => before + 1);
  }, [isOpen]);

  useEffect(() => {
    if (!isPassing(error)) return;
    const timer = setTimeout(() => setRound((before) => before + 1), PASSING_MS);
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
    error: error ?? missed,
    again: () => setRound((before) => before + 1),
  };
}

/** Sessions say whose part they are; those of the same project are looked through. */
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
    while (!(await this.#read(position))) await pause(PARTIAL_MS, this.#signal);
    this.#publish(true);
    this.#options.whole();
    await follow({
      after: this.#entries.at(-1)?.position ?? 0,
      filters: { session_id: this.#id },
      signal: this.#signal,
      heard: (rows) => {
        const last = this.#entries.at(-1)?.position ?? 0;
        this.#add(rows.filter((row) => row.position > last).map(shortened), "asc");
        this.#publish(false);
      },
    });
  }

  /** Whether all of it was there; while the index is built some is not, and what came is shown meanwhile. */
  async #read(position: number | undefined): Promise<boolean> {
    this.#entries = [];
    const from = position === undefined ? 0 : Math.max(0, position - LEAD);
    if (!(await this.#pages({ order: "asc", after: from, limit: FIRST }))) return false;
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

  /** At once where it is due, else as soon as the last time was long enough ago. */
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

/** What comes live is the entry as it was appended; here it becomes the row that lists show. */
function shortened(entry: Row): Row {
  if (entry.kind !== "interaction" && entry.kind !== "response") return entry;
  const { response = "", context_pack: _, ...rest } = entry as Row & { response?: string; context_pack?: unknown };
  return { ...rest, response_chars: response.length, response_excerpt: response.slice(0, 2_000) } as Row;
}
