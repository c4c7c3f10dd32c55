// Writes imports: many entries in order, each with its own outcome, and copies that keep their positions.
import { idClaim } from "../../model/claims.js";
import { Rejection } from "../../model/rejection.js";
import type { CopiedEntry, EntryLog } from "../port.js";
import type { Capture } from "./capture.js";
import type { GroupCommit } from "./group-commit.js";

export type ImportOutcome =
  | { readonly position: number; readonly isNew: boolean }
  /** Why it was refused. */
  | { readonly reason: string };

export class ImportWriter {
  readonly #log: EntryLog;
  readonly #capture: Capture;
  readonly #commit: GroupCommit;
  readonly #isRedacting: boolean;

  constructor(parts: {
    readonly log: EntryLog;
    readonly capture: Capture;
    readonly commit: GroupCommit;
    /** Whether entries are masked before they are stored. */
    readonly is_redacting: boolean;
  }) {
    this.#log = parts.log;
    this.#capture = parts.capture;
    this.#commit = parts.commit;
    this.#isRedacting = parts.is_redacting;
  }

  head(): Promise<{ readonly log_id: string; readonly position: number }> {
    return this.#log.head();
  }

  hintBulk(): void {
    this.#log.hintBulk?.();
  }

  async hashAt(position: number): Promise<Uint8Array | undefined> {
    const [stored] = await this.#log.get([position]);
    return stored?.hash;
  }

  async bodyAt(position: number): Promise<Uint8Array | undefined> {
    const [stored] = await this.#log.get([position]);
    return stored?.body;
  }

  /** Positions of entries by id. */
  find(ids: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.#log.find(ids.map(idClaim));
  }

  /** See `Capture.prepare`. */
  prepare(entries: readonly unknown[]): (() => Promise<readonly number[] | undefined>) | undefined {
    return this.#capture.prepare(entries);
  }

  /** Appends all valid entries, in order. A batch is all or none, so it is split at refused entries. */
  async append(entries: readonly unknown[]): Promise<readonly ImportOutcome[]> {
    const outcomes: ImportOutcome[] = [];
    let rest = entries;
    while (rest.length > 0) {
      const items = await this.#capture.append(rest);
      if (!(items instanceof Rejection)) {
        for (const { status, position } of items) outcomes.push({ position, isNew: status === "recorded" });
        break;
      }
      const refused = items.index ?? 0;
      if (refused > 0) outcomes.push(...(await this.append(rest.slice(0, refused))));
      outcomes.push({ reason: items.message });
      rest = rest.slice(refused + 1);
    }
    return outcomes;
  }

  async restore(copy: { readonly log_id: string; readonly entries: readonly CopiedEntry[] }): Promise<boolean> {
    // A copy keeps its hashes and so its bytes; entries to be masked are recorded as new ones.
    if (this.#isRedacting) return false;
    return this.#commit.restore(copy);
  }
}
