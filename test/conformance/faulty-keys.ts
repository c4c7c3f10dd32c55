// Stores of keys that are wrong in one respect each, to show that the conformance suite notices.
import { MemoryKeys } from "../../src/engines/memory/store.js";
import type { KeyLookup, StoredKey } from "../../src/guard/keys.js";

class AnotherEngine extends MemoryKeys {
  override readonly engine = "sqlite" as never;
}

class NewestFirst extends MemoryKeys {
  override async list(): Promise<readonly StoredKey[]> {
    return [...(await super.list())].reverse();
  }
}

class InOrderOfAdding extends MemoryKeys {
  readonly #ids: string[] = [];

  override async add(key: StoredKey): Promise<void> {
    await super.add(key);
    this.#ids.push(key.id);
  }

  override async list(): Promise<readonly StoredKey[]> {
    const keys = await super.list();
    return this.#ids.flatMap((id) => keys.filter((key) => key.id === id));
  }
}

class RevokedUnlisted extends MemoryKeys {
  override async list(): Promise<readonly StoredKey[]> {
    return (await super.list()).filter(({ revoked_at }) => revoked_at === undefined);
  }
}

class OpenOnceAllAreRevoked extends MemoryKeys {
  override async lookUp(id: string | undefined): Promise<KeyLookup> {
    const isEmpty = (await this.list()).every(({ revoked_at }) => revoked_at !== undefined);
    return { ...(await super.lookUp(id)), isEmpty };
  }
}

class AnyKeyForNone extends MemoryKeys {
  override async lookUp(id: string | undefined): Promise<KeyLookup> {
    return super.lookUp(id ?? (await this.list())[0]?.id);
  }
}

/** The last to look up is answered for all. */
class SharedLookups extends MemoryKeys {
  #asked: string | undefined;

  override async lookUp(id: string | undefined): Promise<KeyLookup> {
    this.#asked = id;
    await Promise.resolve();
    return super.lookUp(this.#asked);
  }
}

class AddedOverOthers extends MemoryKeys {
  readonly #replaced = new Map<string, StoredKey>();

  override async add(key: StoredKey): Promise<void> {
    await super.add(key).catch(() => this.#replaced.set(key.id, key));
  }

  override async lookUp(id: string | undefined): Promise<KeyLookup> {
    const key = this.#replaced.get(id ?? "");
    return key === undefined ? super.lookUp(id) : { isEmpty: false, key };
  }
}

class RevokedAnew extends MemoryKeys {
  override async revoke(id: string, at: string): Promise<StoredKey | undefined> {
    const key = await super.revoke(id, at);
    return key === undefined ? undefined : { ...key, revoked_at: at };
  }
}

class RevokedTogether extends MemoryKeys {
  override async revoke(id: string, at: string): Promise<StoredKey | undefined> {
    for (const key of await super.list()) if (key.id !== id) await super.revoke(key.id, at);
    return super.revoke(id, at);
  }
}

class AsciiNames extends MemoryKeys {
  override add(key: StoredKey): Promise<void> {
    return super.add({ ...key, name: Buffer.from(key.name, "ascii").toString("ascii") });
  }
}

const common = new MemoryKeys();

class OneForAllStores extends MemoryKeys {
  override add(key: StoredKey): Promise<void> {
    return common.add(key);
  }

  override lookUp(id: string | undefined): Promise<KeyLookup> {
    return common.lookUp(id);
  }
}

export const faultyKeys: readonly { readonly Faulty: new () => MemoryKeys; readonly breaks: string }[] = [
  { Faulty: AnotherEngine, breaks: "the engine that it claims to be" },
  { Faulty: NewestFirst, breaks: "keys are listed oldest first" },
  { Faulty: InOrderOfAdding, breaks: "keys are listed oldest first" },
  { Faulty: RevokedUnlisted, breaks: "including revoked ones" },
  { Faulty: OpenOnceAllAreRevoked, breaks: "revoking the last one does not open the store" },
  { Faulty: AnyKeyForNone, breaks: "a lookup without an id returns no key" },
  { Faulty: SharedLookups, breaks: "each get their own" },
  { Faulty: AddedOverOthers, breaks: "a key is never replaced" },
  { Faulty: RevokedAnew, breaks: "a key is revoked permanently" },
  { Faulty: RevokedTogether, breaks: "revoking one key does not change the others" },
  { Faulty: AsciiNames, breaks: "reads back as it was added" },
  { Faulty: OneForAllStores, breaks: "another store" },
];
