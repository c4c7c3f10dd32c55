// Word from every server on the database that the log has grown. A word that is missed costs nothing but time: whoever
// follows the log goes on from a position and looks at the head now and then.
import type { Connections } from "./connection.js";
import { GROWTH_CHANNEL } from "./log-statements.js";
import { SessionHolder } from "./session-holder.js";

/** Commands are over before it is worth a connection. */
const START_MS = 300;
const RETRY_MS = 1_000;

export class Growth {
  readonly #session: SessionHolder;
  #onGrown: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(connections: Connections) {
    this.#session = new SessionHolder(connections);
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
      this.#session.rest();
      // What grew while nobody listened is not told again.
      this.#onGrown();
    } catch {
      this.#session.close();
      this.#startIn(RETRY_MS);
    }
  }
}
