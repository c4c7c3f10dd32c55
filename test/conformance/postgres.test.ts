// The conformance suite on a real PostgreSQL.
import { afterAll } from "vitest";
import { Connections } from "../../src/engines/postgres/driver.js";
import { PostgresIndex } from "../../src/engines/postgres/index.js";
import { PostgresLeases } from "../../src/engines/postgres/leases.js";
import { PostgresLog } from "../../src/engines/postgres/log.js";
import { storeAddress } from "../support/postgres.js";
import { describeEntryIndex, describeEntryLog, describeLeases } from "./index.js";

const postgres = { engine: "postgres" };

describeEntryLog(postgres, async (store) => PostgresLog.open(await connect(store)));
describeEntryIndex(postgres, async (store) => PostgresIndex.open(await connect(store)));

const kept: Connections[] = [];
afterAll(() => Promise.all(kept.map((connections) => connections.close())));

/** Leases share the connections of their store and leave them open. */
describeLeases(postgres, async (store) => {
  const connections = await connect(store);
  kept.push(connections);
  return new PostgresLeases(connections);
});

async function connect(store: string): Promise<Connections> {
  return Connections.open({ address: await storeAddress(store), wait_ms: 0 });
}
