// Opens two stores for `hansard copy`, on whichever engines they are, and closes them whatever happens.

import type { LogMode } from "../engines/port.js";
import { openStore } from "../engines/stores.js";
import { type CopyOutcome, copyLog } from "../log/copy.js";
import type { EntryLog } from "../log/port.js";
import { Fault } from "../model/fault.js";

export type { CopyOutcome } from "../log/copy.js";

export interface CopyOptions {
  /** A folder or a `postgres://` address. */
  readonly from: string;
  readonly to: string;
  readonly onProgress?: (progress: { readonly position: number; readonly end: number }) => void;
  /** Hears why, once for each, if a database that is not there is waited for. */
  readonly onWait?: (fault: Fault) => void;
}

export async function copyStore(options: CopyOptions): Promise<CopyOutcome> {
  const from = await openLog(options.from, "read", options.onWait).catch((error: unknown) => {
    if (!(error instanceof Fault) || error.code !== "store_missing") throw error;
    throw new Fault("store_missing", error.message, { hint: "Name the folder or the address of a store with --from." });
  });
  try {
    const to = await openLog(options.to, "create", options.onWait);
    try {
      const { onProgress } = options;
      return await copyLog({ from, to, ...(onProgress === undefined ? {} : { onProgress }) });
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function openLog(address: string, mode: LogMode, onWait: CopyOptions["onWait"]): Promise<EntryLog> {
  return (await openStore({ address, mode, onWait })).log(mode);
}
