// Turns as the loop reads them: an interaction with its response, or a user's message and all that follows up to the next.

import type { EntryIndex } from "../index/port.js";
import type { Entry, EntryOf } from "../model/entry.js";
import { isFromUser } from "../model/roles.js";
import { parseTime } from "../model/time.js";
import type { EntryReader } from "../search/lists/entry-reader.js";
import { saidThrough } from "./text/said-through.js";

export interface Turn {
  readonly id: string;
  readonly session_id: string;
  readonly project: string;
  readonly first: number;
  readonly last: number;
  readonly entries: readonly Entry[];
  /** Whether the user's next words are there, or more than is read of a turn. */
  readonly is_followed: boolean;
}

/** What nobody has gone on with for so long is over. */
const OVER_MS = 30 * 60 * 1000;
/** Of a longer turn the beginning is read. */
const ENTRIES_MAX = 500;
/** A few at a time, since each may be as large as an entry can be, and most turns are short. */
const READ_AT_ONCE = 8;

export class TurnReader {
  readonly #index: Pick<EntryIndex, "sessionPositions">;
  readonly #entries: Pick<EntryReader, "read" | "getById">;

  constructor(parts: {
    readonly index: Pick<EntryIndex, "sessionPositions">;
    readonly entries: Pick<EntryReader, "read" | "getById">;
  }) {
    this.#index = parts.index;
    this.#entries = parts.entries;
  }

  /** The turn that begins with this entry, as far as it has come. */
  async turn(start: Entry): Promise<Turn> {
    const { id, session_id, project, position } = start;
    const begun = { id, session_id, project, first: position };
    if (start.kind !== "message") {
      const last = await saidThrough(start, this.#entries);
      return { ...begun, last, entries: await this.#entries.read([position]), is_followed: false };
    }
    const { entries, is_followed } = await this.#following(start);
    return { ...begun, last: entries.at(-1)?.position ?? position, entries: [start, ...entries], is_followed };
  }

  /** Whether nothing more can be expected of it. */
  isOver({ entries, is_followed }: Turn, now_ms: number): boolean {
    const [start] = entries;
    const last = entries.at(-1);
    if (start === undefined || last === undefined || is_followed) return true;
    if (start.kind === "interaction" && (start.response !== "" || start.error !== "")) return true;
    return now_ms - (parseTime(last.recorded_at) ?? 0) >= OVER_MS;
  }

  /** Up to the user's next words. */
  async #following({ session_id, position }: EntryOf<"message">): Promise<Pick<Turn, "entries" | "is_followed">> {
    const range = { session_id, order: "asc", after: position, limit: ENTRIES_MAX, kinds: SPOKEN } as const;
    const positions = await this.#index.sessionPositions(range);
    const entries: Entry[] = [];
    for (let at = 0; at < positions.length; at += READ_AT_ONCE) {
      const read = await this.#entries.read(positions.slice(at, at + READ_AT_ONCE));
      const next = read.findIndex(isFromUser);
      entries.push(...(next === -1 ? read : read.slice(0, next)));
      if (next !== -1) return { entries, is_followed: true };
    }
    return { entries, is_followed: positions.length === ENTRIES_MAX };
  }
}

/** What is said and done in a turn of messages; interactions of the session are turns of their own. */
const SPOKEN = ["message", "tool_call", "error", "decision"];
