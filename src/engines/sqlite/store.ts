// A store in a folder: which files it consists of, and how each of them is opened.
import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { Fault } from "../../model/fault.js";
import { type StoreFiles, storeFiles } from "../../model/store-location.js";
import type { Store, StoreEngine } from "../port.js";
import { indexFilesIn, SqliteIndexFile } from "./index-file.js";
import { SqliteKeys } from "./keys.js";
import { SqliteLeases } from "./leases.js";
import { SqliteLog } from "./log.js";

export const sqliteEngine: StoreEngine = {
  engine: "sqlite",
  async open({ address, mode }): Promise<Store> {
    const files = storeFiles(address);
    if (mode !== "read") refuseLost(files, address);
    return {
      files,
      log: async (logMode) => SqliteLog.open({ path: files.log, mode: logMode }),
      // Opened by the first read, so problems with it affect nothing else.
      index: async () => new SqliteIndexFile({ path: files.index }),
      keys: async () => new SqliteKeys({ path: files.keys }),
      leases: () => new SqliteLeases({ folder: address }),
      close: async () => undefined,
    };
  },
};

/** A folder with an index or keys but no log has lost its log; starting a new one would hide that. */
function refuseLost({ log, keys }: StoreFiles, folder: string): void {
  const isMissing = !existsSync(log);
  if (!isMissing && statSync(log).size > 0) return;
  const witnesses = [...indexFilesIn(folder), ...(isMissing ? [keys] : [])];
  const witness = witnesses.find((path) => existsSync(path) && statSync(path).size > 0);
  if (witness === undefined) return;
  const [code, what] = isMissing ? (["store_damaged", "missing"] as const) : (["store_corrupt", "empty"] as const);
  throw new Fault(code, `${log} is ${what}, but ${basename(witness)} next to it shows that there was a log`, {
    hint:
      "Put log.db back from where it went, or a backup in its place with `hansard restore FILE`; " +
      "a new record is begun in another folder.",
  });
}
