// Clients that ask for a lot and then read nothing: cut off, so that they hold neither memory nor a place.
import { Socket } from "node:net";
import type { FastifyInstance } from "fastify";

/** What is smaller fits into the buffers of the system, whether it is read or not. */
const LONG_CHARS = 64 * 1024;

export function cutOffStalled(app: FastifyInstance, stallMs: number): void {
  app.addHook("onSend", (_, reply, payload, done) => {
    // Nobody listens for the timeout, and then Node closes the connection. Whatever moves on it starts the time anew.
    const { socket } = reply.raw;
    if (isLong(payload) && socket instanceof Socket) socket.setTimeout(stallMs);
    done();
  });
}

function isLong(payload: unknown): boolean {
  if (typeof payload === "string" || Buffer.isBuffer(payload)) return payload.length > LONG_CHARS;
  return typeof payload === "object" && payload !== null;
}
