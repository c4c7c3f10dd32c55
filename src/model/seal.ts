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
