// Watching: what other programs write is read while they write it. Events say where to look, sweeps find what they missed,
// and a bookmark for each file says where to go on.
import { Fault } from "../../model/fault.js";
import type { ImportTarget } from "../import-batcher.js";
import type { ImportedFile, ImportPlan, RejectedLine } from "../import-files.js";
import { reasonOf } from "../source-files.js";
import { Bookmarks, type SeenState } from "./bookmarks.js";
import { type SeenFile, seeFile, type WatchedRoot } from "./seen-files.js";
import { type LookResult, lookAt, ReplacedFile, SETTLE_MS, UnreadableFile } from "./watched-file.js";
import { RootWatch } from "./watched-root.js";
import type { WatchClock } from "./watches.js";

type Timer = ReturnType<WatchClock["setTimer"]>;

const TICK_MS = 1_000;
/** How long a file that cannot be read, or a store that cannot be written, is left alone. */
const RETRY_MS = { file: 60_000, store: 5_000 } as const;
/** A file that has to be read whole is read for at most a tenth of the time. */
const WHOLE_SHARE = 9;

export interface WatchOptions {
  /** Forces a format, where the content does not tell it. */
  readonly format?: string | undefined;
  /** An IANA zone for times without one; the machine's own by default. */
  readonly timezone?: string | undefined;
  /** Looks again and again instead of waiting for word from the system, as where that has none to give. */
  readonly poll?: boolean | undefined;
  /** Hears of each look at a file that brought something new. */
  readonly onFile?: ((file: ImportedFile) => void) | undefined;
  /** Hears of each line that was left out, and of files that cannot be read (line 0). */
  readonly onRejected?: ((line: RejectedLine) => void) | undefined;
  /** Hears why nothing can be recorded at present, and that a folder is swept because no word comes of its changes. */
  readonly onTrouble?: ((reason: string) => void) | undefined;
}

/** What was done since watching began. */
export interface WatchCounts {
  /** Files that are watched. */
  readonly files: number;
  /** Files that wait to be looked at. */
  readonly waiting: number;
  readonly looks: number;
  readonly bytes: number;
  readonly added: number;
  readonly rejected: number;
  /** Folders that are swept, because no word comes of their changes. */
  readonly polled: number;
}

interface WatchParts {
  readonly roots: readonly WatchedRoot[];
  readonly plan: ImportPlan;
  readonly options: WatchOptions;
  readonly target: ImportTarget;
  /** Where bookmarks are kept; undefined keeps them in memory. */
  readonly bookmarks: string | undefined;
  readonly clock: WatchClock;
}

export class Watch {
  readonly #parts: WatchParts;
  readonly #bookmarks: Bookmarks;
  readonly #roots: readonly RootWatch[];
  readonly #clock: WatchClock;
  readonly #queue: LookQueue;
  /** By who a file is. */
  readonly #states: Map<string, SeenState>;
  readonly #files = new Set<string>();
  /** Files of which something was left out while they were written to, with the time at which they will have settled. */
  readonly #settling = new Map<string, number>();
  /** Files of whose changes no word may come, since they could not be opened when they were found. */
  readonly #doubtful = new Set<string>();
  readonly #failures = new Map<string, { readonly reason: string; readonly stamp: string; readonly retryAt: number }>();
  readonly #totals = { looks: 0, bytes: 0, added: 0, rejected: 0 };
  readonly #ending = new AbortController();
  #trouble = "";
  #timer: Timer | undefined;
  #ticking: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  readonly #caughtUp: Promise<void>;

  static async begin(parts: WatchParts): Promise<Watch> {
    const { bookmarks, target, clock } = parts;
    return new Watch(parts, await Bookmarks.open(bookmarks, target, () => clock.nowMs()));
  }

  private constructor(parts: WatchParts, bookmarks: Bookmarks) {
    const { clock } = parts;
    this.#parts = parts;
    this.#bookmarks = bookmarks;
    this.#clock = clock;
    this.#queue = new LookQueue(clock, (path) => this.#look(path));
    this.#states = bookmarks.states();
    const listener = {
      seen: (file: SeenFile, is_first: boolean) => this.#compare(file, is_first ? "old" : "fresh"),
      changed: (path: string) => this.#queue.mark(path, "fresh"),
      lost: (path: string, error: unknown) => this.#fail(path, "", reasonOf(error)),
      silent: ({ path }: WatchedRoot, error: unknown) => this.#tellSilent(path, error),
    };
    const poll = parts.options.poll === true;
    this.#roots = parts.roots.map((root) => new RootWatch(root, { poll, clock }, listener));
    this.#caughtUp = this.#tick(true).then(() => this.#queue.drained());
  }

