// Records entries whose ids are new, and leaves out those whose ids are taken, whatever they say: for senders that repeat
// themselves, and for entries that are derived again.
import { idClaim } from "../../model/claims.js";
import { itemAt } from "../../model/item-at.js";
import type { Mask } from "../../model/mask.js";
import { Rejection } from "../../model/rejection.js";
import { TimeSlice } from "../../model/scheduling.js";
import type { EntryLog } from "../port.js";
import { type Draft, type Packed, pack, parseDraft, sharedRoom, type WriteContext } from "./draft.js";
import type { GroupCommit } from "./group-commit.js";
import { namesOthers, resolveNamed } from "./named-entries.js";
import type { RecordedHooks } from "./recorded-hooks.js";

export interface OnceInput {
  readonly input: unknown;
  /** The key that it came with, where that is not the caller's. */
  readonly recorded_by?: string | undefined;
}

/** Where an entry is, and whether it is there since now; or why it was refused. */
export type OnceOutcome = { readonly position: number; readonly is_new: boolean } | Rejection;

export class OnceWriter {
  readonly #log: EntryLog;
  readonly #commit: GroupCommit;
  readonly #writeContext: WriteContext;
  readonly #redact: Mask | undefined;
  readonly #recorded: RecordedHooks | undefined;

  constructor(parts: {
    readonly log: EntryLog;
    readonly commit: GroupCommit;
    readonly writeContext: WriteContext;
    readonly redact?: Mask | undefined;
    readonly recorded?: RecordedHooks | undefined;
  }) {
    this.#log = parts.log;
    this.#commit = parts.commit;
    this.#writeContext = parts.writeContext;
    this.#redact = parts.redact;
    this.#recorded = parts.recorded;
  }

  /** Every input needs an id. New entries are appended together, in order; one that is refused keeps no other back. */
  async record(inputs: readonly OnceInput[]): Promise<readonly OnceOutcome[]> {
    const slice = new TimeSlice();
    const outcomes: (OnceOutcome | undefined)[] = [];
    const drafts = await this.#parse(inputs, outcomes, slice);
    const room = sharedRoom();
    const firstById = new Map<string, number>();
    const packed = new Map<number, Packed>();
    for (const [at, draft] of drafts) {
      const first = firstById.get(draft.id as string);
      if (first !== undefined) continue;
      const { recorded_by = this.#writeContext.recorded_by } = itemAt(inputs, at);
      const item = pack(draft, { ...this.#writeContext, recorded_by }, room);
      if (item instanceof Rejection) outcomes[at] = item;
      else {
        packed.set(at, item);
        firstById.set(item.id, at);
      }
      if (slice.isOver) await slice.next();
    }
    await this.#append(packed, outcomes);
    return inputs.map((_, at): OnceOutcome => {
      const outcome = outcomes[at];
      if (outcome !== undefined) return outcome;
      // It repeats an earlier one of the same call.
      const first = outcomes[firstById.get(drafts.get(at)?.id as string) as number] as OnceOutcome;
      return first instanceof Rejection ? first : { ...first, is_new: false };
    });
  }

  async #parse(
    inputs: readonly OnceInput[],
    outcomes: (OnceOutcome | undefined)[],
    slice: TimeSlice,
  ): Promise<Map<number, Draft>> {
    const drafts = new Map<number, Draft>();
    for (const [at, { input }] of inputs.entries()) {
      const draft = parseDraft(input);
      if (draft instanceof Rejection) outcomes[at] = draft;
      else drafts.set(at, this.#redact === undefined ? draft : { ...draft, body: this.#redact.entry(draft.body) });
      if (slice.isOver) await slice.next();
    }
    // Feedback inherits labels of what it names, which may be one of these entries.
    while ([...drafts.values()].some(({ kind }) => namesOthers(kind))) {
      const places = [...drafts.keys()];
      const resolved = [...drafts.values()];
      const refused = await resolveNamed(resolved, this.#log, slice);
      if (refused === undefined) {
        for (const [nth, at] of places.entries()) drafts.set(at, itemAt(resolved, nth));
        break;
      }
      const at = itemAt(places, refused.index ?? 0);
      outcomes[at] = refused;
      drafts.delete(at);
    }
    return drafts;
  }

  /** Claims are never released, so what is taken stays taken, and the rest is tried again. */
  async #append(packed: ReadonlyMap<number, Packed>, outcomes: (OnceOutcome | undefined)[]): Promise<void> {
    let open = [...packed];
    while (open.length > 0) {
      const outcome = await this.#commit.append(open.map(([, { entry }]) => entry));
      if ("placed" in outcome) {
        for (const [nth, [at]] of open.entries()) {
          outcomes[at] = { position: itemAt(outcome.placed, nth).position, is_new: true };
        }
        this.#recorded?.tell(() =>
          open.map(([, { draft, id, created_at }], nth) => ({
            draft,
            placed: { id, created_at, position: itemAt(outcome.placed, nth).position },
          })),
        );
        return;
      }
      const gone = new Set<number>();
      for (const { item, claim, position } of outcome.taken) {
        const [at, { id }] = itemAt(open, item);
        // Any other claim that is taken means that the entry has nothing to add.
        if (!gone.has(item) || claim === idClaim(id)) outcomes[at] = { position, is_new: false };
        gone.add(item);
      }
      open = open.filter((_, nth) => !gone.has(nth));
    }
  }
}
