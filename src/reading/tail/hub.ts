// The hub of all tails of one recorder: it notices growth of the log, reads new entries once for all tails that wait at
// its end, and caches the newest. Nothing is pushed: a tail pulls from its own position, so a slow one costs no memory
// and delays no other tail; what it missed is still in the log. Redactions are applied to all caches before anything is handed
// out.

import type { EntryLog, StoredBody } from "../../log/port.js";
import { namedIn, parseBodyText } from "../../model/body.js";
import { Fault } from "../../model/fault.js";
import { matches, type TailRange, type TailRead, type TailRow, type TailSource } from "./read-tail.js";
import { forgetAnswer, Tail, type TailWindow } from "./tail.js";
import type { TailFilter, TailQuery } from "./tail-query.js";

export interface TailHubParts {
  readonly source: TailSource;
  /** Tells its head and what was erased, by whichever process. */
  readonly log: RedactedLog;
}

/** Poll interval for entries of other processes, only while a tail waits. */
const POLL_MS = 100;
/** Under load, entries are gathered this long, so a hundred listeners are not woken for each. */
const GATHER_MS = 40;
/** Size of the cache of the log's end. */
const KEPT_BYTES_MAX = 512 * 1024;
/** A round sooner than this after the previous one counts as a stream. */
const STREAM_MS = 250;
/** In a stream, wake-ups are spread over about this many pauses of a millisecond. */
const ROUND_PAUSES = 100;

interface Waiting {
  readonly wake: () => void;
  readonly fail: (reason: unknown) => void;
}

interface Kept extends TailRead {
  readonly after: number;
  readonly bytes: number;
}

export class TailHub implements TailWindow {
  readonly #parts: TailHubParts;
  readonly #tails = new Set<Tail>();
  /** Tails that wait for more, and how to wake each. */
  readonly #waiting = new Map<Tail, Waiting>();
  readonly #redactions: RedactionWatcher;
  #kept: Kept[] = [];
  #keptBytes = 0;
  /** Position through which the log was read for all tails. */
  #through = 0;
  #hasGrown = false;
  #isPumping = false;
  #pumpAgainAtMs = 0;
  #poll: NodeJS.Timeout | undefined;

  constructor(parts: TailHubParts) {
    this.#parts = parts;
    this.#redactions = new RedactionWatcher(parts.log, {
      drop: (erased) => {
        this.#kept = this.#kept.map((kept) => without(kept, erased));
        for (const tail of this.#tails) tail.drop(erased);
      },
      dropAll: () => {
        this.#forget();
        for (const tail of this.#tails) tail.dropAll();
      },
    });
  }

