// Leases on a database: advisory locks by name, all of one session that is kept as long as any is held. They go with the
// connection, so that nothing has to be taken over from a server that is gone.
import { setTimeout as pause } from "node:timers/promises";
import type { Leases } from "../../model/lease.js";
import type { Connections } from "./connection.js";
import { toFault } from "./faults.js";
import { SessionHolder } from "./session-holder.js";

/** A server that does not answer is not waited for: the locks go with the connection. */
const RELEASE_MS_MAX = 2_000;

const KEY = "hashtextextended('hansard ' || $1 || ' ' || current_schema(), 0)";

export class PostgresLeases implements Leases {
  readonly engine = "postgres";
  readonly #connections: Connections;
  readonly #session: SessionHolder;
  readonly #held = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(connections: Connections) {
    this.#connections = connections;
    this.#session = new SessionHolder(connections);
  }

  hold(name: string): Promise<boolean> {
    return this.#inTurn(async () => {
      const client = this.#session.current ?? (await this.#session.open(() => this.#held.clear()));
      this.#session.wake();
      // A session that still answers still has its locks.
      const isHeld = this.#held.has(name);
      const text = isHeld ? "SELECT true AS held" : `SELECT pg_try_advisory_lock(${KEY}) AS held`;
      const { rows } = await client.query<{ readonly held: boolean }>(text, isHeld ? [] : [name]);
      if (rows[0]?.held === true) this.#held.add(name);
      this.#rest();
      return this.#held.has(name);
    });
  }

  release(name: string): Promise<void> {
    return this.#inTurn(async () => {
      const client = this.#session.current;
      if (!this.#held.delete(name) || client === undefined) return;
      this.#session.wake();
      const unlocked = client.query(`SELECT pg_advisory_unlock(${KEY})`, [name]).then(() => true);
      if (await Promise.race([unlocked, pause(RELEASE_MS_MAX, false)])) this.#rest();
      else this.#letGo();
    });
  }

  async close(): Promise<void> {
    for (const name of [...this.#held]) await this.release(name).catch(() => undefined);
    this.#letGo();
  }

  /** A server that waits its turn needs no connection for it. */
  #rest(): void {
    if (this.#held.size === 0) this.#session.close();
    else this.#session.rest();
  }

  #letGo(): void {
    this.#held.clear();
    this.#session.close();
  }

  /** One after the other, because they share the session. One that fails takes the session with it, and so every lock. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work).catch((error: unknown) => {
      this.#letGo();
      throw toFault(error, this.#connections.address);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }
}
