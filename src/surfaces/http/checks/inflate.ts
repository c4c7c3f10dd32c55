// Inflates compressed bodies within limits: a few kilobytes of zeros become gigabytes.
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { RecorderError, type Rejection, reject } from "../../../model/rejection.js";

/** Repetitive spans are compressed a hundred times; a bomb a thousand times. */
const RATIO_MAX = 250;
/** Small bodies may have any ratio. */
const RATIO_BYTES_MIN = 1024 * 1024;

/** Fails with an error that `refusalOfInflating` explains. Its reader limits how many bytes it takes. */
export function inflated(payload: IncomingMessage): Readable {
  const gunzip = createGunzip();
  let taken = 0;
  let given = 0;
  payload.on("data", (chunk: Buffer) => {
    taken += chunk.byteLength;
  });
  gunzip.on("data", (chunk: Buffer) => {
    given += chunk.byteLength;
    if (given > RATIO_BYTES_MIN && given > taken * RATIO_MAX) gunzip.destroy(new RecorderError(tooDense()));
  });
  gunzip.on("close", () => {
    payload.unpipe(gunzip);
    // The rest is read and dropped, so the answer gets through.
    payload.resume();
  });
  payload.on("error", (error) => gunzip.destroy(error));
  return payload.pipe(gunzip);
}

export function refusalOfInflating(error: Error): Rejection {
  return error instanceof RecorderError ? reject(error) : notGzip();
}

function tooDense(): Rejection {
  return reject({
    code: "request_too_large",
    field: "content-encoding",
    message: `the body inflates to more than ${RATIO_MAX} times its size`,
    hint: "Send smaller batches, or do not compress them.",
  });
}

function notGzip(): Rejection {
  return reject({
    code: "request_invalid",
    field: "content-encoding",
    message: "the body is not valid gzip",
    hint: "Send it without content-encoding, or compress it.",
  });
}
