// How large a value is as JSON, without writing it where an estimate is enough.

/** The most bytes of a UTF-16 unit in JSON: `\\u0001`. */
const BYTES_PER_CHAR = 6;
/** The most characters of a number, `true`, `false` or `null`, with the comma behind it. */
const SCALAR_CHARS = 26;
const SMALL_BYTES = 1_024;

/** Whether a value takes more bytes as JSON than this. */
export function isJsonLarger(value: unknown, bytesMax: number): boolean {
  if (!mayBeLarger(value, bytesMax)) return false;
  return Buffer.byteLength(JSON.stringify(value)) > bytesMax;
}

/** How many bytes a value takes as JSON; a small one counts as a kilobyte. */
export function jsonBytesAtMost(value: unknown): number {
  return mayBeLarger(value, SMALL_BYTES) ? Buffer.byteLength(JSON.stringify(value)) : SMALL_BYTES;
}

/** Stops as soon as it may be. */
function mayBeLarger(value: unknown, bytesMax: number): boolean {
  let bytes = 0;
  const left: unknown[] = [value];
  while (left.length > 0 && bytes <= bytesMax) {
    const one = left.pop();
    bytes += SCALAR_CHARS;
    if (typeof one === "string") bytes += one.length * BYTES_PER_CHAR;
    else if (Array.isArray(one)) for (const item of one) left.push(item);
    else if (typeof one === "object" && one !== null) {
      for (const [name, member] of Object.entries(one)) {
        bytes += name.length * BYTES_PER_CHAR;
        left.push(member);
      }
    }
  }
  return bytes > bytesMax;
}
