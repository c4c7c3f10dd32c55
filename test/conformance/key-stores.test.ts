// Keys on every engine: what one process does, the others see at once, and nothing but a revocation changes a key.
import { statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryKeys } from "../../src/engines/memory/keys.js";
import { Connections } from "../../src/engines/postgres/connection.js";
import { PostgresKeys } from "../../src/engines/postgres/keys.js";
import { SqliteKeys } from "../../src/engines/sqlite/keys.js";
import type { KeyStore, StoredKey } from "../../src/ports/key-store.js";
import { databaseOfTest } from "../support/postgres.js";
import { folderOfTest } from "../support/temporary-folder.js";

interface Engine {
  readonly engine: string;
  /** Stores as two processes would open them; in memory there is only the one. */
  readonly open: () => Promise<readonly [KeyStore, KeyStore]>;
}

const engines: readonly Engine[] = [
  {
    engine: "memory",
    open: async () => {
      const store = new MemoryKeys();
      return [store, store];
    },
  },
  {
    engine: "sqlite",
    open: async () => {
      const path = join(folderOfTest(), "keys.db");
      return [new SqliteKeys({ path }), new SqliteKeys({ path })];
    },
  },
  {
    engine: "postgres",
    open: async () => {
      const address = await databaseOfTest();
      const connections = [
        await Connections.open({ address, wait_ms: 0 }),
        await Connections.open({ address, wait_ms: 0 }),
      ];
      onTestFinished(async () => {
        for (const each of connections) await each.close();
      });
      const [one, other] = await Promise.all(connections.map((each) => PostgresKeys.open(each)));
      return [one as KeyStore, other as KeyStore];
    },
  },
];

const newKey = (id: string): StoredKey => ({
  id,
  scope: "review",
  name: `for ${id} — ✓`,
  hash: new Uint8Array(32).fill(id.length),
  created_at: `2026-11-15T06:39:37.00${id.length}Z`,
});

describe.each(engines)("keys on $engine", ({ engine, open }) => {
  async function openBoth(): Promise<readonly [KeyStore, KeyStore]> {
    const stores = await open();
    onTestFinished(async () => {
      for (const store of stores) await store.close();
    });
    return stores;
  }

  test("are kept by the engine that was meant", async () => {
    expect((await openBoth())[0].engine).toBe(engine);
  });

  test("are none at first", async () => {
    const [store] = await openBoth();
    expect(await store.lookUp(undefined)).toEqual({ isEmpty: true });
    expect(await store.lookUp("a")).toEqual({ isEmpty: true });
    expect(await store.list()).toEqual([]);
    expect(await store.revoke("a", "2026-11-15T06:39:38.000Z")).toBeUndefined();
  });

  test("are seen by another process as soon as they are there", async () => {
    const [one, other] = await openBoth();
    expect(await other.lookUp("a")).toEqual({ isEmpty: true });
    await one.add(newKey("a"));
    // Another process's answer takes a turn of the event loop at least.
    await setImmediate();
    expect(await other.lookUp("a")).toMatchObject({ isEmpty: false, key: { id: "a", scope: "review" } });
    expect(await other.lookUp("b")).toEqual({ isEmpty: false });
    expect(await other.lookUp(undefined)).toEqual({ isEmpty: false });
  });

  test("read back as they were added, the oldest first", async () => {
    const [store] = await openBoth();
    await store.add(newKey("aa"));
    await store.add(newKey("b"));
    const keys = (await store.list()).map((key) => ({ ...key, hash: new Uint8Array(key.hash) }));
    const expected = engine === "memory" ? ["aa", "b"] : ["b", "aa"];
    expect(keys).toEqual(expected.map(newKey));
  });

  test("that were revoked are so for everybody, once and for all", async () => {
    const [one, other] = await openBoth();
    await one.add(newKey("a"));
    expect(await one.revoke("a", "2026-11-15T06:39:38.000Z")).toMatchObject({ revoked_at: "2026-11-15T06:39:38.000Z" });
    expect((await other.lookUp("a")).key).toMatchObject({ revoked_at: "2026-11-15T06:39:38.000Z" });
    expect(await other.revoke("a", "2027-01-01T00:00:00.000Z")).toMatchObject({
      revoked_at: "2026-11-15T06:39:38.000Z",
    });
    expect(await one.lookUp("b")).toEqual({ isEmpty: false });
  });

  test("are not replaced by another of the same id", async () => {
    const [store] = await openBoth();
    await store.add(newKey("a"));
    await expect(store.add({ ...newKey("a"), scope: "admin" })).rejects.toThrow();
    expect((await store.lookUp("a")).key).toMatchObject({ scope: "review" });
  });

  test("are looked up by many at once, each getting its own", async () => {
    const [one, other] = await openBoth();
    const ids = Array.from({ length: 20 }, (_, nth) => `k${nth}`);
    await Promise.all(ids.map((id) => one.add(newKey(id))));
    const found = await Promise.all(ids.map((id) => other.lookUp(id)));
    expect(found.map(({ key }) => key?.id)).toEqual(ids);
  });
});

test("the file of the keys is made with the first of them, for its owner alone", async () => {
  const path = join(folderOfTest(), "store", "keys.db");
  const store = new SqliteKeys({ path });
  onTestFinished(() => store.close());
  await store.lookUp("a");
  await store.list();
  expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined();
  await store.add(newKey("a"));
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
});

test("the databases refuse to change a key in any other way than to revoke it", async () => {
  const path = join(folderOfTest(), "keys.db");
  const store = new SqliteKeys({ path });
  onTestFinished(() => store.close());
  await store.add(newKey("a"));
  await store.add(newKey("b"));
  await store.revoke("b", "2026-11-15T06:39:38.000Z");
  const db = new Database(path);
  onTestFinished(() => void db.close());
  const address = await databaseOfTest();
  const connections = await Connections.open({ address, wait_ms: 0 });
  onTestFinished(() => connections.close());
  const shared = await PostgresKeys.open(connections);
  await shared.add(newKey("a"));
  await shared.add(newKey("b"));
  await shared.revoke("b", "2026-11-15T06:39:38.000Z");
  for (const change of [
    "SET scope = 'admin' WHERE id = 'a'",
    "SET scope = 'admin', revoked_at = 'now' WHERE id = 'a'",
    "SET id = 'c', revoked_at = 'now' WHERE id = 'a'",
    "SET revoked_at = NULL WHERE id = 'b'",
  ]) {
    expect(() => db.exec(`UPDATE keys ${change}`), change).toThrow("only be revoked");
    await expect(connections.query({ text: `UPDATE hansard_keys ${change}` }), change).rejects.toThrow();
  }
  expect(() => db.exec("DELETE FROM keys")).toThrow("not deleted");
  expect(() => db.exec("INSERT OR REPLACE INTO keys SELECT * FROM keys")).toThrow("never replaced");
  await expect(connections.query({ text: "DELETE FROM hansard_keys" })).rejects.toThrow();
  await expect(connections.query({ text: "TRUNCATE hansard_keys" })).rejects.toThrow();
});
