// Forms that know no withdrawal hold what a reader of them would go on with, and so no message that was taken back: history
// leaves it out too. The log, and its own form, keep it.
import { asRecorded } from "../model/chain.js";
import type { Entry } from "../model/entry.js";
import { type ExportParts, readable } from "./selection.js";

const PAGE_POSITIONS = 1_000;

export class Withdrawn {
  readonly #positions: ReadonlySet<number>;
  /** Calls of messages that were taken back; what answers one of them answers nothing. */
  readonly #calls = new Set<string>();

  private constructor(positions: ReadonlySet<number>) {
    this.#positions = positions;
  }

  /** Those of one session. */
  static async in(parts: ExportParts, session_id: string): Promise<Withdrawn> {
    const withdrawn = new Set<number>();
    for (let after = 0, isMore = true; isMore; ) {
      const range = { session_id, order: "asc", limit: PAGE_POSITIONS, after, kinds: ["withdrawal"] } as const;
      const positions = await parts.sessionPositions(range);
      for (const position of positions) {
        const [stored] = await parts.log.get([position]);
        const entry = stored === undefined ? undefined : readable(asRecorded(stored));
        if (entry?.kind === "withdrawal") withdrawn.add(entry.withdraws);
      }
      after = positions.at(-1) ?? after;
      isMore = positions.length === PAGE_POSITIONS;
    }
    return new Withdrawn(withdrawn);
  }

  /** Asked of every entry in order: an id may be used again by a later call, whose result counts. */
  leavesOut(entry: Entry): boolean {
    const isWithdrawn = this.#positions.has(entry.position);
    const calls = entry.kind === "message" ? entry.tool_calls.map(({ id }) => String(id)) : [];
    for (const id of calls) {
      if (isWithdrawn) this.#calls.add(id);
      else this.#calls.delete(id);
    }
    const answers = entry.kind === "message" || entry.kind === "tool_call" ? entry.tool_call_id : "";
    return isWithdrawn || (answers !== "" && this.#calls.has(answers));
  }
}
