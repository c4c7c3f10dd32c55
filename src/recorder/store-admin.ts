// What only an administrator does with a store: verify it, seal it, and forget. Every action is audited.

import { type AuditNote, recordAudit } from "../log/audit.js";
import type { WriteContext } from "../log/capture/draft.js";
import type { GroupCommit } from "../log/capture/group-commit.js";
import type {
  ForgetRequest,
  Forgotten,
  Retained,
  RetentionOptions,
  Scrubbed,
  ScrubOptions,
} from "../log/forgetting/forget-requests.js";
import { Forgetting } from "../log/forgetting/forgetting.js";
import type { EntryLog } from "../log/port.js";
import { type Sealing, SealKeeping, type SealKeepingOptions } from "../log/seals/sealing.js";
import type { Mask } from "../model/mask.js";
import { Rejection } from "../model/rejection.js";
import type { Contradiction, Seal, Verification } from "../model/verification.js";
import type { Calls } from "../operations/calls.js";

export interface StoreAdminParts {
  readonly log: EntryLog;
  readonly calls: Calls;
  readonly commit: GroupCommit;
  readonly writeContext: WriteContext;
  readonly sealing: Sealing;
  readonly mask: Mask;
}

export class StoreAdmin {
  readonly #parts: StoreAdminParts;
  readonly #forgetting: Forgetting;
  #keeping: SealKeeping | undefined;

  constructor(parts: StoreAdminParts) {
    this.#parts = parts;
    this.#forgetting = new Forgetting(parts);
  }

  /** The chain as it is, then a given seal, then everything else known about earlier states of the log. */
  async verify(against?: Seal | string): Promise<Verification | Rejection> {
    const { log, calls, sealing } = this.#parts;
    const walk = async (): Promise<Verification> => {
      // Opening the log restored missing triggers, so the reader no longer sees that they were missing.
      const { missing } = await log.guards();
      const result = await calls.verifyChain();
      return missing.length === 0 ? result : { ...result, warnings: ["trigger_missing"] };
    };
    const walked = await (against === undefined ? walk() : sealing.against(against, log, walk));
    if (walked instanceof Rejection || !walked.ok) return walked;
    const contradiction = await this.#contradiction();
    return contradiction === undefined ? walked : { ok: false, reason: "cut_off", ...contradiction };
  }

  /**
   * Accepts a truncated or replaced log, for example an older copy put back by hand: audits who did, and discards what
   * was expected before. Returns that; undefined if there was nothing.
   */
  async acceptLog(actor: string): Promise<Contradiction | undefined> {
    const { log, calls, sealing } = this.#parts;
    const contradiction = await this.#contradiction();
    if (contradiction === undefined) return undefined;
    const { log_id, position, hash } = contradiction.known;
    await this.note({ action: "log_accepted", actor, target: `${log_id} ${position} ${hash}` });
    await calls.acceptLog();
    await sealing.accept(log);
    return contradiction;
  }

  /** From now on until it is closed, the newest seal is kept next to its key. */
  async keepSeals(options: SealKeepingOptions = {}): Promise<void> {
    const { log, sealing, writeContext } = this.#parts;
    this.#keeping ??= new SealKeeping({ log, sealing, nowMs: writeContext.nowMs }, options);
    await this.#keeping.keep();
  }

  /** Whether the log was found to be truncated or replaced, by a quick check. */
  async isContradicted(): Promise<boolean> {
    if (this.#keeping?.contradiction !== undefined) return true;
    return (await this.#parts.calls.contradiction()) !== undefined;
  }

  async close(): Promise<void> {
    await this.#keeping?.close();
  }

  async #contradiction(): Promise<Contradiction | undefined> {
    const { log, calls, sealing } = this.#parts;
    return (await calls.contradiction()) ?? sealing.contradiction(log);
  }

  seal(): Promise<Seal> {
    const { log, sealing, writeContext } = this.#parts;
    return sealing.seal(log, writeContext.nowMs());
  }

  forget(request: ForgetRequest): Promise<Forgotten | Rejection> {
    return this.#forgetting.forget(request);
  }

  retain(options: RetentionOptions): Promise<Retained | Rejection> {
    return this.#forgetting.retain(options);
  }

  scrub(options: ScrubOptions): Promise<Scrubbed> {
    return this.#forgetting.scrub(options, this.#parts.mask);
  }

  /** Audits an accountable action, and returns once it is on disk. */
  note(note: AuditNote): Promise<void> {
    return recordAudit(this.#parts, note);
  }
}
