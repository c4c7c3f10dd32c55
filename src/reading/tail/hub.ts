// The hub of all who follow one recorder: it learns that the log has grown, reads the new entries once for everybody who
// waits at its end, and keeps the newest for a moment.
//
// Nobody is ever sent anything here. A tail pulls from its own position, so a slow one costs no memory and delays no one:
// what it missed is still in the log. What is kept, here and by each tail, obeys redactions before it is handed out.

import type { EntryLog, StoredBody } from "../../log/port.js";
import { namedIn, parseBodyText } from "../../model/body.js";
import { Fault } from "../../model/fault.js";
import { matches, type TailRange, type TailRead, type TailRow, type TailSource } from "./read-tail.js";
import { forgetAnswer, Tail, type TailWindow } from "./tail.js";
import type { TailFilter, TailQuery } from "./tail-query.js";

export interface TailHubParts {
  readonly source: TailSource;
  /** Tells how far it goes and what was erased, whoever wrote that. */
  readonly log: RedactedLog;
}

/** Other processes' entries are looked for this often, and only while somebody waits for them. */
const POLL_MS = 100;
/** Under load, entries are gathered this long, so that a hundred listeners are not woken for each of them. */
const GATHER_MS = 40;
/** How much of the log's end is kept for tails that are almost there. */
const KEPT_BYTES_MAX = 512 * 1024;
/** A round that comes sooner than this after the one before is part of a stream, and takes its time. */
const STREAM_MS = 250;
/** In a stream, a round of wakes is spread over about this many pauses of a millisecond each. */
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
  /** Tails at the end of what is known, and how each is told that there is more. */
  readonly #waiting = new Map<Tail, Waiting>();
  readonly #obedience: RedactionWatcher;
  #kept: Kept[] = [];
  #keptBytes = 0;
  /** Position through which the log was read for all. */
  #through = 0;
  #hasGrown = false;
  #isPumping = false;
  #pumpAgainAtMs = 0;
  #poll: NodeJS.Timeout | undefined;

  constructor(parts: TailHubParts) {
    this.#parts = parts;
    this.#obedience = new RedactionWatcher(parts.log, {
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
    const start = this.#lookFirst().then((position) => {
      this.#skipTo(position);
      return query.after ?? position;
    });
    // Whoever reads from the tail meets the failure; nobody may be doing so yet.
    start.catch(() => undefined);
    const tail = new Tail({ start, filter: query.filter, window: this });
    this.#tails.add(tail);
    return tail;
  }

  /** How many follow the log. */
  get size(): number {
    return this.#tails.size;
  }

  /** Word that the log has grown, and whether something may have been erased by it. */
  grown({ may_erase }: { readonly may_erase: boolean } = { may_erase: true }): void {
    this.#hasGrown = true;
    if (may_erase) this.#obedience.grown();
    this.#pumpSoon();
  }

  /** Ends every tail. */
  async close(): Promise<void> {
    for (const tail of [...this.#tails]) void tail.return();
    await this.#parts.source.close();
  }

  /** What comes after a position: from what is kept, or from the log; undefined where one has to wait. */
  pull(after: number, filter: TailFilter | undefined): TailRead | Promise<TailRead> | undefined {
    if (after >= this.#through) return undefined;
    const kept = this.#keptAfter(after);
    if (kept === undefined) return this.#read({ after, filter });
    return this.isFresh ? pick(kept, after, filter) : this.#pullObediently(after, filter);
  }

  get isFresh(): boolean {
    return this.#obedience.isFresh;
  }

  applyRedactions(): Promise<void> {
    return this.#obedience.look();
  }

  wait(tail: Tail): Promise<void> {
    return new Promise((wake, fail) => {
      this.#waiting.set(tail, { wake, fail });
      this.#poll ??= setInterval(() => void this.#look(), POLL_MS);
      if (this.#hasGrown) this.#pumpSoon();
    });
  }

  leave(tail: Tail): void {
    this.#tails.delete(tail);
    this.#waiting.get(tail)?.wake();
    this.#waiting.delete(tail);
    this.#rest();
    if (this.#tails.size === 0) this.#forget();
  }

  /** Where nobody waits, what the log grew by in the meantime need not be read for all: who lags reads for itself. */
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

  async #pullObediently(after: number, filter: TailFilter | undefined): Promise<TailRead> {
    await this.applyRedactions();
    const kept = this.#keptAfter(after);
    return kept === undefined ? this.#read({ after, filter }) : pick(kept, after, filter);
  }

  #read(range: TailRange): Promise<TailRead> {
    return this.#obedience.during(() => this.#parts.source.read(range), without);
  }

  /** Whoever comes now may have heard of a forgetting anywhere. */
  async #lookFirst(): Promise<number> {
    if (this.#kept.length > 0) await this.applyRedactions();
    return this.#head();
  }

  async #head(): Promise<number> {
    return (await this.#parts.log.head()).position;
  }

  /** The timer keeps the program alive, so it runs only as long as somebody waits. */
  #rest(): void {
    if (this.#waiting.size > 0) return;
    clearInterval(this.#poll);
    this.#poll = undefined;
  }

  async #look(): Promise<void> {
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

  /** Reads what is new and wakes who waits for it, until there is nothing new or nobody waits. */
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
    // Who still takes from the read before the last one is slow, and parses for itself: what lives longer, V8 has to move.
    for (const row of this.#kept.at(-2)?.rows ?? []) forgetAnswer(row);
    this.#kept.push({ ...read, after: this.#through, bytes });
    this.#keptBytes += bytes;
    this.#through = read.through;
    while (this.#keptBytes > KEPT_BYTES_MAX && this.#kept.length > 1) {
      this.#keptBytes -= (this.#kept.shift() as Kept).bytes;
    }
  }

  /**
   * One after the other: a capture that arrives meanwhile must not wait for all of them. Sending the same to a hundred
   * connections takes milliseconds on both sides; while entries keep coming that is spread out, because done in one go it
   * would show in every capture that falls into it.
   */
  async #wake(): Promise<void> {
    const woken = [...this.#waiting].filter(([tail]) => tail.position < this.#through);
    const isStream = performance.now() < this.#pumpAgainAtMs + STREAM_MS;
    const together = isStream ? Math.ceil(woken.length / ROUND_PAUSES) : 1;
    for (const [index, [tail, waiting]] of woken.entries()) {
      if (index > 0 && index % together === 0) await (isStream ? pause() : turn());
      // It may have left in the meantime.
      if (this.#waiting.get(tail) !== waiting) continue;
      this.#waiting.delete(tail);
      waiting.wake();
    }
    // Who was woken last comes back before it is decided whether anybody waits for more.
    await turn();
    this.#rest();
  }

  #fail(error: unknown): void {
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#waiting.clear();
    this.#rest();
  }
}

/** What of it comes after a position. */
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

// Obeying redactions: whoever keeps entries for a while learns here what was erased since, whichever process erased it.
type RedactedLog = Pick<EntryLog, "head" | "redactionsAfter" | "getBodies">;

interface EntryCache {
  /** Lets go of these entries. */
  drop(erased: ReadonlySet<number>): void;
  /** Lets go of everything, which is read again where it is needed. */
  dropAll(): void;
}

/** What was looked at so shortly ago, with no word of growth since, is as good as looked at now: it is on its way by then. */
const FRESH_MS = 10;
/** Who has not looked for so long asks first how much there is to look at, and lets go of everything where it is much. */
const LONG_MS = 1_000;
const ENTRIES_MAX = 10_000;

class RedactionWatcher {
  readonly #log: RedactedLog;
  readonly #keeper: EntryCache;
  /** Redactions through this position were obeyed. */
  #through = 0;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** How often there was word of growth, and how often there had been when it was last looked. */
  #words = 0;
  #wordsKnown = 0;
  #looking: Promise<void> | undefined;

  constructor(log: RedactedLog, keeper: EntryCache) {
    this.#log = log;
    this.#keeper = keeper;
  }

  /** Whether all that is kept may be handed out as it is. */
  get isFresh(): boolean {
    return this.#words === this.#wordsKnown && performance.now() - this.#lookedAtMs < FRESH_MS;
  }

  /** Word that the log has grown by a redaction, perhaps. */
  grown(): void {
    this.#words += 1;
  }

  /** Returns once the keeper has let go of all that was erased before this call. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** What was read, without what was erased while it was being read. */
  async during<T>(read: () => Promise<T>, without: (found: T, erased: ReadonlySet<number>) => T): Promise<T> {
    await this.look();
    const since = this.#through;
    const found = await read();
    const { erased } = await this.#erasedAfter(since);
    return erased.size === 0 ? found : without(found, erased);
  }

  async #look(): Promise<void> {
    const words = this.#words;
    const atMs = performance.now();
    if (atMs - this.#lookedAtMs < LONG_MS || !(await this.#isMuch())) {
      const { through, erased } = await this.#erasedAfter(this.#through);
      if (erased.size > 0) this.#keeper.drop(erased);
      this.#through = through;
    }
    this.#lookedAtMs = atMs;
    this.#wordsKnown = words;
  }

  async #isMuch(): Promise<boolean> {
    const { position } = await this.#log.head();
    // A log that is shorter than it was is another one.
    if (position >= this.#through && position - this.#through <= ENTRIES_MAX) return false;
    this.#keeper.dropAll();
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

/** The log has obeyed a redaction when it was appended. One that is damaged since is `verify`'s to tell, and ends no tail. */
function namedBy(redaction: StoredBody | undefined): readonly number[] {
  if (redaction?.body === undefined) return [];
  try {
    return namedIn(redaction.position, parseBodyText(redaction.position, redaction.body));
  } catch (error) {
    if (error instanceof Fault && error.code === "entry_corrupt") return [];
    throw error;
  }
}
