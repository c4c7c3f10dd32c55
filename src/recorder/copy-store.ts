// Opens two stores for `hansard copy`, on any engines, and closes them in any case.

import type { LogMode, Store } from "../engines/port.js";
import { openStore } from "../engines/stores.js";
import { type CopyOutcome, copyLog } from "../log/copy.js";
import type { EntryLog } from "../log/port.js";
import { Fault } from "../model/fault.js";

export interface CopyOptions {
  /** A folder or a `postgres://` address. */
  readonly from: string;
  readonly to: string;
  readonly onProgress?: (progress: { readonly position: number; readonly end: number }) => void;
  /** Called once per database with the reason, if it has to wait. */
  readonly onWait?: (fault: Fault) => void;
}

/** What was copied, and whether the target has keys. */
export type StoreCopied = CopyOutcome & { readonly has_keys: boolean };

export async function copyStore(options: CopyOptions): Promise<StoreCopied> {
  const from = await openLog(options.from, "read", options.onWait).catch((error: unknown) => {
    if (!(error instanceof Fault) || error.code !== "store_missing") throw error;
    throw new Fault("store_missing", error.message, { hint: "Name the folder or the address of a store with --from." });
  });
  try {
    const target = await openStore({ address: options.to, mode: "create", onWait: options.onWait });
    const to = await target.log("create");
    try {
      const { onProgress } = options;
      const outcome = await copyLog({ from, to, ...(onProgress === undefined ? {} : { onProgress }) });
      return { ...outcome, has_keys: await hasKeys(target) };
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

/** Whether a server of the store asks for a key. */
export async function hasKeys(store: Store): Promise<boolean> {
  const keys = await store.keys();
  try {
    return (await keys.list()).some(({ revoked_at }) => revoked_at === undefined);
  } finally {
    await keys.close();
  }
}

async function openLog(address: string, mode: LogMode, onWait: CopyOptions["onWait"]): Promise<EntryLog> {
  return (await openStore({ address, mode, onWait })).log(mode);
}
