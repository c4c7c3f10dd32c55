// What a walk through the chain says: that every entry is as it was recorded, or the first position that is not.

export type Verification = (
  | {
      readonly ok: true;
      readonly entries: number;
      readonly erased: number;
      readonly position: number;
      readonly hash: string;
      /** Where a seal was given: what it says, and by which key. */
      readonly seal?: { readonly position: number; readonly sealed_at: string; readonly public_key: string };
    }
  /** Position 0 stands for what is wrong with the log as a whole. */
  | { readonly ok: false; readonly position: number; readonly reason: string }
) & {
  /** What is no proof of tampering, and still has to be known. */
  readonly warnings?: readonly "trigger_missing"[];
};
