// Connections to one PostgreSQL: a pool of uniformly configured sessions, transactions, waiting for the server, and
// dedicated sessions.
import { setTimeout as pause } from "node:timers/promises";
import pg, { type Pool, type PoolClient, type QueryConfig } from "pg";
import { Fault } from "../../model/fault.js";
import { displayLocation } from "../../model/store-location.js";
import { isAway, toFault } from "./faults.js";

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly address: string;
  /** How long to wait for the server to come up. */
  readonly wait_ms: number;
  /** Called once with the reason if it has to wait. */
  readonly onWait?: ((fault: Fault) => void) | undefined;
  /** Upper limit of connections. */
  readonly connections_max?: number;
  /** Lock timeout. */
  readonly lock_ms?: number;
  /** Timeout for quick statements. */
  readonly quick_ms?: number;
}

/** Named statements are planned once per connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  /**
   * Takes no time except for locks and the disk. If there is no answer in time, the server is taken for gone: its
   * machine lost power, or the network is down.
   */
  readonly isQuick?: true;
}

/** Runs statements: the pool, or one session in a transaction. */
export interface Session {
  query<T>(statement: Statement, values?: readonly unknown[]): Promise<readonly T[]>;
}

const CONNECTIONS_MAX = 16;
const CONNECT_MS_MAX = 5_000;
const RETRY_MS = 200;
const LOCK_MS = 10_000;
/** Longer than the lock timeout, which has its own message. */
const QUICK_MS_MAX = 20_000;
const STATEMENT_MS_MAX = 60_000;
/** Longer than the server's own timeout: it applies only if the server vanished. */
const ANSWER_MS_MAX = 75_000;
const VERSION_LEAST = 130_000;

export class Connections implements Session {
  readonly address: string;
  readonly #pool: Pool;
  readonly #quickMs: number;

  private constructor({ address, quick_ms = QUICK_MS_MAX }: ConnectionOptions, pool: Pool) {
    this.address = address;
    this.#pool = pool;
    this.#quickMs = quick_ms;
  }

  /** Waits for the server, and throws a fault that says why it cannot be used. */
  static async open(options: ConnectionOptions): Promise<Connections> {
    const connections = new Connections(options, newPool(options));
    try {
      await connections.#waitForServer(options);
      await connections.#assertSuitable();
      return connections;
    } catch (error) {
      await connections.close();
      throw toFault(error, options.address);
    }
  }

  async query<T>(statement: Statement, values: readonly unknown[] = []): Promise<readonly T[]> {
    try {
      return await this.attempt<T>(statement, values);
    } catch (error) {
      throw toFault(error, this.address);
    }
  }

  /** Runs the work in one transaction. Throws PostgreSQL's own errors, since some are expected. */
  async transact<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    try {
      await client.query(this.#configOf(BEGIN));
      const result = await work({
        query: async <R>(statement: Statement, values: readonly unknown[] = []): Promise<readonly R[]> =>
          (await client.query<object & R>(this.#configOf(statement, values))).rows,
      });
      await client.query(this.#configOf(COMMIT));
      return result;
    } catch (error) {
      if (isAway(error)) broken = error as Error;
      // If the connection is gone, the server has rolled back itself.
      else await client.query("ROLLBACK").catch((failure: Error) => (broken = failure));
      throw error;
    } finally {
      client.release(broken ?? false);
    }
  }

  /** One statement as its own transaction; throws PostgreSQL's own errors. */
  async attempt<T>(statement: Statement, values: readonly unknown[]): Promise<readonly T[]> {
    return (await this.#pool.query<object & T>(this.#configOf(statement, values))).rows;
  }

  /** A long statement, on a connection that is closed afterwards. */
  async maintain(text: string, ms: number, lock_ms: number): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await client.query(`SET statement_timeout = ${ms}; SET lock_timeout = ${lock_ms}`);
      await client.query(withLimit({ text }, ms + ANSWER_MS_MAX));
    } finally {
      client.release(true);
    }
  }

  /** A connection for the caller alone, for listening and advisory locks. */
  async dedicate(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw toFault(error, this.address);
    }
  }

  async close(): Promise<void> {
    if (this.#pool.ended || this.#pool.ending) return;
    // Idle connections do not keep the program alive, but closing must complete.
    const awake = setInterval(() => undefined, 1_000);
    try {
      await this.#pool.end();
    } finally {
      clearInterval(awake);
    }
  }

  #configOf({ isQuick, ...statement }: Statement, values: readonly unknown[] = []): QueryConfig {
    const config = { ...statement, values: values as unknown[] };
    return isQuick === true ? withLimit(config, this.#quickMs) : config;
  }

  async #waitForServer({ wait_ms, onWait }: ConnectionOptions): Promise<void> {
    const end = performance.now() + wait_ms;
    let hasTold = false;
    for (;;) {
      try {
        await this.#pool.query("SELECT 1");
        return;
      } catch (error) {
        if (!isAway(error) || performance.now() + RETRY_MS > end) throw error;
        if (!hasTold) onWait?.(toFault(error, this.address));
        hasTold = true;
      }
      await pause(RETRY_MS);
    }
  }

  async #assertSuitable(): Promise<void> {
    const [server] = await this.query<{ readonly version: number; readonly shown: string; readonly encoding: string }>({
      text: `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS shown,
        current_setting('server_encoding') AS encoding`,
    });
    if (server === undefined) return;
    const where = displayLocation(this.address);
    if (server.version < VERSION_LEAST) {
      throw new Fault("store_unsuitable", `${where} is PostgreSQL ${server.shown}, and Hansard needs 13 or later`, {
        hint: "Upgrade the server; nothing was written to it.",
      });
    }
    if (server.encoding !== "UTF8") {
      throw new Fault("store_unsuitable", `${where} is encoded as ${server.encoding}, and Hansard needs UTF8`, {
        hint: "Create another database: CREATE DATABASE hansard TEMPLATE template0 ENCODING 'UTF8' LC_CTYPE 'C.UTF-8' LC_COLLATE 'C.UTF-8'.",
      });
    }
  }
}

