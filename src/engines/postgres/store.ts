// A store on PostgreSQL: log, index, keys, leases, and notifications from other servers.

import { fixedIndex } from "../../index/index-holder.js";
import { Fault } from "../../model/fault.js";
import { displayLocation } from "../../model/store-location.js";
import type { Store, StoreEngine } from "../port.js";
import { Connections, DedicatedSession } from "./driver.js";
import { PostgresIndex } from "./index.js";
import { PostgresKeys } from "./keys.js";
import { PostgresLeases } from "./leases.js";
import { PostgresLog } from "./log.js";
import { GROWTH_CHANNEL } from "./log-rows.js";
import { versionOf } from "./migrations.js";

const WAIT_MS = 30_000;
/** For capture, key lookups and listening … */
const CAPTURING_MAX = 8;
/** … and, in the read thread, for eight reads, two walks and two dedicated sessions. */
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
  /** Whether to create tables in an empty database. */
  readonly create: boolean;
  /** Whether to leave the log as it is, including missing triggers. */
  readonly reads_only?: boolean;
  /** How long to wait for the database to come up. */
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
    // The index first: an unsuitable database shows there, before anything is recorded.
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

// Notifies this server when any server on the database has appended. A missed notification only costs time: followers
// continue from a position and poll the head.
/** Short commands end before a connection is worth it. */
const START_MS = 300;
const RETRY_MS = 1_000;

class Growth {
  readonly #session: DedicatedSession;
  #onGrown: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(connections: Connections) {
    this.#session = new DedicatedSession(connections);
  }

  listen(onGrown: () => void): void {
    this.#onGrown = onGrown;
    this.#startIn(START_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#onGrown = undefined;
    this.#session.close();
  }

  #startIn(ms: number): void {
    if (this.#onGrown === undefined) return;
    this.#timer = setTimeout(() => void this.#start(), ms).unref();
  }

  async #start(): Promise<void> {
    try {
      const client = await this.#session.open(() => this.#startIn(RETRY_MS));
      client.on("notification", () => this.#onGrown?.());
      await client.query(`LISTEN ${GROWTH_CHANNEL}`);
      if (this.#onGrown === undefined) return this.#session.close();
      this.#session.unref();
      // Growth during the gap is not notified again.
      this.#onGrown();
    } catch {
      this.#session.close();
      this.#startIn(RETRY_MS);
    }
  }
}
