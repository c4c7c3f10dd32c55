// The bytes of parts as they are stored: compressed where that helps. PostgreSQL's own compression leaves rows below 2 KB alone,
// and those of a conversation mostly are.
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";

/** Shorter ones hardly become shorter. */
const DEFLATED_BYTES_MIN = 256;
/** What is saved by less is not worth the time that it takes to read. */
const DEFLATED_SHARE_MAX = 0.9;
/**
 * Quick for texts of some kilobytes: larger tables take longer to set up than to use. A part is no stream of its own but a stretch of one
 * that goes on, so that all parts of a body are inflated at once: setting up a stream takes as long as inflating a kilobyte.
 */
const STRETCH = { level: 1, windowBits: 13, memLevel: 6, finishFlush: constants.Z_SYNC_FLUSH };
/** How such a stretch ends always, which is left out. */
const STRETCH_END = Buffer.from([0, 0, 0xff, 0xff]);
const STREAM_END = Buffer.from([3, 0]);
/** What zlib asks for at least. */
const ROOM_MIN = 64;
/** No part is longer, and no room is made for one that claims to be. */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024;

export interface StoredBytes {
  readonly bytes: Buffer;
  /** How many they are in whole; null where they are stored as they are. */
  readonly whole_bytes: number | null;
}

export function toStored(bytes: Buffer): StoredBytes {
  if (bytes.length >= DEFLATED_BYTES_MIN) {
    const deflated = deflateRawSync(bytes, STRETCH);
    const kept = deflated.length - STRETCH_END.length;
    const isShorter = kept <= bytes.length * DEFLATED_SHARE_MAX;
    if (isShorter && deflated.subarray(kept).equals(STRETCH_END)) {
      return { bytes: deflated.subarray(0, kept), whole_bytes: bytes.length };
    }
  }
  return { bytes, whole_bytes: null };
}

/** Undefined for those that are damaged. */
export function fromStored(all: readonly StoredBytes[]): readonly (Buffer | undefined)[] {
  const deflated = all.filter(({ whole_bytes }) => whole_bytes !== null);
  const whole = inflated(deflated);
  // Where one of them is damaged, the others are not.
  if (whole === undefined && deflated.length > 0 && all.length > 1) return all.flatMap((one) => fromStored([one]));
  let at = 0;
  return all.map(({ bytes, whole_bytes }) => {
    if (whole_bytes === null) return bytes;
    at += whole_bytes;
    return whole?.subarray(at - whole_bytes, at);
  });
}

function inflated(all: readonly StoredBytes[]): Buffer | undefined {
  if (all.length === 0) return undefined;
  const lengths = all.map(({ whole_bytes }) => whole_bytes ?? 0);
  if (lengths.some((length) => length < 0 || length > WHOLE_BYTES_MAX)) return undefined;
  const length = lengths.reduce((sum, one) => sum + one, 0);
  try {
    const stream = Buffer.concat([...all.flatMap(({ bytes }) => [bytes, STRETCH_END]), STREAM_END]);
    const room = Math.max(ROOM_MIN, length);
    const whole = inflateRawSync(stream, { maxOutputLength: room, chunkSize: room });
    return whole.length === length ? whole : undefined;
  } catch {
    return undefined;
  }
}
