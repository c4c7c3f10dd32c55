// An index engine without transactions, which keeps to the rule of `apply`: one process applies at a time, under a lease.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { MemoryIndex } from "../../src/engines/memory/index.js";
import { MemoryLog } from "../../src/engines/memory/log.js";
import { SqliteLeases } from "../../src/engines/sqlite/leases.js";
import { Indexer } from "../../src/index/indexer.js";
import type { IndexBatch } from "../../src/index/port.js";
import type { LogEntry } from "../../src/log/port.js";
import type { Leases } from "../../src/model/lease.js";
import { folderOfTest } from "../support/temporary-folder.js";

test("if the engine lets one process apply at a time, a read waits for the lease without polling", async () => {
  const folder = folderOfTest();
  const [own, others] = [new SqliteLeases({ folder }), new SqliteLeases({ folder })];
  onTestFinished(async () => {
    await Promise.all([own.close(), others.close()]);
  });
  const leased = new LeasedIndex(own);
  const log = new MemoryLog();
  await log.append([[1, 2, 3].map(newEntry)]);
  expect(await others.hold("apply")).toBe(true);
  const caughtUp = new Indexer({ log, index: leased }).catchUp();
  await sleep(100);
  expect(await leased.checkpoint()).toBe(0);
  expect(leased.passedOver).toBeGreaterThan(0);
  expect(leased.passedOver).toBeLessThan(50);
  await others.release("apply");
  await caughtUp;
  expect(await leased.checkpoint()).toBe(3);
  expect(await others.hold("apply")).toBe(true);
});

/** As an engine without transactions does it, by the rule of `apply`. */
class LeasedIndex extends MemoryIndex {
  passedOver = 0;
  readonly #leases: Leases;

  constructor(leases: Leases) {
    super();
    this.#leases = leases;
  }

  override async apply(batch: IndexBatch): Promise<boolean> {
    if (!(await this.#leases.hold("apply"))) {
      this.passedOver += 1;
      return false;
    }
    try {
      return await super.apply(batch);
    } finally {
      await this.#leases.release("apply");
    }
  }
}

function newEntry(nth: number): LogEntry {
  const body = Buffer.from(JSON.stringify({ id: `e-${nth}`, error: "e" }));
  const recorded_at = "2026-11-15T00:00:00.000Z";
  return { kind: "error", recorded_at, recorded_by: "", salt: new Uint8Array(16), body, claims: [`id:e-${nth}`] };
}
