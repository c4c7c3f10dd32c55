// A store in memory: gone when it is closed, and only for whoever opened it.
import { fixedIndex } from "../../index/index-holder.js";
import type { Store, StoreEngine } from "../port.js";
import { MemoryIndex } from "./index.js";
import { MemoryKeys } from "./keys.js";
import { MemoryLeases } from "./leases.js";
import { MemoryLog } from "./log.js";

export const memoryEngine: StoreEngine = {
  engine: "memory",
  async open(): Promise<Store> {
    const [log, index, keys] = [new MemoryLog(), fixedIndex(new MemoryIndex()), new MemoryKeys()];
    return {
      log: async () => log,
      index: async () => index,
      keys: async () => keys,
      leases: () => new MemoryLeases(),
      close: async () => undefined,
    };
  },
};
