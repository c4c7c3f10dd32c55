// A fault: the environment failed (disk full, store corrupt, database unreachable), not the caller's input.

export type FaultCode =
  | "disk_full"
  | "entry_corrupt"
  | "file_exists"
  | "file_not_written"
  | "overloaded"
  | "recorder_closed"
  | "seal_key_unusable"
  | "store_busy"
  | "store_corrupt"
  | "store_damaged"
  | "store_exchanged"
  | "store_failed"
  | "store_foreign"
  | "store_missing"
  | "store_newer"
  | "store_not_writable"
  | "store_refused"
  | "store_unavailable"
  | "store_unsuitable"
  | "thread_stopped";

interface FaultDetails {
  readonly code: FaultCode;
  readonly message: string;
  readonly hint: string;
}

export class Fault extends Error implements FaultDetails {
  override readonly name = "Fault";
  readonly code: FaultCode;
  readonly hint: string;

  constructor(code: FaultCode, message: string, options: { readonly hint: string; readonly cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
  }
}

export function corruptEntry(position: number, reason: string, cause?: unknown): Fault {
  return new Fault("entry_corrupt", `entry ${position}: ${reason}`, {
    hint: "Run `hansard verify` to find the first damaged position, then `hansard doctor` for what to do.",
    cause,
  });
}

export function isCorruptEntry(error: unknown): boolean {
  return error instanceof Fault && error.code === "entry_corrupt";
}

/** For calls after the recorder was closed. */
export function closedFault(): Fault {
  return new Fault("recorder_closed", "the recorder is closed", { hint: "Open it again with openRecorder()." });
}
