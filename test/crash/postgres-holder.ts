// A program that takes the head of a log, or the lease of its index, says so, and holds on to it until it is killed.
import { writeSync } from "node:fs";
import { Connections } from "../../src/engines/postgres/driver.js";
import { PostgresLeases } from "../../src/engines/postgres/leases.js";
import { lockHeadStatement } from "../../src/engines/postgres/log-rows.js";

const [address, what] = process.argv.slice(2) as [string, "head" | "lease"];
const connections = await Connections.open({ address, wait_ms: 0 });
const forEver = new Promise<never>(() => undefined);
// Nothing else keeps the program alive while it waits.
setInterval(() => undefined, 60_000);

if (what === "lease") {
  if (await new PostgresLeases(connections).hold("indexer")) writeSync(1, "held\n");
  await forEver;
} else {
  await connections.transact(async (session) => {
    await session.query(lockHeadStatement);
    writeSync(1, "held\n");
    await forEver;
  });
}
