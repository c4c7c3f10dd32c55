// What leases must do on every engine: one holder at most, and none left behind.
import { expect } from "vitest";
import type { Leases } from "../../../src/model/lease.js";
import type { Check } from "./suite.js";

export const leaseChecks: readonly Check<Leases>[] = [
  {
    behaviour: "it is the engine that it claims to be",
    run: async ({ engine, open }) => {
      expect((await open()).engine).toBe(engine.engine);
    },
  },
  {
    behaviour: "a free lease can be taken, and is held for as long as requested",
    run: async ({ open }) => {
      const leases = await open();
      for (let times = 0; times < 3; times += 1) expect(await leases.hold("work")).toBe(true);
    },
  },
  {
    behaviour: "one instance can hold any number of leases",
    run: async ({ open }) => {
      const leases = await open();
      const names = ["work", "other-work", "work-other", "w"];
      expect(await Promise.all(names.map((name) => leases.hold(name)))).toEqual(names.map(() => true));
      await leases.release("work");
      expect(await leases.hold("other-work")).toBe(true);
      expect(await leases.hold("work")).toBe(true);
    },
  },
  {
    behaviour: "leases released one by one or by closing can be taken again",
    run: async ({ open }) => {
      const leases = await open();
      expect(await leases.hold("work")).toBe(true);
      await leases.release("work");
      expect(await leases.hold("work")).toBe(true);
      await leases.close();
      expect(await leases.hold("work")).toBe(true);
    },
  },
  {
    behaviour: "while one instance holds a lease, no other gets it",
    needs: "shared",
    run: async ({ open }) => {
      const [one, other, third] = [await open(), await open(), await open()];
      expect(await one.hold("work")).toBe(true);
      for (let times = 0; times < 3; times += 1) {
        expect(await Promise.all([other.hold("work"), third.hold("work")])).toEqual([false, false]);
        expect(await one.hold("work")).toBe(true);
      }
    },
  },
  {
    behaviour: "leases of other names, and of other stores, do not conflict",
    needs: "shared",
    run: async ({ open, openOther }) => {
      const [one, other, elsewhere] = [await open(), await open(), await openOther()];
      expect(await one.hold("work")).toBe(true);
      expect(await other.hold("other-work")).toBe(true);
      expect(await elsewhere.hold("work")).toBe(true);
      expect([await one.hold("other-work"), await other.hold("work")]).toEqual([false, false]);
    },
  },
  {
    behaviour: "a released lease is free for the next",
    needs: "shared",
    run: async ({ open }) => {
      const [one, other] = [await open(), await open()];
      expect(await one.hold("work")).toBe(true);
      expect(await one.hold("more")).toBe(true);
      await one.release("work");
      expect(await other.hold("work")).toBe(true);
      expect(await one.hold("work")).toBe(false);
      expect(await other.hold("more")).toBe(false);
      expect(await one.hold("more")).toBe(true);
      await one.close();
      expect(await other.hold("more")).toBe(true);
    },
  },
  {
    behaviour: "only its holder can release a lease",
    needs: "shared",
    run: async ({ open }) => {
      const [one, other, third] = [await open(), await open(), await open()];
      await other.release("work");
      expect(await one.hold("work")).toBe(true);
      await other.release("work");
      await other.close();
      expect(await third.hold("work")).toBe(false);
      expect(await one.hold("work")).toBe(true);
    },
  },
  {
    behaviour: "of many concurrent requests exactly one gets the lease",
    needs: "shared",
    run: async ({ open }) => {
      const all = await Promise.all(Array.from({ length: 6 }, () => open()));
      let holders = 0;
      for (let times = 0; times < 50 && holders === 0; times += 1) {
        const held = await Promise.all(all.map((leases) => leases.hold("work")));
        holders = held.filter(Boolean).length;
        expect(holders).toBeLessThanOrEqual(1);
      }
      expect(holders).toBe(1);
    },
  },
];
