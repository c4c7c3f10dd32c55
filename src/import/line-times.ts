// The times of a source's records, in the form of entries.
import type { JsonValue } from "../model/json.js";
import { formatTime, isCanonicalTime, type WallClock } from "../model/time.js";
import type { SourceFacts } from "./importer.js";

/** Times of lines in order: a line without one has that of the line before, of the header or of the file. */
export class LineTimes {
  readonly #clock: WallClock;
  readonly #modified: number | undefined;
  /** The time of the last line that had one; as text, since it is rarely needed as a number. */
  #last: number | string | undefined;
  /** A record's time is needed several times. */
  #written: string | undefined;

  constructor(source: SourceFacts, known?: number | undefined) {
    this.#clock = source.clock;
    this.#modified = source.modified_ms;
    this.#last = known;
  }

  /** State for a reading that resumes later. */
  state(): number | undefined {
    return this.#lastMs();
  }

  /** Whether this is a time. */
  isTime(time: JsonValue | undefined): boolean {
    return this.#isWritten(time) || this.#clock.parse(time) !== undefined;
  }

  /** Whether `createdAt` would return the time of the file, because the source has named none so far. */
  isOfFile(time: JsonValue | undefined): boolean {
    return this.#last === undefined && this.#modified !== undefined && !this.isTime(time);
  }

  /** As fields of an entry; empty if no time is known. */
  take(time: JsonValue | undefined): { readonly created_at?: string } {
    const created_at = this.createdAt(time);
    return created_at === undefined ? {} : { created_at };
  }

  /** The same as a value. */
  createdAt(time: JsonValue | undefined): string | undefined {
    if (this.#isWritten(time)) {
      this.#last = time;
      return time;
    }
    this.#last = this.#clock.parse(time) ?? this.#last;
    const ms = this.#lastMs() ?? this.#modified;
    return ms === undefined ? undefined : formatTime(ms);
  }

  #lastMs(): number | undefined {
    return typeof this.#last === "string" ? Date.parse(this.#last) : this.#last;
  }

  /** Whether a time is in canonical form, as most in transcripts are. */
  #isWritten(time: JsonValue | undefined): time is string {
    if (typeof time !== "string") return false;
    if (time === this.#written) return true;
    if (!isCanonicalTime(time)) return false;
    this.#written = time;
    return true;
  }
}
