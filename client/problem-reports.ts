// What went wrong, told once for each cause and minute: the first time at once, and what comes after it together, with its count.
import type { Clock } from "./clock.js";
import type { Problem } from "./outcomes.js";

const MINUTE_MS = 60_000;
/** Of more causes in a minute, those that share a code are told together. */
const CAUSES_MAX = 20;

interface Repeated {
  problem: Problem;
  dropped: number;
  times: number;
}

export class ProblemReports {
  readonly #clock: Clock;
  readonly #tell: (problem: Problem) => void;
  /** By cause: what came since it was told in this minute. */
  readonly #told = new Map<string, Repeated>();
  #timer: { cancel(): void } | undefined;

  constructor(clock: Clock, tell: (problem: Problem) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  add(problem: Problem): void {
    const { code, message, dropped } = problem;
    const whole = `${code} ${message}`;
    const cause = this.#told.has(whole) || this.#told.size < CAUSES_MAX ? whole : code;
    const known = this.#told.get(cause);
    if (known !== undefined) {
      known.problem = problem;
      known.dropped += dropped;
      known.times += 1;
      return;
    }
    this.#told.set(cause, { problem, dropped: 0, times: 0 });
    this.#timer ??= this.#clock.setTimer(() => this.flush(), MINUTE_MS, true);
    this.#tell(problem);
  }

  /** Tells what came meanwhile; the next minute begins with the next problem. */
  flush(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const repeated = [...this.#told.values()].filter(({ times }) => times > 0);
    this.#told.clear();
    for (const { problem, dropped, times } of repeated) {
      this.#tell({ ...problem, dropped, ...(times > 1 ? { times } : {}) });
    }
  }
}
