// The members of a JSON object as they stand in its bytes: found without building any of them, so that what is large and
// goes out unchanged is never more than bytes.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST_START = 0x5b;
const LIST_END = 0x5d;
const OBJECT_START = 0x7b;
const OBJECT_END = 0x7d;

/** The bytes of each member's value by its name; undefined where this is no object. What is deeper is not looked at. */
export function membersOf(json: Uint8Array): ReadonlyMap<string, Buffer> | undefined {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const members = new Map<string, Buffer>();
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== OBJECT_START) return undefined;
  at = afterSpace(bytes, at + 1);
  if (bytes[at] === OBJECT_END) return members;
  for (;;) {
    const nameEnd = bytes[at] === QUOTE ? endOfString(bytes, at + 1) : -1;
    if (nameEnd === -1) return undefined;
    const name: unknown = JSON.parse(bytes.toString("utf8", at, nameEnd + 1));
    at = afterSpace(bytes, nameEnd + 1);
    if (bytes[at] !== COLON) return undefined;
    const start = afterSpace(bytes, at + 1);
    const end = endOfValue(bytes, start);
    if (end === -1) return undefined;
    members.set(name as string, bytes.subarray(start, end));
    if (bytes[end] === OBJECT_END) return members;
    at = afterSpace(bytes, end + 1);
  }
}

/** The place of the comma or bracket behind a value; -1 where there is none. */
function endOfValue(bytes: Buffer, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      at = endOfString(bytes, at + 1);
      if (at === -1) return -1;
    } else if (byte === OBJECT_START || byte === LIST_START) depth += 1;
    else if (depth === 0 && (byte === COMMA || byte === OBJECT_END)) return at;
    else if (byte === OBJECT_END || byte === LIST_END) depth -= 1;
  }
  return -1;
}

function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return -1;
}

function afterSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] as number) <= 0x20) at += 1;
  return at;
}
