// The pace of large loads: lists of entries come in faster than they can be indexed, and whoever searched right after them
// would wait for all that is left. So a load waits now and then until the index has nearly caught up; single captures never do.
import type { Recorder } from "../../../recorder/recorder.js";

/** As many are indexed in about a tenth of a second. */
const LOOK_ENTRIES = 2_000;

export class LoadPace {
  readonly #keepUp: () => Promise<void>;
  #entries = 0;

  constructor(vitals: Pick<Recorder["vitals"], "keepUp">) {
    this.#keepUp = () => vitals.keepUp();
  }

  /** Called after entries were recorded; what fails in the index is for reads to report. */
  async recorded(entries: number): Promise<void> {
    if (entries < 2) return;
    this.#entries += entries;
    if (this.#entries < LOOK_ENTRIES) return;
    this.#entries = 0;
    await this.#keepUp().catch(() => undefined);
  }
}
