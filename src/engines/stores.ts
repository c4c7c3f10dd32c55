// Which engine serves an address: a registry, in which the first match counts. PostgreSQL's is loaded when it is first needed,
// since it brings a driver.

import { Fault } from "../model/fault.js";
import { isDatabaseAddress, isServerAddress, type StoreFiles, storeFiles } from "../model/store-location.js";
import { memoryEngine } from "./memory/store.js";
import type { Store, StoreEngine, StoreOptions } from "./port.js";
import { sqliteEngine } from "./sqlite/store.js";

interface EngineRow {
  serves(address: string): boolean;
  load(): Promise<StoreEngine>;
}

const engines: readonly EngineRow[] = [
  { serves: isInProcess, load: async () => memoryEngine },
  { serves: isDatabaseAddress, load: async () => (await import("./postgres/store.js")).postgresEngine },
  { serves: isServerAddress, load: refuseServer },
  // Everything else is a path.
  { serves: () => true, load: async () => sqliteEngine },
];

/** A server's store is used over HTTP. Maintenance of the store itself runs where the store is. */
async function refuseServer(): Promise<never> {
  throw new Fault("store_unsuitable", "this is not available against a remote server", {
    hint: "Run it on the server's machine, with --data set to the folder or database of the record.",
  });
}

export async function openStore(options: StoreOptions): Promise<Store> {
  const row = engines.find(({ serves }) => serves(options.address)) as EngineRow;
  return (await row.load()).open(options);
}

/** Whether there is an engine for this address; anything else is a path. */
export function isServed(address: string): boolean {
  const isAddress = isInProcess(address) || isDatabaseAddress(address) || isServerAddress(address);
  return isAddress || !/^[a-z][a-z0-9+.-]*:\/\//i.test(address);
}

/** Whether a store exists only as long as the program that opened it. */
export function isInProcess(address: string): boolean {
  return address === "memory:";
}

/** The files of a store in a folder; undefined for other stores. */
export function filesOf(address: string): StoreFiles | undefined {
  const isAddress = isInProcess(address) || isDatabaseAddress(address) || isServerAddress(address);
  return isAddress ? undefined : storeFiles(address);
}
