// Which engine serves an address, as a registry: the first row that knows it. An engine is loaded when it is first needed.
import { isDatabaseAddress } from "./model/data-address.js";
import { type StoreFiles, storeFiles } from "./model/store-files.js";
import type { Store, StoreEngine, StoreOptions } from "./ports/store.js";

interface EngineRow {
  serves(address: string): boolean;
  load(): Promise<StoreEngine>;
}

const engines: readonly EngineRow[] = [
  { serves: isInProcess, load: async () => (await import("./engines/memory/store.js")).memoryEngine },
  { serves: isDatabaseAddress, load: async () => (await import("./engines/postgres/store.js")).postgresEngine },
  // Everything else is a path.
  { serves: () => true, load: async () => (await import("./engines/sqlite/store.js")).sqliteEngine },
];

export async function openStore(options: StoreOptions): Promise<Store> {
  const row = engines.find(({ serves }) => serves(options.address)) as EngineRow;
  return (await row.load()).open(options);
}

/** Whether there is an engine for this address; what looks like none is a path. */
export function isServed(address: string): boolean {
  return isInProcess(address) || isDatabaseAddress(address) || !/^[a-z][a-z0-9+.-]*:\/\//i.test(address);
}

/** Whether a store lives and dies with whoever opened it. */
export function isInProcess(address: string): boolean {
  return address === "memory:";
}

/** The files of a store that is a folder; undefined where it is kept otherwise. */
export function filesOf(address: string): StoreFiles | undefined {
  return isInProcess(address) || isDatabaseAddress(address) ? undefined : storeFiles(address);
}