  /** Resolves when all that was there when watching began has been read. */
  caughtUp(): Promise<void> {
    return this.#caughtUp;
  }

  get counts(): WatchCounts {
    const polled = this.#roots.filter(({ isPolling }) => isPolling).length;
    return { files: this.#files.size, waiting: this.#queue.waiting, ...this.#totals, polled };
  }

  /** Ends; a look under way at a long file stops where it is. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#ending.abort();
    this.#timer?.cancel();
    await Promise.all(this.#roots.map((root) => root.close()));
    await this.#ticking;
    await this.#queue.close();
    this.#bookmarks.close();
  }

  #tick(isFirst = false): Promise<void> {
    this.#ticking = this.#tickNow(isFirst).finally(() => {
      if (this.#closing === undefined) this.#timer = this.#clock.setTimer(() => void this.#tick(), TICK_MS);
    });
    return this.#ticking;
  }

  async #tickNow(isFirst: boolean): Promise<void> {
    if (this.#bookmarks.isForgotten()) this.#states.clear();
    const now = this.#clock.nowMs();
    for (const [path, due] of this.#settling) {
      if (due > now) continue;
      this.#settling.delete(path);
      this.#queue.mark(path, "old");
    }
    for (const path of this.#doubtful) {
      const file = seeFile(path, () => undefined);
      if (file !== undefined) this.#compare(file, "fresh");
    }
    await Promise.all(this.#roots.map((root) => root.tick()));
    if (isFirst) this.#bookmarks.prune(this.#files);
  }

  /** Whether a file has changed since it was looked at. */
  #compare(file: SeenFile, lane: Lane): void {
    const { key, path, stamp } = file;
    this.#files.add(key);
    // What comes meanwhile shows when the look under way has ended.
    if (this.#queue.isRunning(path)) return;
    const failure = this.#failures.get(path);
    if (failure?.stamp === stamp && failure.retryAt > this.#clock.nowMs()) return;
    const mark = this.#states.get(key);
    if (mark?.stamp !== stamp) this.#queue.mark(path, lane);
    else if (!mark.is_settled && !this.#settling.has(path))
      this.#settling.set(path, Math.min(file.modified_ms, this.#clock.nowMs()) + SETTLE_MS.lines);
  }

  async #look(path: string): Promise<void> {
    const start = performance.now();
    const { plan, target } = this.#parts;
    try {
      // Word comes of folders and pipes too, and who opens a pipe may wait for ever.
      if (seeFile(path, (lost, error) => this.#fail(lost, "", reasonOf(error))) === undefined) return;
      const { signal } = this.#ending;
      const looked = await lookAt(path, {
        plan,
        target,
        bookmarks: this.#bookmarks,
        nowMs: this.#clock.nowMs(),
        signal,
      });
      this.#trouble = "";
      this.#failures.delete(path);
      this.#note(path, looked);
      if (looked.bookmark.place === undefined) this.#queue.delay(path, (performance.now() - start) * WHOLE_SHARE);
    } catch (error) {
      this.#recover(path, error);
    }
  }

  #note(path: string, { bookmark, format, bytes, added, existing, rejected }: LookResult): void {
    const { onFile, onRejected } = this.#parts.options;
    const { key, stamp, is_settled } = bookmark;
    this.#states.set(key, { stamp, is_settled });
    this.#files.add(key);
    if (is_settled) this.#settling.delete(path);
    else {
      const ms = format !== "" && bookmark.place === undefined ? SETTLE_MS.whole : SETTLE_MS.lines;
      this.#settling.set(path, this.#clock.nowMs() + ms);
    }
    this.#totals.looks += 1;
    this.#totals.bytes += bytes;
    this.#totals.added += added;
    this.#totals.rejected += rejected.length;
    for (const line of rejected) onRejected?.(line);
    if (added + rejected.length > 0) onFile?.({ file: path, format, added, existing, rejected: rejected.length });
  }

  #recover(path: string, error: unknown): void {
    const { code } = error as NodeJS.ErrnoException;
    if (this.#closing !== undefined) return;
    if (error instanceof ReplacedFile) this.#queue.mark(path, "fresh");
    else if (code === "ENOENT" || code === "ENOTDIR") this.#settling.delete(path);
    else if (error instanceof Fault) {
      this.#tell(error.message);
      this.#queue.delay(path, RETRY_MS.store);
      this.#queue.mark(path, "fresh");
    } else {
      const reason = error instanceof UnreadableFile ? error.message : reasonOf(error);
      this.#fail(path, seeFile(path, () => undefined)?.stamp ?? "", reason);
    }
  }

  /** Tells once that a file or folder cannot be read; it is tried again now and then, and whenever it changes. */
  #fail(path: string, stamp: string, reason: string): void {
    this.#doubtful.add(path);
    const before = this.#failures.get(path);
    this.#failures.set(path, { reason, stamp, retryAt: this.#clock.nowMs() + RETRY_MS.file });
    if (before?.reason === reason) return;
    this.#totals.rejected += 1;
    this.#parts.options.onRejected?.({ file: path, line: 0, reason });
  }

  #tellSilent(path: string, error: unknown): void {
    const why = error === undefined ? "" : ` (${error instanceof Error ? error.message : String(error)})`;
    this.#parts.options.onTrouble?.(`${path} is looked through every second: no word comes of changes there${why}`);
  }

  #tell(reason: string): void {
    if (this.#trouble !== reason) this.#parts.options.onTrouble?.(reason);
    this.#trouble = reason;
  }
}

/** A writer that pauses this long has ended a line, as a rule; one that never does is looked at all the same. */
const PAUSE_MS = 150;
const PAUSE_MS_MAX = 900;
/** How many files are looked at at once: those that are written to, and those that were there before. */
const LANES = { fresh: 2, old: 1 } as const;
type Lane = keyof typeof LANES;

interface Waiting {
  readonly lane: Lane;
  readonly since: number;
  readonly until: number;
}

class LookQueue {
  readonly #clock: WatchClock;
  readonly #look: (path: string) => Promise<void>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Map<string, { readonly lane: Lane; readonly done: Promise<void> }>();
  /** Files whose next look has to wait, because the last one was dear or failed. */
  readonly #delayed = new Map<string, number>();
  #timer: Timer | undefined;
  #isClosed = false;
  #drained: (() => void)[] = [];

