// How patient reads are with an index that is being built from nothing: what it still lacks, and how long that is waited
// for before an answer is given from the newest entries alone.

export interface RebuildOptions {
  /** How many entries an index that is being rebuilt may lack for a read to wait for them. */
  readonly behind_max: number;
  /** How long reads wait for a rebuild before they are answered from the newest entries. */
  readonly wait_ms: number;
  /** How many entries are taken for the newest. */
  readonly newest: number;
}

export const rebuildDefaults: RebuildOptions = { behind_max: 20_000, wait_ms: 1_500, newest: 5_000 };

/** An index as it was when it was first looked at. */
interface Sight {
  readonly index: object;
  /** The log's end when an index began empty beside it: what comes later is ordinary following, which every read waits for. */
  readonly through: number;
  readonly patientUntilMs: number;
  checkpoint: number;
}

export class Patience {
  readonly #options: RebuildOptions;
  readonly #nowMs: () => number;
  #sight: Sight | undefined;

  constructor(options: RebuildOptions, nowMs: () => number) {
    this.#options = options;
    this.#nowMs = nowMs;
  }

  /** Whether this very index was looked at before, and has not been begun again since. */
  knows(index: object, checkpoint: number): boolean {
    return this.#sight?.index === index && checkpoint >= this.#sight.checkpoint;
  }

  /**
   * Looks at an index anew: `before` is its checkpoint as it was found, `checkpoint` what a first step has made of it. One
   * that had nothing, lost what it had, or has taken the place of another is new; what the log holds then is its debt.
   * Several reads may look at the same time, and the first of them saw the index as it was.
   */
  async look(
    index: object,
    before: number,
    step: () => Promise<{ readonly checkpoint: number; readonly position: number }>,
  ): Promise<void> {
    const known = this.#sight;
    const { checkpoint, position } = await step();
    const isNew = before === 0 || checkpoint < before || known !== undefined;
    if (this.#sight !== known) return;
    const patientUntilMs = this.#nowMs() + this.#options.wait_ms;
    this.#sight = { index, through: isNew ? position : 0, patientUntilMs, checkpoint };
  }

  /** How many entries it lacks of those that were there when it began. */
  lack(checkpoint: number): number {
    if (this.#sight === undefined) return 0;
    this.#sight.checkpoint = checkpoint;
    return this.#sight.through - checkpoint;
  }

  /** Whether so few are missing that an answer waits for them. */
  isEnough(checkpoint: number): boolean {
    return this.lack(checkpoint) <= this.#options.behind_max;
  }

  /** How long a read may still wait for more than that. */
  restMs(): number {
    return Math.max(0, (this.#sight?.patientUntilMs ?? 0) - this.#nowMs());
  }
}
