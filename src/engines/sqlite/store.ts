// A store in a folder: which files it consists of, and how each of them is opened.
import { existsSync, statSync } from "node:fs";
import { Fault } from "../../model/fault.js";
import { type StoreFiles, storeFiles } from "../../model/store-files.js";
import type { Store, StoreEngine } from "../../ports/store.js";
import { SqliteIndexFile } from "./index-file.js";
import { SqliteKeys } from "./keys.js";
import { SqliteLeases } from "./leases.js";
import { SqliteLog } from "./log.js";

export const sqliteEngine: StoreEngine = {
  engine: "sqlite",
  async open({ address, mode }): Promise<Store> {
    const files = storeFiles(address);
    if (mode !== "read") refuseEmptied(files);
    return {
      files,
      log: async (logMode) => SqliteLog.open({ path: files.log, mode: logMode }),
      // It is opened by the first read that needs it, so that trouble with it harms no other.
      index: async () => new SqliteIndexFile({ path: files.index }),
      keys: async () => new SqliteKeys({ path: files.keys }),
      leases: () => new SqliteLeases({ folder: address }),
      close: async () => undefined,
    };
  },
};

/** An empty log beside an index that remembers one was lost; taking it for a new one would hide that. */
function refuseEmptied({ log, index }: StoreFiles): void {
  const sizeOf = (path: string): number | undefined => (existsSync(path) ? statSync(path).size : undefined);
  if (sizeOf(log) !== 0 || (sizeOf(index) ?? 0) === 0) return;
  throw new Fault("store_corrupt", `${log} is empty, but ${index} remembers entries`, {
    hint: "Restore log.db from a copy; to start a new log, delete both files.",
  });
}