  constructor(clock: WatchClock, look: (path: string) => Promise<void>) {
    this.#clock = clock;
    this.#look = look;
  }

  get waiting(): number {
    return this.#waiting.size + this.#running.size;
  }

  isRunning(path: string): boolean {
    return this.#running.has(path);
  }

  mark(path: string, lane: Lane): void {
    if (this.#isClosed) return;
    const now = this.#clock.nowMs();
    const before = this.#waiting.get(path);
    const since = before?.since ?? now;
    const until = lane === "old" ? now : Math.min(now + PAUSE_MS, since + PAUSE_MS_MAX);
    this.#waiting.set(path, { lane: before?.lane === "fresh" ? "fresh" : lane, since, until });
    this.#arm();
  }

  /** Keeps a file from being looked at for a while. */
  delay(path: string, ms: number): void {
    this.#delayed.set(path, this.#clock.nowMs() + ms);
  }

  /** Resolves when nothing waits any more that was there before. */
  async drained(): Promise<void> {
    if (this.#isEmpty()) return;
    await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  /** Waits for the looks under way; none follows. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#waiting.clear();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    this.#resolveWaiters();
  }

  #isEmpty(): boolean {
    const isOld = ({ lane }: { readonly lane: Lane }): boolean => lane === "old";
    return ![...this.#waiting.values()].some(isOld) && ![...this.#running.values()].some(isOld);
  }

  #arm(): void {
    this.#timer ??= this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#begin();
    }, this.#nextMs());
  }

  #nextMs(): number {
    let next = PAUSE_MS_MAX;
    const now = this.#clock.nowMs();
    for (const [path, { until }] of this.#waiting) {
      next = Math.min(next, Math.max(until, this.#delayed.get(path) ?? 0) - now);
      if (next <= 0) return 0;
    }
    return next;
  }

  #begin(): void {
    const now = this.#clock.nowMs();
    for (const [path, { lane, until }] of this.#waiting) {
      if (this.#running.has(path) || until > now || (this.#delayed.get(path) ?? 0) > now) continue;
      if (![...laneNames].some((name) => this.#free(name) > 0)) break;
      if (this.#free(lane) === 0) continue;
      this.#waiting.delete(path);
      this.#delayed.delete(path);
      this.#run(path, lane);
    }
    if (this.#waiting.size > 0 && laneNames.some((name) => this.#free(name) > 0)) this.#arm();
  }

  #free(lane: Lane): number {
    let running = 0;
    for (const one of this.#running.values()) if (one.lane === lane) running += 1;
    return LANES[lane] - running;
  }

  #run(path: string, lane: Lane): void {
    const done = this.#look(path).finally(() => {
      this.#running.delete(path);
      if (this.#isEmpty()) this.#resolveWaiters();
      if (!this.#isClosed && this.#waiting.size > 0) this.#begin();
    });
    this.#running.set(path, { lane, done });
  }

  #resolveWaiters(): void {
    const tell = this.#drained;
    this.#drained = [];
    for (const resolve of tell) resolve();
  }
}

const laneNames = Object.keys(LANES) as readonly Lane[];
