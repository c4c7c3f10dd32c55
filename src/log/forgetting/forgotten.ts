// The answers of everything that forgets.
import type { RetentionRule } from "./retention.js";
import type { SecretFinding } from "./scrubbing.js";

/** What went, or would go. */
export interface Forgotten {
  readonly dry_run: boolean;
  readonly entries: number;
  readonly by_kind: { readonly [kind: string]: number };
  /** In order. */
  readonly positions: readonly number[];
  /** Position of the entry that names them, the first where there are several; null where nothing was done. */
  readonly redaction: number | null;
  /** What could not be removed from the files yet, and when it will be; empty where nothing is left. */
  readonly left: readonly string[];
}

export interface RetentionOptions {
  readonly rules: readonly RetentionRule[];
  /** Only says what would go. */
  readonly dry_run?: boolean | undefined;
  readonly actor?: string | undefined;
}

export interface Retained {
  readonly dry_run: boolean;
  /** Each rule with what it took. */
  readonly rules: readonly (RetentionRule & Forgotten)[];
}

export interface ScrubOptions {
  readonly reason?: string | undefined;
  /** Only says what would go. */
  readonly dry_run?: boolean | undefined;
  readonly actor?: string | undefined;
}

export interface Scrubbed extends Forgotten {
  /** Entries that hold secrets; what belongs to them goes too. */
  readonly findings: readonly SecretFinding[];
}
