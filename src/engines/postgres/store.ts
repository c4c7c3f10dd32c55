// Opens a store on PostgreSQL: its log, its index, word of growth from other servers, and the lease of who fills the index.
import { shownPlace } from "../../model/data-address.js";
import { Fault } from "../../model/fault.js";
import { leaseOf, type NamedLease } from "../../ports/lease.js";
import { Connections } from "./connection.js";
import { Growth } from "./growth.js";
import { PostgresIndex } from "./index.js";
import { PostgresKeys } from "./keys.js";
import { PostgresLeases } from "./leases.js";
import { PostgresLog } from "./log.js";
import { versionOf } from "./migrations.js";

export interface PostgresStore {
  readonly log: PostgresLog;
  readonly index: PostgresIndex;
  readonly growth: Growth;
  readonly leases: PostgresLeases;
  /** Who fills the index in the background. Nothing depends on it: a read brings the index up to date by itself. */
  readonly lease: NamedLease;
  readonly keys: PostgresKeys;
}

export interface StoreOptions {
  readonly address: string;
  /** Whether tables are made in a database that has none. */
  readonly create: boolean;
  /** How long a database that is not there yet is waited for. */
  readonly wait_ms?: number;
}

const WAIT_MS = 30_000;

export async function openPostgres({ address, create, wait_ms = WAIT_MS }: StoreOptions): Promise<PostgresStore> {
  const connections = await Connections.open({ address, wait_ms });
  try {
    if (!create && (await versionOf(connections, "log")) === 0) throw notThere(address);
    // The index first: what makes a database unsuitable shows there, and then nothing was recorded yet.
    const index = await PostgresIndex.open(connections);
    const log = await PostgresLog.open(connections);
    const keys = await PostgresKeys.open(connections);
    const leases = new PostgresLeases(connections);
    return { log, index, growth: new Growth(connections), leases, lease: leaseOf(leases, "indexer"), keys };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

function notThere(address: string): Fault {
  return new Fault("store_missing", `there is no store in ${shownPlace(address)}`, {
    hint: "Check --data or HANSARD_DATA; recording a first entry creates a store.",
  });
}
