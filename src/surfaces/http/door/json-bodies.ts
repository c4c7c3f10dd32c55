// Bodies as bytes: checked to be UTF-8 and parsed as JSON, and never rewritten on the way.
import { isUtf8 } from "node:buffer";
import { Rejection, reject } from "../../../model/rejection.js";
import { TimeSlice } from "../../../model/scheduling.js";
import { ENTRIES_MAX, type JsonScan, tooManyEntries } from "./json-scan.js";

const BYTE_ORDER_MARK = 0xfeff;
const LINE_FEED = 0x0a;

/**
 * A body as it was read: small ones whole, large ones together with what was seen of them on the way. Of a large list each
 * item is parsed for itself, since all of them at once would keep everybody else waiting.
 */
export interface ReadBody {
  readonly bytes: Buffer;
  /** Absent where the body is so small that nobody had to look at it. */
  readonly scan?: JsonScan | undefined;
}

export async function parseJsonBody({ bytes, scan }: ReadBody): Promise<unknown> {
  const list = scan?.list;
  if (list === undefined) return parseAlone(bytes);
  if (!isUtf8(bytes)) return utf8Invalid("the body");
  if (!list.isWhole) return jsonInvalid("the body", "its list does not end, or something follows it");
  const slice = new TimeSlice();
  const items: unknown[] = [];
  let start = list.start + 1;
  for (const end of list.ends) {
    const bytesOfItem = bytes.subarray(start, end);
    if (list.ends.length === 1 && isBlank(bytesOfItem)) break;
    const item = parseText(bytesOfItem.toString("utf8"), `item ${items.length} of the body`);
    if (item instanceof Rejection) return item.at(items.length);
    items.push(item);
    start = end + 1;
    if (slice.isOver) await slice.next();
  }
  return items;
}

/** What is made of a large entry is made in the next time slice. */
async function parseAlone(bytes: Buffer): Promise<unknown> {
  const slice = new TimeSlice();
  const parsed = parseJson(bytes, "the body");
  if (slice.isOver) await slice.next();
  return parsed;
}

/** Blank lines are passed over; `index` counts the others. */
export async function parseJsonLines({ bytes }: ReadBody): Promise<readonly unknown[] | Rejection> {
  const slice = new TimeSlice();
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
    if (slice.isOver) await slice.next();
  }
  return items;
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
  return true;
}

function parseJson(bytes: Buffer, what: string): unknown {
  if (!isUtf8(bytes)) return utf8Invalid(what);
  const text = bytes.toString("utf8");
  const parsed = parseText(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text, what);
  // `trim` takes a byte order mark away too.
  return parsed instanceof Rejection && text.trim() === "" ? bodyMissing() : parsed;
}

function parseText(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return jsonInvalid(what, error instanceof Error ? error.message : String(error));
  }
}

export function bodyMissing(): Rejection {
  return reject({ code: "body_missing", message: "the request has no body", hint: "Send a JSON object." });
}

function utf8Invalid(what: string): Rejection {
  return reject({ code: "utf8_invalid", message: `${what} is not valid UTF-8`, hint: "Send text as UTF-8." });
}

/** The answer quotes the parser, which quotes the body: it goes back to where it came from, and into no log. */
function jsonInvalid(what: string, reason: string): Rejection {
  return reject({ code: "json_invalid", message: `${what} is not valid JSON: ${reason.slice(0, 200)}` });
}
