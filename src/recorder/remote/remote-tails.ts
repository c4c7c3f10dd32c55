// Tails through a server: its events as they come, resumed after a broken connection.
import { setTimeout as pause } from "node:timers/promises";
import { defaultRetry, retryDelay } from "../../../client/retry.js";
import { Fault } from "../../model/fault.js";
import { RecorderError } from "../../model/rejection.js";
import type { TailRead, TailRow } from "../../reading/tail/read-tail.js";
import { Tail, type TailWindow } from "../../reading/tail/tail.js";
import type { TailFilter, TailOptions, TailQuery } from "../../reading/tail/tail-query.js";
import { type ServerConnection, wholeParts } from "./server-connection.js";

/** The buffer of a slow reader; when it is full the connection waits. */
const ROWS_MAX = 1_000;

export class RemoteTails {
  readonly #server: ServerConnection;
  readonly #open = new Set<Tail>();

  constructor(server: ServerConnection) {
    this.#server = server;
  }

  open({ after }: TailQuery, { after: _, ...given }: TailOptions): Tail {
    const window = new RemoteTail(this.#server, { after, given, onLeave: (tail) => this.#open.delete(tail) });
    const tail = new Tail({ start: window.start, filter: undefined, window });
    this.#open.add(tail);
    return tail;
  }

  close(): void {
    for (const tail of [...this.#open]) void tail.return();
  }
}

interface RemoteTailOptions extends Pick<TailQuery, "after"> {
  readonly given: Omit<TailOptions, "after">;
  readonly onLeave: (tail: Tail) => void;
}

class RemoteTail implements TailWindow {
  /** The position it starts after. */
  readonly start: Promise<number>;
  readonly isFresh = true;
  readonly #server: ServerConnection;
  readonly #given: RemoteTailOptions["given"];
  readonly #onLeave: RemoteTailOptions["onLeave"];
  readonly #stop = new AbortController();
  #rows: TailRow[] = [];
  #last: string | undefined;
  #failure: unknown;
  #failures = 0;
  #wasHeard = false;
  #waiting: (() => void)[] = [];
  #started: (position: number) => void = () => undefined;
  #refused: (reason: unknown) => void = () => undefined;

  constructor(server: ServerConnection, { after, given, onLeave }: RemoteTailOptions) {
    this.#server = server;
    this.#given = given;
    this.#onLeave = onLeave;
    this.#last = after === undefined ? undefined : String(after);
    this.start = new Promise((resolve, reject) => {
      this.#started = resolve;
      this.#refused = reject;
    });
    // Callers that never ask where it started see a failure at the next entry.
    this.start.catch(() => undefined);
    void this.#follow();
  }

  pull(_after: number, _filter: TailFilter | undefined): TailRead | undefined {
    const rows = this.#rows;
    if (rows.length === 0 && this.#failure !== undefined) throw this.#failure;
    if (rows.length === 0) return undefined;
    this.#rows = [];
    this.#wake();
    return { rows, through: (rows.at(-1) as TailRow).position, isFull: false };
  }

  async wait(_tail: Tail): Promise<void> {
    while (this.#rows.length === 0 && this.#failure === undefined && !this.#stop.signal.aborted) await this.#change();
  }

  async applyRedactions(): Promise<void> {}

  leave(tail: Tail): void {
    this.#onLeave(tail);
    this.#stop.abort();
    this.#wake();
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await this.#listen();
      } catch (error) {
        // Retried if the server was reached before; not if it refuses, or was never reached.
        if (!(this.#wasHeard && isPassing(error))) return this.#fail(error);
      }
      // A caller that waits for entries keeps the program alive, also without a connection.
      const ms = retryDelay(this.#failures, defaultRetry);
      this.#failures += 1;
      await pause(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
    this.#refused(this.#stop.signal.reason);
  }

  #fail(error: unknown): void {
    this.#failure = error;
    this.#refused(error);
    this.#wake();
  }

  async #listen(): Promise<void> {
    const query = { ...this.#given, after: this.#last };
    const answer = await this.#server.open("/tail", { query, signal: this.#stop.signal });
    this.#wasHeard = true;
    this.#failures = 0;
    if (this.#last !== undefined) this.#started(Number(this.#last));
    for await (const events of wholeParts(answer.body, "\n\n")) {
      // What comes after the last separator is an incomplete event.
      for (const event of events.split("\n\n").slice(0, -1)) this.#take(event);
      this.#wake();
      while (this.#rows.length > ROWS_MAX && !this.#stop.signal.aborted) await this.#change();
    }
  }

  #take(event: string): void {
    const lines = event.split("\n");
    const id = lines.find((line) => line.startsWith("id: "))?.slice(4);
    const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
    if (id === undefined) return;
    if (this.#last === undefined) this.#started(data === undefined ? Number(id) : Number(id) - 1);
    this.#last = id;
    // Filters also know state of this process.
    const nothing = { kind: "", session_id: "", project: "", client: "", references: [] };
    if (data !== undefined) this.#rows.push({ ...nothing, position: Number(id), json: Buffer.from(data) });
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

/** A server that is unreachable, busy or starting, or a proxy in front of it with its own status. */
function isPassing(error: unknown): boolean {
  return error instanceof Fault || (error instanceof RecorderError && error.code === "rate_exceeded");
}
