// What leads to the entries of a walk, asked for many positions at once: an engine may look at every claim for each question.
import type { EntryLog, KeptClaims } from "./port.js";

/** At some 250 bytes a claim, and few looks at all claims of a long log. */
const POSITIONS = 200_000;

export class ClaimsAhead {
  readonly #log: Pick<EntryLog, "head" | "keptClaims">;
  #claims: KeptClaims = new Map();
  #through = 0;

  constructor(log: Pick<EntryLog, "head" | "keptClaims">) {
    this.#log = log;
  }

  /** The claims that lead to an entry; positions come in rising order. */
  async of(position: number): Promise<readonly string[]> {
    if (position > this.#through) {
      // Never beyond the end: what comes later takes its claims later.
      this.#through = Math.min((await this.#log.head()).position, position + POSITIONS);
      this.#claims = await this.#log.keptClaims({ after: position - 1, through: this.#through });
    }
    return this.#claims.get(position) ?? [];
  }
}
