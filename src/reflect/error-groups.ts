// Errors grouped by what they have in common, newest first.
import type { Entry } from "../model/entry.js";
import type { Citation, Cited, ErrorGroup } from "../model/report.js";
import { citationOf, cite } from "./citations.js";
import { copyOf, excerpt, type Mask, shown } from "./excerpt.js";
import { fingerprintOf } from "./fingerprints.js";

/** So many different errors are told apart, the newest ones; later ones still count as errors. */
const GROUPS_MAX = 5_000;

interface Group {
  readonly text: string;
  readonly last_at: string;
  first_at: string;
  count: number;
  readonly cited: Citation[];
}

/** Takes errors newest first. */
export class ErrorGroups {
  readonly #groups = new Map<string, Group>();
  readonly #mask: Mask;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  add(entry: Pick<Entry, "id" | "position" | "created_at">, said: string): void {
    const fingerprint = fingerprintOf(shown(said, this.#mask));
    const known = this.#groups.get(fingerprint);
    if (known === undefined) {
      if (this.#groups.size >= GROUPS_MAX) return;
      const { created_at } = entry;
      const text = excerpt(said, this.#mask);
      const group = { text, first_at: created_at, last_at: created_at, count: 1, cited: [citationOf(entry)] };
      this.#groups.set(copyOf(fingerprint), group);
      return;
    }
    known.count += 1;
    known.first_at = entry.created_at;
    cite(known.cited, citationOf(entry));
  }

  /** The most frequent first, among equals the newest. */
  finish(): readonly Cited<ErrorGroup>[] {
    return [...this.#groups]
      .map(([fingerprint, { text, count, first_at, last_at, cited }]) => ({
        fingerprint,
        text,
        count,
        first_at,
        last_at,
        cited,
      }))
      .sort((left, right) => right.count - left.count);
  }
}