const BEGIN: Statement = { text: "BEGIN", isQuick: true };
const COMMIT: Statement = { text: "COMMIT", isQuick: true };

/** The driver supports a timeout per statement, which its types lack. */
function withLimit(config: QueryConfig, ms: number): QueryConfig & { readonly query_timeout: number } {
  return { ...config, query_timeout: ms };
}

function newPool({ address, lock_ms = LOCK_MS, connections_max = CONNECTIONS_MAX }: ConnectionOptions): Pool {
  const pool = new pg.Pool({
    connectionString: address,
    max: connections_max,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    idleTimeoutMillis: 60_000,
    query_timeout: ANSWER_MS_MAX,
    keepAlive: true,
    // An idle pool does not keep the program alive.
    allowExitOnIdle: true,
    types: { getTypeParser: (oid: number) => parserOf(oid) },
    onConnect: async (client) => {
      // Idle connections report their loss here; the next user of one gets an error as well.
      client.on("error", () => undefined);
      await client.query(sessionSettings(lock_ms));
    },
  });
  pool.on("error", () => undefined);
  return pool;
}

/**
 * Configures every session the same, whatever the server's defaults. Commits wait at least for the local disk; waiting
 * for standbys stays enabled if the server has it. Locks of vanished clients are released within half a minute.
 */
function sessionSettings(lockMs: number): string {
  return `SET application_name = 'hansard'; SET client_min_messages = warning; SET timezone = 'UTC'; SET bytea_output = hex;
    SET default_transaction_isolation = 'read committed'; SET jit = off;
    SET statement_timeout = ${STATEMENT_MS_MAX}; SET lock_timeout = ${lockMs};
    SET idle_in_transaction_session_timeout = 20000;
    SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')`;
}

const INT8 = 20;
const BYTEA = 17;
const FLOAT8 = 701;
const NUMBERS = new Set([21, 23, 26, INT8, FLOAT8]);

/** Positions and milliseconds stay below 2⁵³, so a double is exact. */
function parserOf(oid: number): (text: string) => unknown {
  if (NUMBERS.has(oid)) return Number;
  if (oid === BYTEA) return (text) => Buffer.from(text.slice(2), "hex");
  if (oid === 16) return (text) => text === "t";
  return (text) => text;
}

// A dedicated session that notices when its connection is lost.

export class DedicatedSession {
  readonly #connections: Connections;
  #client: PoolClient | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  get current(): PoolClient | undefined {
    return this.#client;
  }

  async open(onLost: () => void): Promise<PoolClient> {
    const client = await this.#connections.dedicate();
    this.#client = client;
    const lost = (): void => {
      if (this.#client !== client) return;
      this.#client = undefined;
      client.release(true);
      onLost();
    };
    client.once("error", lost);
    client.once("end", lost);
    return client;
  }

  /** Keeps the program alive while a statement runs. */
  ref(): void {
    (this.#client as (PoolClient & { ref(): void }) | undefined)?.ref();
  }

  /** Lets the program end while the session is idle. */
  unref(): void {
    (this.#client as (PoolClient & { unref(): void }) | undefined)?.unref();
  }

  /** Ends the session and everything bound to it. */
  close(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.release(true);
  }
}
