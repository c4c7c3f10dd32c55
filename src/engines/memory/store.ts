// A store in memory, for tests and `memory:`: visible only to the program that opened it, and gone when it is closed.

import assert from "node:assert";
import type { KeyLookup, KeyStore, StoredKey } from "../../guard/keys.js";
import { fixedIndex } from "../../index/index-holder.js";
import type { Leases } from "../../model/lease.js";
import type { Store, StoreEngine } from "../port.js";
import { MemoryIndex } from "./index.js";
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

/** @internal Exported for tests. */
export class MemoryLeases implements Leases {
  readonly engine = "memory";

  async hold(): Promise<boolean> {
    return true;
  }

  async release(): Promise<void> {}

  async close(): Promise<void> {}
}

/** @internal Exported for tests. */
export class MemoryKeys implements KeyStore {
  readonly engine = "memory";
  readonly #keysById = new Map<string, StoredKey>();

  async add(key: StoredKey): Promise<void> {
    assert(!this.#keysById.has(key.id), "an id is never taken twice");
    this.#keysById.set(key.id, key);
  }

  async list(): Promise<readonly StoredKey[]> {
    return [...this.#keysById.values()].sort(
      (left, right) => compare(left.created_at, right.created_at) || compare(left.id, right.id),
    );
  }

  async revoke(id: string, at: string): Promise<StoredKey | undefined> {
    const key = this.#keysById.get(id);
    if (key === undefined || key.revoked_at !== undefined) return key;
    const revoked = { ...key, revoked_at: at };
    this.#keysById.set(id, revoked);
    return revoked;
  }

  async lookUp(id: string | undefined): Promise<KeyLookup> {
    const key = id === undefined ? undefined : this.#keysById.get(id);
    return { isEmpty: this.#keysById.size === 0, ...(key === undefined ? {} : { key }) };
  }

  async close(): Promise<void> {}
}

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}
