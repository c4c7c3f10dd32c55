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
  | {
      readonly ok: false;
      readonly position: number;
      /** In words; `cut_off` where the chain holds, but the log once held something else. */
      readonly reason: string;
      /** Where it is `cut_off`: what the log held, and who remembers it. */
      readonly known?: KnownHead;
      /** Where a part is damaged that entries share: the positions of all of them. */
      readonly holders?: readonly number[];
    }
) & {
  /** What is no proof of tampering, and still has to be known. */
  readonly warnings?: readonly "trigger_missing"[];
};

/** A position and hash that a log once had, by what was kept of it elsewhere. */
export interface KnownHead {
  readonly by: "index" | "seal";
  readonly log_id: string;
  readonly position: number;
  readonly hash: string;
}

/** What a log does not hold although it once did, and the first position at which that shows. */
export interface Contradiction {
  readonly position: number;
  readonly known: KnownHead;
}
