// A connection kept for what lives as long as a session, and the knowledge of whether it is still there.
import type { PoolClient } from "pg";
import type { Connections } from "./connection.js";

export class SessionHolder {
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

  /** From now on something is asked of it, which the program waits for. */
  wake(): void {
    (this.#client as (PoolClient & { ref(): void }) | undefined)?.ref();
  }

  /** From now on it only waits, perhaps for years, which must keep no program from ending. */
  rest(): void {
    (this.#client as (PoolClient & { unref(): void }) | undefined)?.unref();
  }

  /** Ends the session, and with it whatever lived in it. */
  close(): void {
    const client = this.#client;
    this.#client = undefined;
    client?.release(true);
  }
}
