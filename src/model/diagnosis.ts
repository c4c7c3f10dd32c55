// What the doctor finds: each check in plain words, and what to do about it.

export interface Finding {
  readonly level: "ok" | "warn" | "fail";
  /** What was looked at. */
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
    | "compact"
    | "rebuild";
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string;
}

export interface Diagnosis {
  /** False where anything fails; warnings are not failures. */
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}
