// What the recorder's calls take: an option that does not exist is refused, with the one that was meant.

import { exportInput } from "../export/exports.js";
import type { ImportOptions } from "../import/import-files.js";
import type { RetentionOptions, ScrubOptions } from "../log/forgetting/forget-requests.js";
import type { SealKeepingOptions } from "../log/seals/sealing.js";
import type { LearningOptions } from "../memories/background/learning.js";
import { optionNames } from "../model/options.js";
import type { Seal } from "../model/verification.js";
import { tailInput } from "../reading/tail/tail-query.js";

export interface VerifyOptions {
  /** A seal, or its text. */
  readonly against?: Seal | string | undefined;
}

export interface AcceptLogOptions {
  /** Who accepts it, for the record: `person` by default. */
  readonly actor?: string | undefined;
}

export interface RebuildIndexOptions {
  readonly onProgress?: ((position: number) => void) | undefined;
}

/** What the calls that are no operations take. */
export const optionTables = {
  tail: Object.keys(tailInput),
  export: [...Object.keys(exportInput), "actor", "onUnaudited"],
  import: optionNames<ImportOptions>({
    format: true,
    timezone: true,
    as_new: true,
    stdin: true,
    onProgress: true,
    onFile: true,
  }),
  verify: optionNames<VerifyOptions>({ against: true }),
  retain: optionNames<RetentionOptions>({ rules: true, dry_run: true, actor: true }),
  scrub: optionNames<ScrubOptions>({ reason: true, dry_run: true, actor: true }),
  acceptLog: optionNames<AcceptLogOptions>({ actor: true }),
  keepSeals: optionNames<SealKeepingOptions>({ every_ms: true, onTrouble: true }),
  learn: optionNames<LearningOptions>({
    onTrouble: true,
    gather_ms: true,
    model: true,
    daily_tokens: true,
    look_ms: true,
  }),
  rebuildIndex: optionNames<RebuildIndexOptions>({ onProgress: true }),
};
