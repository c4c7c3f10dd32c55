// What every engine must do for keys: keep them, say of each what holds at this moment, and change nothing but to revoke.
import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";
import type { KeyStore, StoredKey } from "../../../src/guard/keys.js";
import type { Check } from "./suite.js";

const REVOKED_AT = "2026-11-15T06:39:38.000Z";
const LATER = "2027-01-01T00:00:00.000Z";

/** The first check comes first for a reason: a suite that talks to another engine than it says proves nothing. */
export const keyStoreChecks: readonly Check<KeyStore>[] = [
  {
    behaviour: "it is the engine that it claims to be",
    run: async ({ engine, open }) => {
      expect((await open()).engine).toBe(engine.engine);
    },
  },
  {
    behaviour: "a new store has no keys, and none to revoke",
    run: async ({ open }) => {
      const keys = await open();
      expect(await keys.lookUp(undefined)).toEqual({ isEmpty: true });
      expect(await keys.lookUp("a")).toEqual({ isEmpty: true });
      expect(await keys.list()).toEqual([]);
      expect(await keys.revoke("a", REVOKED_AT)).toBeUndefined();
    },
  },
  {
    behaviour: "a key reads back as it was added",
    run: async ({ open }) => {
      const keys = await open();
      const key = newKey("a", { name: "for anna — ✓", scope: "capture" });
      await keys.add(key);
      expect((await keys.list()).map(legible)).toEqual([legible(key)]);
      const { isEmpty, key: found } = await keys.lookUp("a");
      expect([isEmpty, found && legible(found)]).toEqual([false, legible(key)]);
    },
  },
  {
    behaviour: "keys are listed oldest first, then by id, including revoked ones",
    run: async ({ open }) => {
      const keys = await open();
      const [early, late] = ["2026-11-15T06:39:37.001Z", "2026-11-15T06:39:37.002Z"];
      await keys.add(newKey("d", { created_at: late }));
      await keys.add(newKey("c", { created_at: early }));
      await keys.add(newKey("a", { created_at: late }));
      await keys.add(newKey("b", { created_at: early }));
      await keys.revoke("b", REVOKED_AT);
      expect((await keys.list()).map(({ id }) => id)).toEqual(["b", "c", "a", "d"]);
    },
  },
  {
    behaviour: "an unknown id is not found, and a lookup without an id returns no key",
    run: async ({ open }) => {
      const keys = await open();
      await keys.add(newKey("a"));
      expect(await keys.lookUp("b")).toEqual({ isEmpty: false });
      expect(await keys.lookUp(undefined)).toEqual({ isEmpty: false });
      expect(await keys.revoke("b", REVOKED_AT)).toBeUndefined();
    },
  },
  {
    behaviour: "a key is revoked permanently",
    run: async ({ open }) => {
      const keys = await open();
      await keys.add(newKey("a"));
      const revoked = legible({ ...newKey("a"), revoked_at: REVOKED_AT });
      expect(legible((await keys.revoke("a", REVOKED_AT)) as StoredKey)).toEqual(revoked);
      expect(legible((await keys.revoke("a", LATER)) as StoredKey)).toEqual(revoked);
      expect((await keys.list()).map(legible)).toEqual([revoked]);
      expect((await keys.lookUp("a")).key).toMatchObject({ revoked_at: REVOKED_AT });
    },
  },
  {
    behaviour: "revoking one key does not change the others, and revoking the last one does not open the store",
    run: async ({ open }) => {
      const keys = await open();
      await keys.add(newKey("a"));
      await keys.add(newKey("b"));
      await keys.revoke("a", REVOKED_AT);
      expect((await keys.lookUp("b")).key).not.toHaveProperty("revoked_at");
      await keys.revoke("b", REVOKED_AT);
      expect(await keys.lookUp("c")).toEqual({ isEmpty: false });
    },
  },
  {
    behaviour: "a key is never replaced by another with the same id, even a revoked one",
    run: async ({ open }) => {
      const keys = await open();
      await keys.add(newKey("a"));
      await expect(keys.add(newKey("a", { scope: "admin" }))).rejects.toThrow();
      expect((await keys.lookUp("a")).key).toMatchObject({ scope: "review" });
      await keys.revoke("a", REVOKED_AT);
      await expect(keys.add(newKey("a"))).rejects.toThrow();
      expect((await keys.lookUp("a")).key).toMatchObject({ revoked_at: REVOKED_AT });
    },
  },
  {
    behaviour: "concurrent lookups each get their own key",
    run: async ({ open }) => {
      const keys = await open();
      const ids = Array.from({ length: 20 }, (_, nth) => `k${nth}`);
      await Promise.all(ids.map((id) => keys.add(newKey(id))));
      const found = await Promise.all([...ids, "none"].map((id) => keys.lookUp(id)));
      expect(found.map(({ key }) => key?.id)).toEqual([...ids, undefined]);
    },
  },
  {
    behaviour: "another store does not see them",
    run: async ({ open, openOther }) => {
      const [keys, other] = [await open(), await openOther()];
      await keys.add(newKey("a"));
      expect(await other.lookUp("a")).toEqual({ isEmpty: true });
    },
  },
  {
    behaviour: "keys survive reopening the store, and revoked ones stay revoked",
    needs: "durable",
    run: async ({ open }) => {
      const first = await open();
      await first.add(newKey("a"));
      await first.add(newKey("b"));
      await first.revoke("b", REVOKED_AT);
      await first.close();
      const again = await open();
      const expected = [newKey("a"), { ...newKey("b"), revoked_at: REVOKED_AT }];
      expect((await again.list()).map(legible)).toEqual(expected.map(legible));
    },
  },
  {
    behaviour: "the other instance sees added and revoked keys at once",
    needs: "shared",
    run: async ({ open }) => {
      const [one, other] = [await open(), await open()];
      expect(await other.lookUp("a")).toEqual({ isEmpty: true });
      await one.add(newKey("a"));
      // Another process's answer takes a turn of the event loop at least.
      await setImmediate();
      expect(await other.lookUp("a")).toMatchObject({ isEmpty: false, key: { id: "a", scope: "review" } });
      expect(await other.lookUp("b")).toEqual({ isEmpty: false });
      expect(await other.lookUp(undefined)).toEqual({ isEmpty: false });
      await one.revoke("a", REVOKED_AT);
      expect((await other.lookUp("a")).key).toMatchObject({ revoked_at: REVOKED_AT });
      expect(await other.revoke("a", LATER)).toMatchObject({ revoked_at: REVOKED_AT });
      await expect(other.add(newKey("a"))).rejects.toThrow();
    },
  },
];

function newKey(id: string, given: Partial<StoredKey> = {}): StoredKey {
  const hash = new Uint8Array(32).fill(id.length);
  return { id, scope: "review", name: `for ${id}`, hash, created_at: "2026-11-15T06:39:37.001Z", ...given };
}

/** Engines give bytes as whatever their drivers make of them. */
function legible({ hash, ...key }: StoredKey): object {
  return { ...key, hash: Buffer.from(hash).toString("hex") };
}
