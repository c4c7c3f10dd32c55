// JSON that lies there as bytes already, as an answer.
import type { FastifyReply } from "fastify";

export function sendJson(reply: FastifyReply, { buffer, byteOffset, byteLength }: Uint8Array): FastifyReply {
  return reply.type("application/json; charset=utf-8").send(Buffer.from(buffer, byteOffset, byteLength));
}
