// A look at large bodies before they are parsed: some are cheap to send, and would keep the whole server busy or fill
// its memory. Measured: 64 MiB of brackets take JSON.parse twenty seconds, two million tiny entries end the process.
import { limits } from "../../model/limits.js";
import { type Rejection, reject } from "../../model/rejection.js";

/** Entries of one request. An entry costs 4 KB of memory on its way, however small it is. */
export const ENTRIES_MAX = 100_000;

/** Smaller bodies cannot do harm, and their entries are checked one by one. */
const SCAN_BYTES_MIN = 1024 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LIST_START = 0x5b;
const LIST_END = 0x5d;
const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;

export function refuseHostile(bytes: Buffer): Rejection | undefined {
  if (bytes.byteLength < SCAN_BYTES_MIN) return undefined;
  let depth = 0;
  let items = 0;
  let isList = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
      // What is not JSON is the parser's to refuse.
      if (at === -1) return undefined;
    } else if (byte === LIST_START || byte === OBJECT_START) {
      if (depth === 0) isList = byte === LIST_START;
      depth += 1;
      // One level more than an entry may have: it may be an item of a list.
      if (depth > limits.nesting_levels + 1) return tooDeep();
    } else if (byte === LIST_END || byte === OBJECT_END) depth -= 1;
    else if (byte === COMMA && depth === 1 && isList) {
      items += 1;
      if (items >= ENTRIES_MAX) return tooManyEntries();
    }
  }
  return undefined;
}

export function tooManyEntries(): Rejection {
  return reject({
    code: "request_too_large",
    message: `the request has more than ${ENTRIES_MAX} entries`,
    hint: "Send fewer entries at a time.",
  });
}

function tooDeep(): Rejection {
  const message = `an entry may be nested ${limits.nesting_levels} levels deep at most`;
  return reject({ code: "nesting_too_deep", message, hint: "Store the deep part as text." });
}

/** Strings are most of any large body, so they are passed over at the speed of a search for their end. */
function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return -1;
}
