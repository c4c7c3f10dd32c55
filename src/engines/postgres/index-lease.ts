// Who fills the index in the background: whichever server holds this lock, so that not all of them do the same work.
//
// Nothing depends on it. A read brings the index up to date by itself, batch by batch under the lock of the checkpoint, and
// the lock of a server that is gone goes with its connection.
import type { Connections } from "./connection.js";
import { SessionHolder } from "./session-holder.js";

const TRY_SQL = "SELECT pg_try_advisory_lock(hashtextextended('hansard indexer ' || current_schema(), 0)) AS held";

export class IndexLease {
  readonly #session: SessionHolder;
  #isHeld = false;

  constructor(connections: Connections) {
    this.#session = new SessionHolder(connections);
  }

  /** Whether this server holds it, after trying to take it. */
  async hold(): Promise<boolean> {
    if (this.#isHeld) return true;
    const lost = (): void => {
      this.#isHeld = false;
    };
    const client = this.#session.current ?? (await this.#session.open(lost));
    const { rows } = await client.query<{ readonly held: boolean }>(TRY_SQL);
    this.#isHeld = rows[0]?.held === true;
    // A server that waits its turn needs no connection for it.
    if (this.#isHeld) this.#session.rest();
    else this.#session.close();
    return this.#isHeld;
  }

  close(): void {
    this.#isHeld = false;
    this.#session.close();
  }
}
