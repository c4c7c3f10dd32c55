// The live tail over HTTP: every new entry as a server-sent event whose id is its position, so a disconnected client
// continues exactly where it stopped.
import type { ServerResponse } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault } from "../../../model/fault.js";
import { isPositionText } from "../../../model/ids.js";
import { RecorderError } from "../../../model/rejection.js";
import { streams } from "../../../operations/streams.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { isStillAdmitted } from "../checks/callers.js";
import { readQuery } from "../checks/query.js";
import { describeInput, queryRefusals } from "../describe/describe-route.js";
import { type OpenApiOperation, refusals } from "../describe/openapi-operation.js";

const ENDING_MS_MAX = 300;
const names = Object.keys(streams.tail.input) as (keyof typeof streams.tail.input)[];

export function tailRoutes(app: FastifyInstance, recorder: Recorder): void {
  const streamByResponse = new Map<ServerResponse, EventStream>();
  const encode = eventEncoder();
  let isClosing = false;
  // A tail has no end, so closing the server ends it without waiting for clients that do not read.
  app.addHook("preClose", async () => {
    isClosing = true;
    for (const [response, stream] of streamByResponse) {
      stream.end();
      setTimeout(() => response.destroy(), ENDING_MS_MAX).unref();
    }
  });

  const config = { operation: tailOperation, need: "read", gate: "tails" } as const;
  app.get("/tail", { config, exposeHeadRoute: false }, async (request, reply) => {
    const { after, ...filters } = readQuery(request, names);
    const from = lastEventId(request) ?? after ?? "";
    const tail = recorder.tail({ ...filters, after: from });
    const start = await tail.started().catch(async (error: unknown) => {
      await tail.return();
      throw error;
    });
    if (isClosing) {
      await tail.return();
      throw new Fault("recorder_closed", "the server is closing", { hint: "Connect again in a moment." });
    }
    const isAdmitted = (): Promise<boolean> => isStillAdmitted(request, recorder.keys);
    const stream = new EventStream({ tail, start, encode, isFromNow: from === "", isAdmitted });
    streamByResponse.set(reply.raw, stream);
    reply.raw.once("close", () => streamByResponse.delete(reply.raw));
    reply.headers({ "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" });
    return reply.send(stream);
  });
}

/** A browser sends this header when it reconnects; it is newer than the `after` in its URL. */
function lastEventId(request: FastifyRequest): string | undefined {
  const id = request.headers["last-event-id"];
  if (id === undefined || id === "") return undefined;
  if (typeof id === "string" && isPositionText(id) && Number.isSafeInteger(Number(id))) return id;
  throw new RecorderError({
    code: "field_invalid",
    field: "last-event-id",
    message: "Last-Event-ID must be a position (a whole number from 0)",
    hint: "Send back the id of the last event, or leave the header out to start from now.",
  });
}

const { parameters, codes } = describeInput(streams.tail.input);

const tailOperation: OpenApiOperation = {
  operationId: "tail",
  tags: ["Entries"],
  summary: "Follow the log live",
  description:
    "Server-sent events without a name: `id` is the entry's position, `data` the entry as it was appended, on one " +
    "line. An interaction comes without the response that completes it later, which is a separate event. A client " +
    "that reconnects with `Last-Event-ID`, as browsers do, misses nothing and gets nothing twice.",
  parameters: [
    ...parameters,
    {
      name: "Last-Event-ID",
      in: "header",
      description: "Like `after`; takes precedence over it.",
      schema: { type: "string" },
    },
  ],
  responses: {
    200: {
      description: "Events, until either side closes the connection.",
      content: { "text/event-stream": { schema: { type: "string" } } },
    },
    ...refusals(...codes, ...queryRefusals, "recorder_closed"),
  },
};

// A tail as server-sent events: heartbeats while idle, and shared bytes for listeners at the end of the log.
type Tail = ReturnType<Recorder["tail"]>;
type Rows = NonNullable<Awaited<ReturnType<Tail["nextRows"]>>>;

/** How soon a disconnected client should reconnect. */
const RETRY_MS = 1_000;
/** Proxies close connections that are silent for half a minute or more. */
const HEARTBEAT_MS = 15_000;
const EVENT_END = Buffer.from("\n\n");

/**
 * A tail as a stream of events. It pulls only when the connection has taken everything sent before.
 * @internal Exported for tests.
 */
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
    /** Whether the client may still read: its key may be revoked meanwhile. */
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
    // An id without data is no event, but a client that is disconnected before its first event sends it on reconnecting.
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

  /** A keep-alive that also says how far a filter has looked, so a reconnect starts there. */
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

/**
 * Rows as events. Listeners at the end of the log share their rows, and so the bytes made of them.
 *
 * @internal Exported for tests.
 */
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
