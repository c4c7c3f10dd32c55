// Answers of checks: verification of the chain, seals, and the findings of doctor.

export type Verification = (
  | {
      readonly ok: true;
      readonly entries: number;
      readonly erased: number;
      readonly position: number;
      readonly hash: string;
      /** If a seal was given: what it says, and by which key. */
      readonly seal?: { readonly position: number; readonly sealed_at: string; readonly public_key: string };
    }
  /** Position 0 stands for the log as a whole. */
  | {
      readonly ok: false;
      readonly position: number;
      /** In words; `cut_off` if the chain is intact, but the log once contained more. */
      readonly reason: string;
      /** If it is `cut_off`: what the log contained, and what shows it. */
      readonly known?: KnownHead;
      /** If a part that several entries share is damaged: the positions of all of them. */
      readonly holders?: readonly number[];
    }
) & {
  /** Findings that do not prove tampering, but matter. */
  readonly warnings?: readonly "trigger_missing"[];
};

/** A position and hash that a log once had, as recorded elsewhere. */
export interface KnownHead {
  readonly by: "index" | "seal";
  readonly log_id: string;
  readonly position: number;
  readonly hash: string;
}

/** What a log no longer contains, and the first position at which that shows. */
export interface Contradiction {
  readonly position: number;
  readonly known: KnownHead;
}

/** A seal as it is printed, kept elsewhere and given back. */
export interface Seal {
  readonly hansard_seal: 1;
  readonly log_id: string;
  readonly position: number;
  /** Hash of the entry at that position. */
  readonly hash: string;
  readonly sealed_at: string;
  /** The 32 bytes of the Ed25519 key that signed it, in hexadecimal. */
  readonly public_key: string;
  readonly signature: string;
}

/** What can be wrong with a seal although the log is as recorded. */
export const sealFlaws = {
  other_key: "the seal was made with another key",
  other_log: "the seal is of another log",
  signature: "the signature of the seal is wrong",
} as const;

/** Whether the reason concerns the seal, not the log. */
export function isSealFlaw(reason: string): boolean {
  return (Object.values(sealFlaws) as readonly string[]).includes(reason);
}

/** A finding of doctor: a check in plain words, and what to do about it. */
export interface Finding {
  readonly level: "ok" | "warn" | "fail";
  /** What was checked. */
  readonly check:
    | "node"
    | "folder"
    | "database"
    | "disk"
    | "log"
    | "lock"
    | "index"
    | "chain"
    | "evidence"
    | "clients"
    | "forgotten"
    | "compact"
    | "rebuild";
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

export interface Diagnosis {
  /** False if anything fails; warnings are not failures. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}
