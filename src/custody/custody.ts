// Custody of a record: proving that it is whole, sealing it, forgetting what has to go, and writing down who did what.
import type { GroupCommit } from "../capture/group-commit.js";
import type { Surroundings } from "../capture/pack.js";
import type { Rejection } from "../model/rejection.js";
import type { Seal } from "../model/seal.js";
import type { Verification } from "../model/verification.js";
import type { EntryLog } from "../ports/entry-log.js";
import type { Mask } from "../ports/mask.js";
import type { Asking } from "../read/questions.js";
import { type AuditNote, recordAudit } from "./audit.js";
import type { ForgetOptions } from "./forget-wish.js";
import { Forgetting } from "./forgetting.js";
import type { Forgotten, Retained, RetentionOptions, Scrubbed, ScrubOptions } from "./forgotten.js";
import type { Sealing } from "./sealing.js";

export interface CustodyParts {
  readonly log: EntryLog;
  readonly reading: Asking;
  readonly commit: GroupCommit;
  readonly surroundings: Surroundings;
  readonly sealing: Sealing;
  readonly mask: Mask;
}

export class Custody {
  readonly #parts: CustodyParts;
  readonly #forgetting: Forgetting;

  constructor(parts: CustodyParts) {
    this.#parts = parts;
    this.#forgetting = new Forgetting(parts);
  }

  async verify(against: Seal | string | undefined): Promise<Verification | Rejection> {
    const { log, reading, sealing } = this.#parts;
    const walk = async (): Promise<Verification> => {
      // Triggers that were missing are there again since this program opened the log, and whoever reads it does not know.
      const { missing } = await log.guards();
      const result = await reading.ask("verify");
      return missing.length === 0 ? result : { ...result, warnings: ["trigger_missing"] };
    };
    return against === undefined ? walk() : sealing.against(against, log, walk);
  }

  seal(): Promise<Seal> {
    const { log, sealing, surroundings } = this.#parts;
    return sealing.seal(log, surroundings.nowMs());
  }

  forget(options: ForgetOptions): Promise<Forgotten | Rejection> {
    return this.#forgetting.forget(options);
  }

  retain(options: RetentionOptions): Promise<Retained | Rejection> {
    return this.#forgetting.retain(options);
  }

  scrub(options: ScrubOptions): Promise<Scrubbed> {
    return this.#forgetting.scrub(options, this.#parts.mask);
  }

  /** Writes down what has to be accountable, and returns once it is on disk. */
  note(note: AuditNote): Promise<void> {
    return recordAudit(this.#parts, note);
  }
}
