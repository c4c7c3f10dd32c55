// What the log records about itself: who did something that has to be accountable, and which bodies were erased.

import { Fault } from "../model/fault.js";
import type { GroupCommit } from "./capture/group-commit.js";
import type { WriteContext } from "./capture/pack.js";
import { packOwn } from "./capture/pack.js";

/** Everything that has to be accountable; whatever is added is named here. */
type AuditAction = "export" | "forget" | "key_created" | "key_revoked" | "log_accepted" | "verdict";

export interface AuditNote {
  readonly action: AuditAction;
  /** Who did it, as far as is known: a key's name, a user's. */
  readonly actor: string;
  /** What it was done to. It outlives what is forgotten, so that it never holds recorded text. */
  readonly target: string;
  /** Where several calls are one deed, which is written down once. */
  readonly id?: string | undefined;
}

/** Appends an audit entry, and returns once it is on disk. */
export async function recordAudit(
  parts: { readonly commit: Pick<GroupCommit, "append">; readonly surroundings: WriteContext },
  { id, ...note }: AuditNote,
): Promise<void> {
  const { entry } = packOwn("audit", note, parts.surroundings, { id });
  const outcome = await parts.commit.append([entry]);
  if ("placed" in outcome || id !== undefined) return;
  throw new Fault("store_failed", "an id that was just made is taken", { hint: "Try again." });
}

/**
 * Pieces of an export, which is written down before the first of them is handed out. It has begun by then, so that the
 * entry about it is no part of it. A store that cannot be written is exported all the same: its owner may need just that,
 * and is told that nothing says so in the record.
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
