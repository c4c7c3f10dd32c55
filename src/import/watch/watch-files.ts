// Watching: reads what other programs write while they write it. Events say which files changed, sweeps find what
// events missed, and a bookmark for each file says where to resume.
import { Fault } from "../../model/fault.js";
import type { ImportTarget } from "../import-batcher.js";
import type { ImportedFile, ImportPlan, RejectedLine } from "../import-files.js";
import { formatsOfFound } from "../places.js";
import { reasonOf } from "../source-files.js";
import type { SourceLoss } from "../source-loss.js";
import { Bookmarks, type SeenState } from "./bookmarks.js";
import { type SeenFile, seeFile, type WatchedRoot } from "./seen-files.js";
import { SourceLosses } from "./source-losses.js";
import { type LookResult, lookAt, ReplacedFile, SETTLE_MS, UnreadableFile } from "./watched-file.js";
import { RootWatch } from "./watched-root.js";
import type { WatchClock } from "./watches.js";

type Timer = ReturnType<WatchClock["setTimer"]>;

const TICK_MS = 1_000;
/** How long to wait after a file could not be read, or the store could not be written. */
const RETRY_MS = { file: 60_000, store: 5_000 } as const;
/** Reading a file that has to be read whole takes at most a tenth of the time. */
const WHOLE_SHARE = 9;

export interface WatchOptions {
  /** Forces a format, where the content does not identify it. */
  readonly format?: string | undefined;
  /** An IANA zone for times without one; the machine's own by default. */
  readonly timezone?: string | undefined;
  /** Polls instead of waiting for file system events. */
  readonly poll?: boolean | undefined;
  /** Called after each look at a file that found something new. */
  readonly onFile?: ((file: ImportedFile) => void) | undefined;
  /** Called for each line that was left out, and for files that cannot be read (line 0). */
  readonly onRejected?: ((line: RejectedLine) => void) | undefined;
  /** Called with the reason why nothing can be recorded, and when a folder is polled because it has no events. */
  readonly onTrouble?: ((reason: string) => void) | undefined;
  /** Called when a file was deleted or has become shorter; the sessions that were read from it are kept. */
  readonly onLost?: ((lost: LostFile) => void) | undefined;
}

export interface LostFile {
  readonly file: string;
  readonly how: SourceLoss["how"];
  /** The sessions whose only source it was. */
  readonly sessions: readonly string[];
}

/** Totals since watching began. */
export interface WatchCounts {
  /** Files that are watched. */
  readonly files: number;
  /** Files that wait to be read. */
  readonly waiting: number;
  readonly looks: number;
  readonly bytes: number;
  readonly added: number;
  readonly rejected: number;
  /** Folders that are polled, because they have no events. */
  readonly polled: number;
}

interface WatchParts {
  readonly roots: readonly WatchedRoot[];
  readonly plan: ImportPlan;
  readonly options: WatchOptions;
  readonly target: ImportTarget;
  /** The path of the bookmarks; undefined keeps them in memory. */
  readonly bookmarks: string | undefined;
  readonly clock: WatchClock;
}

export class Watch {
  readonly #parts: WatchParts;
  readonly #bookmarks: Bookmarks;
  readonly #roots: readonly RootWatch[];
  readonly #clock: WatchClock;
  readonly #queue: LookQueue;
  /** By the key of the file. */
  readonly #states: Map<string, SeenState>;
  readonly #files = new Set<string>();
  /** Files with records left out while a program was writing, with the time when they count as settled. */
  readonly #settling = new Map<string, number>();
  /** Files that could not be opened when they were found, which may have no events. */
  readonly #doubtful = new Set<string>();
  readonly #losses: SourceLosses;
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
    const { roots, target, options } = parts;
    const isSeen = (key: string): boolean => this.#files.has(key);
    this.#losses = new SourceLosses({ roots, target, bookmarks, clock, isSeen, onLost: options.onLost });
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

  /** Resolves when everything that existed when watching began has been read. */
  caughtUp(): Promise<void> {
    return this.#caughtUp;
  }

  get counts(): WatchCounts {
    const polled = this.#roots.filter(({ isPolling }) => isPolling).length;
    return { files: this.#files.size, waiting: this.#queue.waiting, ...this.#totals, polled };
  }

  /** Stops; reading of a long file ends where it is. */
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
    // Before bookmarks of files that are gone are deleted.
    await this.#losses.check(isFirst).catch((error: unknown) => this.#tell(reasonOf(error)));
    if (isFirst) this.#bookmarks.prune(this.#files);
  }

  /** Queues a file that has changed since it was read. */
  #compare(file: SeenFile, lane: Lane): void {
    const { key, path, stamp } = file;
    this.#files.add(key);
    // A change while the file is being read is found by the next sweep.
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
      // Events come for folders and pipes too, and opening a pipe may wait for ever.
      if (seeFile(path, (lost, error) => this.#fail(lost, "", reasonOf(error))) === undefined) {
        this.#losses.missing(path);
        return;
      }
      const { signal } = this.#ending;
      const looked = await lookAt(path, {
        plan: { ...plan, formats: formatsOfFound(path, this.#parts.roots) },
        target,
        bookmarks: this.#bookmarks,
        nowMs: this.#clock.nowMs(),
        signal,
      });
      this.#trouble = "";
      this.#failures.delete(path);
      if (looked.shortened !== undefined) await this.#losses.note(looked.shortened, "shortened");
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

  /** Reports once that a file or folder cannot be read; it is retried now and then, and whenever it changes. */
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
    this.#parts.options.onTrouble?.(`${path} is polled every second: its file system reports no changes${why}`);
  }

  #tell(reason: string): void {
    if (this.#trouble !== reason) this.#parts.options.onTrouble?.(reason);
    this.#trouble = reason;
  }
}

/** A writer that pauses this long has usually ended a line; a file whose writer never pauses is read after the longer time. */
const PAUSE_MS = 150;
const PAUSE_MS_MAX = 900;
/** How many files are read at once: changed ones, and existing ones at the start. */
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
  /** Files whose next reading has to wait, because the last one was expensive or failed. */
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

  /** Delays the next look at a file. */
  delay(path: string, ms: number): void {
    this.#delayed.set(path, this.#clock.nowMs() + ms);
  }

  /** Resolves when no file in the `old` lane is waiting or being read. */
  async drained(): Promise<void> {
    if (this.#isEmpty()) return;
    await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  /** Waits for running looks; no more are started. */
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
