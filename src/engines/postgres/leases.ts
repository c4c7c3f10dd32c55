// Leases on a database: advisory locks of one dedicated session, kept while any lease is held. They end with the
// connection, so leases of a dead server need no takeover.
import { setTimeout as pause } from "node:timers/promises";
import type { Leases } from "../../model/lease.js";
import { type Connections, DedicatedSession } from "./driver.js";
import { toFault } from "./faults.js";

/** An unresponsive server is not waited for: the locks end with the connection. */
const RELEASE_MS_MAX = 2_000;

const KEY = "hashtextextended('hansard ' || $1 || ' ' || current_schema(), 0)";

export class PostgresLeases implements Leases {
  readonly engine = "postgres";
  readonly #connections: Connections;
  readonly #session: DedicatedSession;
  readonly #held = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(connections: Connections) {
    this.#connections = connections;
    this.#session = new DedicatedSession(connections);
  }

  hold(name: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const client = this.#session.current ?? (await this.#session.open(() => this.#held.clear()));
      this.#session.ref();
      // A session that still answers still holds its locks.
      const isHeld = this.#held.has(name);
      const text = isHeld ? "SELECT true AS held" : `SELECT pg_try_advisory_lock(${KEY}) AS held`;
      const { rows } = await client.query<{ readonly held: boolean }>(text, isHeld ? [] : [name]);
      if (rows[0]?.held === true) this.#held.add(name);
      this.#idle();
      return this.#held.has(name);
    });
  }

  release(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const client = this.#session.current;
      if (!this.#held.delete(name) || client === undefined) return;
      this.#session.ref();
      const unlocked = client.query(`SELECT pg_advisory_unlock(${KEY})`, [name]).then(() => true);
      if (await Promise.race([unlocked, pause(RELEASE_MS_MAX, false)])) this.#idle();
      else this.#closeSession();
    });
  }

  async close(): Promise<void> {
    for (const name of [...this.#held]) await this.release(name).catch(() => undefined);
    this.#closeSession();
  }

  /** A server without leases needs no connection for them. */
  #idle(): void {
    if (this.#held.size === 0) this.#session.close();
    else this.#session.unref();
  }

  #closeSession(): void {
    this.#held.clear();
    this.#session.close();
  }

  /** Serialised, because all use one session. A failure closes the session and so releases every lock. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work).catch((error: unknown) => {
      this.#closeSession();
      throw toFault(error, this.#connections.address);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
