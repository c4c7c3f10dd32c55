// Decisions followed by errors: those after which, in the same session and soon, something went wrong.
import type { Entry } from "../model/entry.js";
import type { Citation, Cited, DecisionReport } from "../model/report.js";
import { citationOf } from "./citations.js";
import { excerpt, type Mask } from "./excerpt.js";
import { failureOf } from "./said.js";

/** So many entries of the session after a decision are looked at, and none beyond its next decision. */
const ENTRIES_AFTER = 10;
const DECISIONS_KEPT = 100;

/** Takes entries newest first, so that what follows a decision is known when the decision comes. */
export class FollowedDecisions {
  /** Of each session the errors among the entries that were added last, nearest last. */
  readonly #afterBySession = new Map<string, (Citation | undefined)[]>();
  readonly #found: Cited<DecisionReport>[] = [];
  readonly #mask: Mask;
  #count = 0;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  /** All there are; `finish` gives the newest. */
  get count(): number {
    return this.#count;
  }

  add(entry: Entry): void {
    const session = sessionOf(entry);
    if (entry.kind === "decision") {
      const errors = (this.#afterBySession.get(session) ?? []).filter((citation) => citation !== undefined).reverse();
      this.#afterBySession.delete(session);
      if (errors.length === 0) return;
      this.#count += 1;
      if (this.#found.length >= DECISIONS_KEPT) return;
      const { id, position, session_id, created_at } = entry;
      this.#found.push({
        id,
        position,
        session_id,
        created_at,
        decision: excerpt(entry.decision, this.#mask),
        errors: errors.length,
        cited: [citationOf(entry), ...errors],
      });
      return;
    }
    const after = this.#afterBySession.get(session) ?? [];
    after.push(failureOf(entry) === undefined ? undefined : citationOf(entry));
    if (after.length > ENTRIES_AFTER) after.shift();
    this.#afterBySession.set(session, after);
  }

  finish(): readonly Cited<DecisionReport>[] {
    return this.#found;
  }
}

/** Entries without a session belong together where they come from the same client and project. */
function sessionOf({ session_id, project, client }: Entry): string {
  return session_id === "" ? JSON.stringify([project, client]) : `:${session_id}`;
}