  open(query: TailQuery): Tail {
    const start = this.#startPosition().then((position) => {
      this.#skipTo(position);
      return query.after ?? position;
    });
    // Reading from the tail reports the failure; no one may be reading yet.
    start.catch(() => undefined);
    const tail = new Tail({ start, filter: query.filter, window: this });
    this.#tails.add(tail);
    return tail;
  }

  /** Number of tails. */
  get size(): number {
    return this.#tails.size;
  }

  /** Word that the log has grown, and whether something may have been erased by it. */
  grown({ may_erase }: { readonly may_erase: boolean } = { may_erase: true }): void {
    this.#hasGrown = true;
    if (may_erase) this.#redactions.grown();
    this.#pumpSoon();
  }

  /** Ends every tail. */
  async close(): Promise<void> {
    for (const tail of [...this.#tails]) void tail.return();
    await this.#parts.source.close();
  }

  /** Entries after a position, from the cache or the log; undefined if the caller has to wait. */
  pull(after: number, filter: TailFilter | undefined): TailRead | Promise<TailRead> | undefined {
    if (after >= this.#through) return undefined;
    const kept = this.#keptAfter(after);
    if (kept === undefined) return this.#read({ after, filter });
    return this.isFresh ? pick(kept, after, filter) : this.#pullRedacted(after, filter);
  }

  get isFresh(): boolean {
    return this.#redactions.isFresh;
  }

  applyRedactions(): Promise<void> {
    return this.#redactions.check();
  }

  wait(tail: Tail): Promise<void> {
    return new Promise((wake, fail) => {
      this.#waiting.set(tail, { wake, fail });
      this.#poll ??= setInterval(() => void this.#pollLog(), POLL_MS);
      if (this.#hasGrown) this.#pumpSoon();
    });
  }

  leave(tail: Tail): void {
    this.#tails.delete(tail);
    this.#waiting.get(tail)?.wake();
    this.#waiting.delete(tail);
    this.#stopPollIfIdle();
    if (this.#tails.size === 0) this.#forget();
  }

  /** If no tail waits, skipped entries need not be read for all: a tail that lags reads for itself. */
  #skipTo(position: number): void {
    if (this.#waiting.size > 0 || this.#isPumping || position <= this.#through) return;
    this.#forget();
    this.#through = position;
  }

  #forget(): void {
    this.#kept = [];
    this.#keptBytes = 0;
  }

  #keptAfter(after: number): Kept | undefined {
    return this.#kept.find((one) => one.after <= after && after < one.through);
  }

  async #pullRedacted(after: number, filter: TailFilter | undefined): Promise<TailRead> {
    await this.applyRedactions();
    const kept = this.#keptAfter(after);
    return kept === undefined ? this.#read({ after, filter }) : pick(kept, after, filter);
  }

  #read(range: TailRange): Promise<TailRead> {
    return this.#redactions.during(() => this.#parts.source.read(range), without);
  }

  /** A new tail may have been opened after a redaction elsewhere. */
  async #startPosition(): Promise<number> {
    if (this.#kept.length > 0) await this.applyRedactions();
    return this.#head();
  }

  async #head(): Promise<number> {
    return (await this.#parts.log.head()).position;
  }

  /** The timer keeps the program alive, so it runs only while a tail waits. */
  #stopPollIfIdle(): void {
    if (this.#waiting.size > 0) return;
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  async #pollLog(): Promise<void> {
    if (this.#isPumping) return;
    try {
      if ((await this.#head()) > this.#through) this.grown();
    } catch (error) {
      this.#fail(error);
    }
  }

  #pumpSoon(): void {
    if (this.#isPumping || this.#waiting.size === 0) return;
    this.#isPumping = true;
    const restMs = this.#pumpAgainAtMs - performance.now();
    if (restMs > 0) setTimeout(() => void this.#pump(), restMs);
    else setImmediate(() => void this.#pump());
  }

  /** Reads new entries and wakes waiting tails until there is nothing new or no tail waits. */
  async #pump(): Promise<void> {
    let isFull = true;
    try {
      while (isFull && this.#waiting.size > 0) {
        this.#hasGrown = false;
        const read = await this.#read({ after: this.#through });
        isFull = read.isFull;
        if (isFull) this.#hasGrown = true;
        this.#keep(read);
        await this.#wake();
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#pumpAgainAtMs = isFull ? 0 : performance.now() + GATHER_MS;
    this.#isPumping = false;
    if (this.#hasGrown) this.#pumpSoon();
  }

  #keep(read: TailRead): void {
    if (read.through === this.#through || this.#tails.size === 0) return;
    const bytes = read.rows.reduce((sum, { json }) => sum + json.byteLength, 0);
    // A tail that still uses the read before the last is slow, and parses for itself: long-lived objects cost V8 more.
    for (const row of this.#kept.at(-2)?.rows ?? []) forgetAnswer(row);
    this.#kept.push({ ...read, after: this.#through, bytes });
    this.#keptBytes += bytes;
    this.#through = read.through;
    while (this.#keptBytes > KEPT_BYTES_MAX && this.#kept.length > 1) {
      this.#keptBytes -= (this.#kept.shift() as Kept).bytes;
    }
  }

  /**
   * One tail at a time, so a capture in between need not wait for all. Sending to a hundred connections takes
   * milliseconds; in a stream that is spread out, because done at once it would delay every capture that falls into it.
   */
  async #wake(): Promise<void> {
    const woken = [...this.#waiting].filter(([tail]) => tail.position < this.#through);
    const isStream = performance.now() < this.#pumpAgainAtMs + STREAM_MS;
    const together = isStream ? Math.ceil(woken.length / ROUND_PAUSES) : 1;
    for (const [index, [tail, waiting]] of woken.entries()) {
      if (index > 0 && index % together === 0) await (isStream ? pause() : turn());
      // It may have left.
      if (this.#waiting.get(tail) !== waiting) continue;
      this.#waiting.delete(tail);
      waiting.wake();
    }
    // Lets the last one come back before deciding whether anybody waits.
    await turn();
    this.#stopPollIfIdle();
  }

  #fail(error: unknown): void {
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#waiting.clear();
    this.#stopPollIfIdle();
  }
}

/** The rows after a position. */
function pick(kept: Kept, after: number, filter: TailFilter | undefined): TailRead {
  if (kept.after === after && filter === undefined) return kept;
  const rows = kept.rows.filter((row) => row.position > after && matches(row, filter));
  return { rows, through: kept.through, isFull: kept.isFull };
}

function without<R extends { readonly rows: readonly TailRow[] }>(read: R, erased: ReadonlySet<number>): R {
  const rows = read.rows.filter(({ position }) => !erased.has(position));
  return rows.length === read.rows.length ? read : { ...read, rows };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

type RedactedLog = Pick<EntryLog, "head" | "redactionsAfter" | "getBodies">;

interface EntryCache {
  /** Drops these entries. */
  drop(erased: ReadonlySet<number>): void;
  /** Drops everything; it is read again on demand. */
  dropAll(): void;
}

/** A check this recent, with no growth announced since, counts as current. */
const FRESH_MS = 10;
/** After this long without a check, everything is dropped if there is too much to check. */
const LONG_MS = 1_000;
const ENTRIES_MAX = 10_000;

class RedactionWatcher {
  readonly #log: RedactedLog;
  readonly #cache: EntryCache;
  /** Redactions through this position were applied. */
  #through = 0;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  /** Announcements of growth, and their number at the last check. */
  #growths = 0;
  #growthsSeen = 0;
  #checking: Promise<void> | undefined;

  constructor(log: RedactedLog, cache: EntryCache) {
    this.#log = log;
    this.#cache = cache;
  }

  /** Whether cached entries may be handed out as they are. */
  get isFresh(): boolean {
    return this.#growths === this.#growthsSeen && performance.now() - this.#checkedAtMs < FRESH_MS;
  }

  /** Call it when a redaction may have been appended. */
  grown(): void {
    this.#growths += 1;
  }

  /** Returns once the cache has dropped everything erased before this call. */
  check(): Promise<void> {
    this.#checking ??= this.#runCheck().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Reads, and removes what was erased meanwhile. */
  async during<T>(read: () => Promise<T>, without: (found: T, erased: ReadonlySet<number>) => T): Promise<T> {
    await this.check();
    const since = this.#through;
    const found = await read();
    const { erased } = await this.#erasedAfter(since);
    return erased.size === 0 ? found : without(found, erased);
  }

  async #runCheck(): Promise<void> {
    const growths = this.#growths;
    const atMs = performance.now();
    if (atMs - this.#checkedAtMs < LONG_MS || !(await this.#isMuch())) {
      const { through, erased } = await this.#erasedAfter(this.#through);
      if (erased.size > 0) this.#cache.drop(erased);
      this.#through = through;
    }
    this.#checkedAtMs = atMs;
    this.#growthsSeen = growths;
  }

  async #isMuch(): Promise<boolean> {
    const { position } = await this.#log.head();
    // A log that is shorter than before is another one.
    if (position >= this.#through && position - this.#through <= ENTRIES_MAX) return false;
    this.#cache.dropAll();
    this.#through = position;
    return true;
  }

  async #erasedAfter(position: number): Promise<{ readonly through: number; readonly erased: ReadonlySet<number> }> {
    const { through, positions } = await this.#log.redactionsAfter(position);
    const redactions = positions.length === 0 ? [] : await this.#log.getBodies(positions);
    const erased = new Set<number>();
    for (const redaction of redactions) for (const named of namedBy(redaction)) erased.add(named);
    return { through, erased };
  }
}

/**
 * The log applied a redaction when it was appended. A redaction damaged since is reported by `verify`, and must not end
 * a tail.
 */
function namedBy(redaction: StoredBody | undefined): readonly number[] {
  if (redaction?.body === undefined) return [];
  try {
    return namedIn(redaction.position, parseBodyText(redaction.position, redaction.body));
  } catch (error) {
    if (error instanceof Fault && error.code === "entry_corrupt") return [];
    throw error;
  }
}
