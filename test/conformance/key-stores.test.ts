// The conformance suite of keys on every engine, and what the databases themselves refuse.
import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MemoryKeys } from "../../src/engines/memory/store.js";
import { Connections } from "../../src/engines/postgres/driver.js";
import { PostgresKeys } from "../../src/engines/postgres/keys.js";
import { Database } from "../../src/engines/sqlite/driver.js";
import { SqliteKeys } from "../../src/engines/sqlite/keys.js";
import type { StoredKey } from "../../src/guard/keys.js";
import { databaseOfTest, storeAddress } from "../support/postgres.js";
import { folderOfFile, folderOfTest } from "../support/temporary-folder.js";
import { describeKeyStore } from "./index.js";

const folder = folderOfFile();

const memory = {
  engine: "memory",
  lacks: {
    durable: "it lives in memory and goes with the process",
    shared: "every instance has keys of its own",
  },
};

describeKeyStore(memory, async () => new MemoryKeys());
describeKeyStore({ engine: "sqlite" }, async (store) => new SqliteKeys({ path: join(folder, store, "keys.db") }));
describeKeyStore({ engine: "postgres" }, async (store) => {
  const connections = await Connections.open({ address: await storeAddress(store), wait_ms: 0 });
  // In a recorder the log closes the connections; here the test does.
  return Object.assign(await PostgresKeys.open(connections), { close: () => connections.close() });
});

const newKey = (id: string): StoredKey => ({
  id,
  scope: "review",
  name: `for ${id}`,
  hash: new Uint8Array(32),
  created_at: "2026-11-15T06:39:37.001Z",
});

test("the key file is created with the first key, readable by its owner only", async () => {
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

test("the databases refuse any change of a key except revoking it", async () => {
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
