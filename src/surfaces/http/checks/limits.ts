// The server's load limits. Two hundred connections and sixteen busy writers are far below all of these.
import { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

export interface ServerLimits {
  /** Requests per second of one key, or of one address without a key; 0 is no limit. */
  readonly requests_per_second: number;
  readonly connections: number;
  /** How long address and headers of a request may take to arrive. */
  readonly head_ms: number;
  /** How long a whole request may take to arrive. */
  readonly request_ms: number;
  /** How long a connection is kept open without a request. */
  readonly keep_alive_ms: number;
  /** How long the reader of a long answer may stall. */
  readonly stall_ms: number;
  /** Bytes of URL and headers: room for a query of 10,000 characters in any script, percent-encoded. */
  readonly head_bytes: number;
  /** Bytes of request bodies in memory at once. */
  readonly bodies_bytes: number;
  /** How long a read may take. */
  readonly read_ms: number;
  readonly reads_running: number;
  readonly reads_waiting: number;
  /** Reads that walk the whole log. */
  readonly walks_running: number;
  readonly walks_waiting: number;
  readonly exports: number;
  readonly tails: number;
}

export const defaultLimits: ServerLimits = {
  requests_per_second: 20_000,
  connections: 2_000,
  head_ms: 15_000,
  request_ms: 60_000,
  keep_alive_ms: 72_000,
  stall_ms: 60_000,
  head_bytes: 128 * 1024,
  bodies_bytes: 96 * 1024 * 1024,
  read_ms: 10_000,
  reads_running: 8,
  reads_waiting: 1_000,
  walks_running: 2,
  walks_waiting: 16,
  exports: 8,
  tails: 1_000,
};

// Clients that request a lot and then read nothing are disconnected, so they hold neither memory nor a connection.
/** Smaller answers fit into the system's buffers, whether they are read or not. */
const LONG_CHARS = 64 * 1024;

export function cutOffStalled(app: FastifyInstance, stallMs: number): void {
  app.addHook("onSend", (_, reply, payload, done) => {
    // Without a listener for the timeout, Node closes the connection. Any traffic on it restarts the timer.
    const { socket } = reply.raw;
    if (isLong(payload) && socket instanceof Socket) socket.setTimeout(stallMs);
    done();
  });
}

function isLong(payload: unknown): boolean {
  if (typeof payload === "string" || Buffer.isBuffer(payload)) return payload.length > LONG_CHARS;
  return typeof payload === "object" && payload !== null;
}
