// Audit entries: who did something accountable, such as exporting or forgetting.

import type { REPLACED } from "../model/body.js";
import { Fault } from "../model/fault.js";
import type { JsonObject } from "../model/json.js";
import { packOwn, type WriteContext } from "./capture/draft.js";
import type { GroupCommit } from "./capture/group-commit.js";

/** All accountable actions. */
type AuditAction =
  | ("export" | "forget" | "held_back" | "key_created" | "key_revoked" | "log_accepted" | "verdict")
  | typeof REPLACED;

export interface AuditNote {
  readonly action: AuditAction;
  /** The name of a key or user, if known. */
  readonly actor: string;
  /** What it was done to. It outlives forgotten entries, so it must not contain recorded text. */
  readonly target: string;
  readonly extra?: JsonObject;
  /** Set if several calls are one action, which is recorded once. */
  readonly id?: string | undefined;
}

/** Appends an audit entry, and returns once it is on disk. */
export async function recordAudit(
  parts: { readonly commit: Pick<GroupCommit, "append">; readonly writeContext: WriteContext },
  { id, ...note }: AuditNote,
): Promise<void> {
  const { entry } = packOwn("audit", note, parts.writeContext, { id });
  const outcome = await parts.commit.append([entry]);
  if ("placed" in outcome || id !== undefined) return;
  throw new Fault("store_failed", "a newly generated id is already taken", { hint: "Try again." });
}

/**
 * Records an export before its first piece is handed out. The export has begun by then, so it does not contain this
 * entry. A store that cannot be written is exported anyway, since its owner may need just that; the caller learns
 * that the export is not audited.
 */
export async function* audited(
  pieces: AsyncGenerator<string>,
  note: () => Promise<void>,
  onUnaudited: (fault: Fault) => void = () => undefined,
): AsyncGenerator<string, void, undefined> {
  try {
    const first = await pieces.next();
    await note().catch((error: unknown) => {
      if (!(error instanceof Fault) || !UNWRITABLE.has(error.code)) throw error;
      onUnaudited(error);
    });
    if (first.done !== true) yield first.value;
    yield* pieces;
  } finally {
    await pieces.return(undefined);
  }
}

const UNWRITABLE: ReadonlySet<string> = new Set(["store_not_writable", "store_exchanged", "disk_full"]);
