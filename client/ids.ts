// UUIDv7: a time and chance, so entries keep their order in the log's tree of ids.

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const POOL_BYTES = 16 * 256;

const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

export function newId(nowMs: number): string {
  if (used === POOL_BYTES) {
    globalThis.crypto.getRandomValues(pool);
    used = 0;
  }
  const at = used;
  used += 16;
  const time = Math.trunc(nowMs).toString(16).padStart(12, "0");
  const hex = (offset: number): string => HEX[pool[at + offset] as number] as string;
  const version = `7${hex(0).charAt(1)}${hex(1)}`;
  const variant = HEX[((pool[at + 2] as number) & 0x3f) | 0x80] as string;
  const rest = `${hex(4)}${hex(5)}${hex(6)}${hex(7)}${hex(8)}${hex(9)}`;
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}${hex(3)}-${rest}`;
}
