// When each changed file is looked at: soon after its writer pauses, never two looks at one file at once, and what is written
// now before what was there already.

/** A writer that pauses this long has ended a line, as a rule; one that never does is looked at all the same. */
const PAUSE_MS = 150;
const PAUSE_MS_MAX = 900;
/** How many files are looked at at once: those that are written to, and those that were there before. */
const LANES = { fresh: 2, old: 1 } as const;
export type Lane = keyof typeof LANES;

interface Waiting {
  readonly lane: Lane;
  readonly since: number;
  readonly until: number;
}

export class Turns {
  readonly #look: (path: string) => Promise<void>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Map<string, { readonly lane: Lane; readonly done: Promise<void> }>();
  /** Files whose next look has to wait, because the last one was dear or failed. */
  readonly #resting = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #emptied: (() => void)[] = [];

  constructor(look: (path: string) => Promise<void>) {
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
    const now = Date.now();
    const before = this.#waiting.get(path);
    const since = before?.since ?? now;
    const until = lane === "old" ? now : Math.min(now + PAUSE_MS, since + PAUSE_MS_MAX);
    this.#waiting.set(path, { lane: before?.lane === "fresh" ? "fresh" : lane, since, until });
    this.#arm();
  }

  /** Keeps a file from being looked at for a while. */
  rest(path: string, ms: number): void {
    this.#resting.set(path, Date.now() + ms);
  }

  /** Resolves when nothing waits any more that was there before. */
  async emptied(): Promise<void> {
    if (this.#isEmpty()) return;
    await new Promise<void>((resolve) => this.#emptied.push(resolve));
  }

  /** Waits for the looks under way; none follows. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#waiting.clear();
    await Promise.all([...this.#running.values()].map(({ done }) => done));
    this.#tellEmptied();
  }

  #isEmpty(): boolean {
    const isOld = ({ lane }: { readonly lane: Lane }): boolean => lane === "old";
    return ![...this.#waiting.values()].some(isOld) && ![...this.#running.values()].some(isOld);
  }

  #arm(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#begin();
    }, this.#nextMs());
  }

  #nextMs(): number {
    let next = PAUSE_MS_MAX;
    const now = Date.now();
    for (const [path, { until }] of this.#waiting) {
      next = Math.min(next, Math.max(until, this.#resting.get(path) ?? 0) - now);
      if (next <= 0) return 0;
    }
    return next;
  }

  #begin(): void {
    const now = Date.now();
    for (const [path, { lane, until }] of this.#waiting) {
      if (this.#running.has(path) || until > now || (this.#resting.get(path) ?? 0) > now) continue;
      if (![...laneNames].some((name) => this.#free(name) > 0)) break;
      if (this.#free(lane) === 0) continue;
      this.#waiting.delete(path);
      this.#resting.delete(path);
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
      if (this.#isEmpty()) this.#tellEmptied();
      if (!this.#isClosed && this.#waiting.size > 0) this.#begin();
    });
    this.#running.set(path, { lane, done });
  }

  #tellEmptied(): void {
    const tell = this.#emptied;
    this.#emptied = [];
    for (const resolve of tell) resolve();
  }
}

const laneNames = Object.keys(LANES) as readonly Lane[];
