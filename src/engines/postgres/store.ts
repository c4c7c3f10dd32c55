// Opens a store on PostgreSQL: its log, its index, word of growth from other servers, and the leases of the servers that share it.

import { fixedIndex } from "../../index/index-holder.js";
import { Fault } from "../../model/fault.js";
import { displayLocation } from "../../model/store-location.js";
import type { Store, StoreEngine } from "../port.js";
import { Connections } from "./connection.js";
import { Growth } from "./growth.js";
import { PostgresIndex } from "./index.js";
import { PostgresKeys } from "./keys.js";
import { PostgresLeases } from "./leases.js";
import { PostgresLog } from "./log.js";
import { versionOf } from "./migrations.js";

const WAIT_MS = 30_000;
/** A server captures, looks up keys and listens with these … */
const CAPTURING_MAX = 8;
/** … and has eight reads and two walks at once, and two sessions that are kept, in a thread of its own. */
const READING_MAX = 12;

export interface PostgresStore {
  readonly log: PostgresLog;
  readonly index: PostgresIndex;
  readonly growth: Growth;
  readonly leases: PostgresLeases;
  readonly keys: PostgresKeys;
}

export const postgresEngine: StoreEngine = {
  engine: "postgres",
  async open({ address, mode, waits = true, onWait }): Promise<Store> {
    const { log, index, keys, growth, leases } = await openPostgres({
      address,
      create: mode === "create",
      reads_only: mode === "read",
      wait_ms: waits ? WAIT_MS : 0,
      onWait,
      connections_max: mode === "read" ? READING_MAX : CAPTURING_MAX,
    });
    const holder = fixedIndex(index);
    return {
      log: async () => log,
      index: async () => holder,
      keys: async () => keys,
      replacedIndex: index.replaced,
      growth: () => growth,
      leases: () => leases,
      close: () => log.close(),
    };
  },
};

interface OpenOptions {
  readonly address: string;
  /** Whether tables are made in a database that has none. */
  readonly create: boolean;
  /** Whether the log is left as it is, triggers that are missing included. */
  readonly reads_only?: boolean;
  /** How long a database that is not there yet is waited for. */
  readonly wait_ms?: number;
  readonly onWait?: ((fault: Fault) => void) | undefined;
  readonly connections_max?: number;
}

export async function openPostgres({
  create,
  reads_only = false,
  wait_ms = WAIT_MS,
  ...options
}: OpenOptions): Promise<PostgresStore> {
  const { address } = options;
  const connections = await Connections.open({ ...options, wait_ms });
  try {
    if (!create && (await versionOf(connections, "log")) === 0) throw notThere(address);
    // The index first: what makes a database unsuitable shows there, and then nothing was recorded yet.
    const index = await PostgresIndex.open(connections);
    const log = await PostgresLog.open(connections, { reads_only });
    const keys = await PostgresKeys.open(connections);
    const leases = new PostgresLeases(connections);
    return { log, index, growth: new Growth(connections), leases, keys };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

function notThere(address: string): Fault {
  return new Fault("store_missing", `there is no store in ${displayLocation(address)}`, {
    hint: "Check --data or HANSARD_DATA; recording a first entry creates a store.",
  });
}
