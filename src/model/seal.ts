// The form of a seal, as it is printed, kept elsewhere and given back.

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

/** What can be wrong with a seal while the log is as it was recorded. */
export const sealFlaws = {
  other_key: "the seal was made with another key",
  other_log: "the seal is of another log",
  signature: "the signature of the seal is wrong",
} as const;

/** Whether the reason of a verification is about the seal, and not about the log. */
export function isSealFlaw(reason: string): boolean {
  return (Object.values(sealFlaws) as readonly string[]).includes(reason);
}
