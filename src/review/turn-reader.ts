// Turns as the loop reads them: an interaction with its response, or a user's message and all that follows up to the next.
import type { Entry, EntryOf } from "../model/entry.js";
import { parseTime } from "../model/time.js";
import type { EntryIndex } from "../ports/entry-index.js";
import type { EntryReader } from "../read/entry-reader.js";
import { saidThrough } from "./said-through.js";

export interface Turn {
  readonly id: string;
  readonly session_id: string;
  readonly project: string;
  readonly first: number;
  readonly last: number;
  readonly entries: readonly Entry[];
}

/** What nobody has gone on with for so long is over. */
const OVER_MS = 30 * 60 * 1000;
/** Of a longer turn the beginning is read. */
const ENTRIES_MAX = 500;

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
    const positions = start.kind === "message" ? await this.#positions(start) : [position];
    const entries = await this.#entries.read(positions);
    const last = start.kind === "message" ? (positions.at(-1) ?? position) : await saidThrough(start, this.#entries);
    return { id, session_id, project, first: position, last, entries };
  }

  /** Whether nothing more can be expected of it. */
  async isOver(turn: Turn, now_ms: number): Promise<boolean> {
    const [start] = turn.entries;
    const last = turn.entries.at(-1);
    if (start === undefined || last === undefined) return true;
    if (start.kind === "interaction" && (start.response !== "" || start.error !== "")) return true;
    if (start.kind === "message" && (await this.#nextUser(start)) !== undefined) return true;
    return now_ms - (parseTime(last.recorded_at) ?? 0) >= OVER_MS;
  }

  async #positions(start: EntryOf<"message">): Promise<readonly number[]> {
    const { session_id, position } = start;
    const next = await this.#nextUser(start);
    const range = { session_id, order: "asc", after: position, limit: ENTRIES_MAX, kinds: SPOKEN } as const;
    const following = await this.#index.sessionPositions(range);
    return [position, ...following.filter((one) => next === undefined || one < next)];
  }

  async #nextUser({ session_id, position }: EntryOf<"message">): Promise<number | undefined> {
    const range = { session_id, order: "asc", after: position, limit: 1, kinds: ["message"], role: "user" } as const;
    return (await this.#index.sessionPositions(range))[0];
  }
}

/** What is said and done in a turn of messages; interactions of the session are turns of their own. */
const SPOKEN = ["message", "tool_call", "error", "decision"];
