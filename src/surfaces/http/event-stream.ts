// A tail as server-sent events: heartbeats where nothing happens, and bytes that listeners at the end of the log share.
import { Readable } from "node:stream";
import type { Recorder } from "../../recorder/recorder.js";

type Tail = ReturnType<Recorder["tail"]>;
type Rows = NonNullable<Awaited<ReturnType<Tail["nextRows"]>>>;

/** How soon a client that was cut off should come back. */
const RETRY_MS = 1_000;
/** Proxies give up on connections that say nothing for half a minute or more. */
const HEARTBEAT_MS = 15_000;
const EVENT_END = Buffer.from("\n\n");

/** A tail as a stream of events. It pulls only when the connection has taken what was sent before. */
export class EventStream extends Readable {
  readonly #tail: Tail;
  readonly #encode: (rows: Rows) => Buffer;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #isAdmitted: () => Promise<boolean>;
  #told: number;
  #isPulling = false;

  constructor(options: {
    readonly tail: Tail;
    readonly start: number;
    /** Whether the client does not know yet where it starts. */
    readonly isFromNow: boolean;
    readonly encode: (rows: Rows) => Buffer;
    readonly heartbeat_ms?: number;
    /** Whether the client may still see what comes: its key may be revoked while it listens. */
    readonly isAdmitted?: () => Promise<boolean>;
  }) {
    super({ highWaterMark: 1 });
    this.#tail = options.tail;
    this.#told = options.start;
    this.#encode = options.encode;
    this.#isAdmitted = options.isAdmitted ?? (async () => true);
    const beat = (): void => {
      this.#beat().catch((error: Error) => this.destroy(error));
    };
    this.#heartbeat = setInterval(beat, options.heartbeat_ms ?? HEARTBEAT_MS).unref();
    // An id without data is no event, but a client that is cut off before its first one comes back with it.
    this.push(`retry: ${RETRY_MS}\n${options.isFromNow ? `id: ${this.#told}\n` : ""}\n`);
  }

  /** Ends the response in order. */
  end(): void {
    void this.#tail.return();
    if (!this.#isPulling) this.push(null);
  }

  override _read(): void {
    if (this.#isPulling) return;
    this.#isPulling = true;
    this.#pull().catch((error: Error) => this.destroy(error));
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearInterval(this.#heartbeat);
    void this.#tail.return();
    done(error);
  }

  async #pull(): Promise<void> {
    const rows = await this.#tail.nextRows();
    const isAdmitted = await this.#isAdmitted();
    this.#isPulling = false;
    if (this.destroyed || this.readableEnded) return;
    if (!isAdmitted) {
      this.end();
      return;
    }
    if (rows !== undefined) this.#told = rows.at(-1)?.position ?? this.#told;
    this.push(rows === undefined ? null : this.#encode(rows));
  }

  /** Says that the connection lives, and how far a filter has looked, so that nobody has to look there again. */
  async #beat(): Promise<void> {
    if (!(await this.#isAdmitted())) {
      this.end();
      return;
    }
    // Only while it waits for entries: others are on their way otherwise, and say the same.
    if (!this.#isPulling || this.readableLength > 0) return;
    const { position } = this.#tail;
    const hasMoved = Number.isFinite(position) && position > this.#told;
    if (hasMoved) this.#told = position;
    this.push(hasMoved ? `id: ${position}\n\n` : ":\n\n");
  }
}

/** Rows as events. Listeners at the end of the log share their rows, and so the bytes made of them. */
export function eventEncoder(): (rows: Rows) => Buffer {
  const bytesByRows = new WeakMap<Rows, Buffer>();
  return (rows) => {
    const known = bytesByRows.get(rows);
    if (known !== undefined) return known;
    const parts = rows.flatMap(({ position, json }) => [Buffer.from(`id: ${position}\ndata: `), json, EVENT_END]);
    const bytes = Buffer.concat(parts);
    bytesByRows.set(rows, bytes);
    return bytes;
  };
}
