// The suite itself: faulty engines are found out, and a lack that has gone stale is an error.

import { describe, expect, test } from "vitest";
import { MemoryLog } from "../../src/engines/memory/log.js";
import type { EntryLog } from "../../src/log/port.js";
import { itemAt } from "../../src/model/item-at.js";
import { faultyDocuments } from "./faulty-documents.js";
import { faultyIndexes } from "./faulty-indexes.js";
import { faultyKeys } from "./faulty-keys.js";
import { faultyLeases, openerOf } from "./faulty-leases.js";
import { faultyLogs } from "./faulty-logs.js";
import { entryIndexChecks } from "./suites/entry-index.js";
import { entryLogChecks } from "./suites/entry-log.js";
import { keyStoreChecks } from "./suites/key-store.js";
import { leaseChecks } from "./suites/leases.js";
import { type Check, proveLack, runCheck } from "./suites/suite.js";

describe("a log with one defect fails its check:", () => {
  test.each(faultyLogs)("$Faulty.name", async ({ Faulty, breaks }) => {
    await expectBroken({ checks: entryLogChecks, breaks, open: async () => new Faulty() });
  });
});

describe("an index with one defect fails its check:", () => {
  test.each([...faultyIndexes, ...faultyDocuments])("$Faulty.name", async ({ Faulty, breaks }) => {
    await expectBroken({ checks: entryIndexChecks, breaks, open: async () => new Faulty() });
  });
});

describe("a key store with one defect fails its check:", () => {
  test.each(faultyKeys)("$Faulty.name", async ({ Faulty, breaks }) => {
    await expectBroken({ checks: keyStoreChecks, breaks, open: async () => new Faulty() });
  });
});

describe("leases with one defect fail their check:", () => {
  test.each(faultyLeases.filter(({ breaks }) => breaks !== undefined))("$Faulty.name", async ({ Faulty, breaks }) => {
    await expectBroken({ checks: leaseChecks, breaks: breaks as string, open: openerOf(Faulty) });
  });

  test("and correct ones fail none", async () => {
    const open = openerOf(itemAt(faultyLeases, 0).Faulty);
    for (const check of leaseChecks) await runCheck({ check, engine: { engine: "memory" }, open });
  });
});

test("the first check of each suite asks which engine it is", () => {
  expect(entryLogChecks[0]?.behaviour).toBe("it is the engine that it claims to be");
  expect(entryIndexChecks[0]?.behaviour).toBe("it is the engine that it claims to be");
  expect(keyStoreChecks[0]?.behaviour).toBe("it is the engine that it claims to be");
  expect(leaseChecks[0]?.behaviour).toBe("it is the engine that it claims to be");
});

describe("a check for a capability that the engine lacks", () => {
  const check = (run: () => Promise<void>): Check<EntryLog> => ({ behaviour: "it flies", needs: "durable", run });
  const parts = { engine: { engine: "memory", lacks: { durable: "no disk" } }, open: async () => new MemoryLog() };

  test("passes by failing", async () => {
    const failing = check(() => Promise.reject(new Error("it fell")));
    await expect(proveLack({ ...parts, check: failing })).resolves.toBeUndefined();
  });

  test("is an error once it passes, and names the exception to remove", async () => {
    const passing = check(async () => {});
    await expect(proveLack({ ...parts, check: passing })).rejects.toThrow(/said to lack "durable".*`lacks`/);
  });
});

test("a check closes everything it opened, even if it fails", async () => {
  let open = 0;
  class CountedLog extends MemoryLog {
    override async close(): Promise<void> {
      open -= 1;
    }
  }
  const check: Check<EntryLog> = {
    behaviour: "it fails after opening three",
    run: async (store) => {
      await store.open();
      await store.open();
      await store.openOther();
      throw new Error("on purpose");
    },
  };
  const opening = async () => {
    open += 1;
    return new CountedLog();
  };
  await expect(runCheck({ check, engine: { engine: "memory" }, open: opening })).rejects.toThrow("on purpose");
  expect(open).toBe(0);
});

async function expectBroken<T extends { close(): Promise<void> }>(parts: {
  readonly checks: readonly Check<T>[];
  readonly breaks: string;
  readonly open: (store: string) => Promise<T>;
}): Promise<void> {
  const { checks, breaks, open } = parts;
  const meant = checks.filter(({ behaviour }) => behaviour.includes(breaks));
  const runs = await Promise.allSettled(meant.map((check) => runCheck({ check, engine: { engine: "memory" }, open })));
  expect(runs.map(({ status }) => status)).toContain("rejected");
}
