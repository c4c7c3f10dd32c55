// Bodies as bytes: checked to be UTF-8 and parsed as JSON, and never rewritten on the way.
import { isUtf8 } from "node:buffer";
import { Rejection, reject } from "../../model/rejection.js";
import { ENTRIES_MAX, refuseHostile, tooManyEntries } from "./hostile-json.js";

const BYTE_ORDER_MARK = 0xfeff;
const LINE_FEED = 0x0a;

export function parseJsonBody(bytes: Buffer): unknown {
  return parseJson(bytes, "the body");
}

/** Blank lines are passed over; `index` counts the others. */
export function parseJsonLines(bytes: Buffer): readonly unknown[] | Rejection {
  const items: unknown[] = [];
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed === -1 ? bytes.length : feed;
    line += 1;
    const bytesOfLine = bytes.subarray(start, end);
    start = end + 1;
    // Told apart without parsing, since a request may hold millions of them.
    if (isBlank(bytesOfLine)) continue;
    const item = parseJson(bytesOfLine, `line ${line}`);
    if (!(item instanceof Rejection)) items.push(item);
    else if (item.code !== "body_missing") return item.at(items.length);
    if (items.length > ENTRIES_MAX) return tooManyEntries();
  }
  return items;
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}

function parseJson(bytes: Buffer, what: string): unknown {
  if (!isUtf8(bytes)) return utf8Invalid(what);
  const hostile = refuseHostile(bytes);
  if (hostile !== undefined) return hostile;
  const text = bytes.toString("utf8");
  try {
    return JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch (error) {
    // `trim` takes a byte order mark away too.
    return text.trim() === "" ? bodyMissing() : jsonInvalid(what, error);
  }
}

export function bodyMissing(): Rejection {
  return reject({ code: "body_missing", message: "the request has no body", hint: "Send a JSON object." });
}

function utf8Invalid(what: string): Rejection {
  return reject({ code: "utf8_invalid", message: `${what} is not valid UTF-8`, hint: "Send text as UTF-8." });
}

/** The answer quotes the parser, which quotes the body: it goes back to where it came from, and into no log. */
function jsonInvalid(what: string, error: unknown): Rejection {
  const reason = error instanceof Error ? error.message : String(error);
  return reject({ code: "json_invalid", message: `${what} is not valid JSON: ${reason.slice(0, 200)}` });
}
