// The conformance suite on a real PostgreSQL.
import { describeEntryIndex, describeEntryLog } from "../../src/conformance.js";
import { Connections } from "../../src/engines/postgres/connection.js";
import { PostgresIndex } from "../../src/engines/postgres/index.js";
import { PostgresLog } from "../../src/engines/postgres/log.js";
import { storeAddress } from "../support/postgres.js";

const postgres = { engine: "postgres" };

describeEntryLog(postgres, async (store) => PostgresLog.open(await connect(store)));
describeEntryIndex(postgres, async (store) => PostgresIndex.open(await connect(store)));

async function connect(store: string): Promise<Connections> {
  return Connections.open({ address: await storeAddress(store), wait_ms: 0 });
}
