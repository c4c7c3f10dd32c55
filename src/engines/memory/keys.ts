// Keys in memory: the executable specification.
import assert from "node:assert";
import type { KeyLookup, KeyStore, StoredKey } from "../../guard/keys.js";

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
