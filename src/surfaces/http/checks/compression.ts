// JSON answers are compressed for clients that ask for it: a list of sessions takes a fifth of the bytes.
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyInstance } from "fastify";
import Negotiator from "negotiator";

/** Below this a smaller answer still takes one packet. */
const BYTES_MIN = 1_024;
/** Better than gzip at the same speed; higher qualities take many times as long. */
const BROTLI_QUALITY = 4;

const compress = {
  br: (bytes: Buffer) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes: Buffer) => promisify(gzip)(bytes),
} as const;

const encodings = Object.keys(compress) as readonly (keyof typeof compress)[];

/** Only what GET answers as a whole: other routes may return a key, and streams have no end to wait for. */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook("onSend", async (request, reply, payload) => {
    const type = reply.getHeader("content-type");
    if (request.method !== "GET" || typeof type !== "string" || !type.startsWith("application/json")) return payload;
    if (!(typeof payload === "string" || Buffer.isBuffer(payload)) || reply.hasHeader("content-encoding"))
      return payload;
    addVary(reply.getHeader("vary"), (value) => reply.header("vary", value));
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    if (bytes.length < BYTES_MIN) return payload;
    const accepted = new Negotiator(request.raw).encodings([...encodings]);
    // In our own order: clients that accept several do not mean theirs.
    const encoding = encodings.find((one) => accepted.includes(one));
    if (encoding === undefined) return payload;
    const smaller = await compress[encoding](bytes);
    reply.header("content-encoding", encoding);
    reply.header("content-length", smaller.length);
    return smaller;
  });
}

function addVary(before: unknown, set: (value: string) => void): void {
  const known = typeof before === "string" ? before : "";
  if (!/accept-encoding/i.test(known)) set(known === "" ? "Accept-Encoding" : `${known}, Accept-Encoding`);
}
