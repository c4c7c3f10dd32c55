// The connections to one PostgreSQL: a pool whose sessions are all set up alike, transactions, and waiting for the server.
import { setTimeout as pause } from "node:timers/promises";
import type { Pool, PoolClient, QueryConfig } from "pg";
import { Fault } from "../../model/fault.js";
import { displayLocation } from "../../model/store-location.js";
import { isAway, toFault } from "./faults.js";

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly address: string;
  /** How long to wait for a server that is not there yet. */
  readonly wait_ms: number;
  /** Hears why, once, if it is waited for. */
  readonly onWait?: ((fault: Fault) => void) | undefined;
  /** How many connections there are at most. */
  readonly connections_max?: number;
  /** How long to wait for a lock that another transaction holds. */
  readonly lock_ms?: number;
  /** How long to wait for the answer to a quick statement. */
  readonly quick_ms?: number;
}

/** A statement with a name is planned once for each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  /**
   * Whether it takes no time but that of waiting for a lock and for the disk. A server that vanished without a word (its
   * machine lost its power, a cable was pulled) is taken for gone when such a statement gets no answer.
   */
  readonly isQuick?: true;
}

/** Something that runs statements: the pool, or one session in a transaction. */
export interface Session {
  query<T>(statement: Statement, values?: readonly unknown[]): Promise<readonly T[]>;
}

const CONNECTIONS_MAX = 16;
const CONNECT_MS_MAX = 5_000;
const RETRY_MS = 200;
const LOCK_MS = 10_000;
/** Longer than a lock is waited for, which has words of its own. */
const QUICK_MS_MAX = 20_000;
const STATEMENT_MS_MAX = 60_000;
/** Later than the server's own limit: it only ends a wait for a server that is gone without a word. */
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

  /** Waits for the server, and says in our words why it cannot be used. */
  static async open(options: ConnectionOptions): Promise<Connections> {
    const connections = new Connections(options, await newPool(options));
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

  /** Runs the work in one transaction. Errors come as PostgreSQL gave them, since some of them are answers. */
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
      // Where the connection is gone, the server has undone the transaction itself.
      else await client.query("ROLLBACK").catch((failure: Error) => (broken = failure));
      throw error;
    } finally {
      client.release(broken ?? false);
    }
  }

  /** One statement, which is a transaction of its own; errors come as PostgreSQL gave them. */
  async attempt<T>(statement: Statement, values: readonly unknown[]): Promise<readonly T[]> {
    return (await this.#pool.query<object & T>(this.#configOf(statement, values))).rows;
  }

  /** A statement that may take long, on a connection of its own, which goes with it. */
  async maintain(text: string, ms: number): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await client.query(`SET statement_timeout = ${ms}`);
      await client.query(withLimit({ text }, ms + ANSWER_MS_MAX));
    } finally {
      client.release(true);
    }
  }

  /** A connection that the caller keeps, for what lives as long as a session: listening, and advisory locks. */
  async dedicate(): Promise<PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw toFault(error, this.address);
    }
  }

  async close(): Promise<void> {
    if (this.#pool.ended || this.#pool.ending) return;
    // Idle connections keep no program alive, but whoever waits for their end must not be left behind.
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

/** The driver takes a limit for each statement, which its types do not know. */
function withLimit(config: QueryConfig, ms: number): QueryConfig & { readonly query_timeout: number } {
  return { ...config, query_timeout: ms };
}

/** The driver is loaded only where this engine is chosen. */
async function newPool({
  address,
  lock_ms = LOCK_MS,
  connections_max = CONNECTIONS_MAX,
}: ConnectionOptions): Promise<Pool> {
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({
    connectionString: address,
    max: connections_max,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    idleTimeoutMillis: 60_000,
    query_timeout: ANSWER_MS_MAX,
    keepAlive: true,
    // An idle pool keeps no program alive.
    allowExitOnIdle: true,
    types: { getTypeParser: (oid: number) => parserOf(oid) },
    onConnect: async (client) => {
      // A connection that breaks while nothing is asked of it tells so here; whoever uses it next is told as well.
      client.on("error", () => undefined);
      await client.query(sessionSettings(lock_ms));
    },
  });
  pool.on("error", () => undefined);
  return pool;
}

/**
 * Every session alike, whatever the server's defaults are. A commit waits for the disk at least; a server that is set to
 * wait for its standbys too goes on doing so. A vanished client's locks are given back within half a minute.
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

/** Positions and milliseconds stay below 2⁵³, so that a double holds them. */
function parserOf(oid: number): (text: string) => unknown {
  if (NUMBERS.has(oid)) return Number;
  if (oid === BYTEA) return (text) => Buffer.from(text.slice(2), "hex");
  if (oid === 16) return (text) => text === "t";
  return (text) => text;
}
