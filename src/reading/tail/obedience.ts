// Obeying redactions: whoever keeps entries for a while learns here what was erased since, whichever process erased it.

import type { EntryLog, StoredBody } from "../../log/port.js";
import { namedIn, parseBodyText } from "../../model/body.js";
import { Fault } from "../../model/fault.js";
export type ObeyedLog = Pick<EntryLog, "head" | "redactionsAfter" | "getBodies">;

export interface Keeper {
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

export class Obedience {
  readonly #log: ObeyedLog;
  readonly #keeper: Keeper;
  /** Redactions through this position were obeyed. */
  #through = 0;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** How often there was word of growth, and how often there had been when it was last looked. */
  #words = 0;
  #wordsKnown = 0;
  #looking: Promise<void> | undefined;

  constructor(log: ObeyedLog, keeper: Keeper) {
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
