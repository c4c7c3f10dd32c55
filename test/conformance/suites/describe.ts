// The suites as tests for Vitest, one for each port.
import { describe, test } from "vitest";
import type { KeyStore } from "../../../src/guard/keys.js";
import type { EntryIndex } from "../../../src/index/port.js";
import type { EntryLog } from "../../../src/log/port.js";
import type { Leases } from "../../../src/model/lease.js";
import { entryIndexChecks } from "./entry-index.js";
import { entryLogChecks } from "./entry-log.js";
import { keyStoreChecks } from "./key-store.js";
import { leaseChecks } from "./leases.js";
import { type Check, type Closable, type Engine, type OpenStore, proveLack, runCheck } from "./suite.js";

export function describeEntryLog(engine: Engine, open: OpenStore<EntryLog>): void {
  describeChecks({ port: "EntryLog", engine, open, checks: entryLogChecks });
}

export function describeEntryIndex(engine: Engine, open: OpenStore<EntryIndex>): void {
  describeChecks({ port: "EntryIndex", engine, open, checks: entryIndexChecks });
}

export function describeKeyStore(engine: Engine, open: OpenStore<KeyStore>): void {
  describeChecks({ port: "KeyStore", engine, open, checks: keyStoreChecks });
}

export function describeLeases(engine: Engine, open: OpenStore<Leases>): void {
  describeChecks({ port: "Leases", engine, open, checks: leaseChecks });
}

function describeChecks<T extends Closable>(suite: {
  readonly port: string;
  readonly engine: Engine;
  readonly open: OpenStore<T>;
  readonly checks: readonly Check<T>[];
}): void {
  const { engine, open } = suite;
  describe(`${suite.port}: ${engine.name ?? engine.engine}`, () => {
    for (const check of suite.checks) {
      const lack = check.needs === undefined ? undefined : engine.lacks?.[check.needs];
      if (lack === undefined) test(check.behaviour, () => runCheck({ check, engine, open }));
      else
        test(`lacks ${check.needs} (${lack}), so this fails: ${check.behaviour}`, () =>
          proveLack({ check, engine, open }));
    }
  });
}
