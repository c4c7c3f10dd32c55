// The answers of everything that forgets.
import { Type } from "typebox";
import { type AnswerOf, counts, named, text } from "../../model/schema.js";
import type { RetentionRule } from "./retention.js";
import type { SecretFinding } from "./scrubbing.js";

/** What went, or would go. */
export type Forgotten = AnswerOf<typeof forgotten>;
export const forgotten = named(
  "Forgetting",
  Type.Object({
    dry_run: Type.Boolean(),
    entries: Type.Integer({ description: "How many entries lost their bodies, or would." }),
    by_kind: counts,
    positions: Type.Array(Type.Integer(), { description: "In order." }),
    redaction: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      description: "Position of the entry that names them, the first where there are several; null in a dry run.",
    }),
    left: Type.Array(text, {
      description: "What is still in the store's files, in words, and when it goes; empty where nothing is.",
    }),
  }),
);

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
