// Files compressed with Zstandard, decompressed as they are read.
import { setImmediate } from "node:timers/promises";
import { Decompress } from "fzstd";
import { itemAt } from "../model/item-at.js";

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** Input is decompressed in small pieces: a few bytes can stand for 128 KiB each. */
const PIECE_BYTES = 1024;
/** The reference implementation's default limit. */
const WINDOW_BYTES_MAX = 128 * 1024 * 1024;

export function isCompressed(bytes: Uint8Array): boolean {
  return MAGIC.every((byte, index) => bytes[index] === byte);
}

/** What may come out of a file: a few bytes can stand for gigabytes, which nobody has written. */
const UNPACKED = { bytes_max: 8 * 1024 ** 3, free_bytes: 16 * 1024 ** 2, ratio_max: 250 } as const;
/** The event loop runs after so many bytes. */
const SLICE_BYTES = 4 * 1024 * 1024;

/** Compressed bytes that cannot be decompressed. */
class UnpackFault extends Error {
  readonly code = "ZSTD";
}

/** Compressed bytes that stand for too many. */
export class AmplifiedFault extends UnpackFault {}

/** Counts what goes into decompression and what comes out, for everything that is compressed in one file. */
export class UnpackBudget {
  #packed = 0;
  #unpacked = 0;

  take({ packed = 0, unpacked = 0 }: { readonly packed?: number; readonly unpacked?: number }): void {
    this.#packed += packed;
    this.#unpacked += unpacked;
    const { bytes_max, free_bytes, ratio_max } = UNPACKED;
    if (this.#unpacked <= Math.min(bytes_max, free_bytes + ratio_max * this.#packed)) return;
    throw new AmplifiedFault(
      `it is compressed, and more than ${ratio_max} times as long (or 8 GB) when it is not; decompress it yourself if you trust it`,
    );
  }
}

/** Throws an `AmplifiedFault` if more would come out than may; other flaws are found when it is read. */
export async function measureUnpacked(chunks: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const _ of decompressed(chunks));
  } catch (error) {
    if (error instanceof AmplifiedFault || !(error instanceof UnpackFault)) throw error;
  }
}

export async function* decompressed(
  chunks: AsyncIterable<Buffer>,
  budget = new UnpackBudget(),
): AsyncGenerator<Buffer> {
  let ready: Buffer[] = [];
  let isFirst = true;
  let slice = 0;
  const stream = new Decompress((piece) => {
    budget.take({ unpacked: piece.length });
    ready.push(Buffer.from(piece));
  });
  for await (const chunk of chunks) {
    if (isFirst && windowBytes(chunk) > WINDOW_BYTES_MAX)
      throw new UnpackFault("decompressing it needs too much memory");
    isFirst = false;
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      const part = chunk.subarray(at, at + PIECE_BYTES);
      budget.take({ packed: part.length });
      push(stream, part, false);
      const taken = ready;
      ready = [];
      for (const piece of taken) slice += piece.length;
      if (slice >= SLICE_BYTES) {
        slice = 0;
        await setImmediate();
      }
      yield* taken;
    }
  }
  push(stream, new Uint8Array(0), true);
  yield* ready;
}

/** Decompresses one value up to a limit, since a few bytes can stand for gigabytes. */
export function decompressedWithin(bytes: Uint8Array, bytesMax: number, budget: UnpackBudget): Buffer {
  const pieces: Uint8Array[] = [];
  let size = 0;
  budget.take({ packed: bytes.length });
  const stream = new Decompress((piece) => {
    budget.take({ unpacked: piece.length });
    size += piece.length;
    if (size > bytesMax) throw new UnpackFault(`it has more than ${bytesMax} bytes`);
    pieces.push(piece);
  });
  if (windowBytes(bytes) > WINDOW_BYTES_MAX) throw new UnpackFault("decompressing it needs too much memory");
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) push(stream, bytes.subarray(at, at + PIECE_BYTES), false);
  push(stream, new Uint8Array(0), true);
  return Buffer.concat(pieces);
}

function push(stream: Decompress, piece: Uint8Array, isLast: boolean): void {
  try {
    stream.push(piece, isLast);
  } catch (error) {
    if (error instanceof UnpackFault) throw error;
    throw new UnpackFault(`it cannot be decompressed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** How much memory the first frame needs, by its header. */
function windowBytes(bytes: Uint8Array): number {
  const descriptor = bytes[4] ?? 0;
  const isSingle = ((descriptor >> 5) & 1) === 1;
  if (!isSingle) {
    const window = bytes[5] ?? 0;
    const base = 2 ** (10 + (window >> 3));
    return base + (base / 8) * (window & 7);
  }
  const sizeBytes = itemAt([1, 2, 4, 8], descriptor >> 6);
  const at = 5 + itemAt([0, 1, 2, 4], descriptor & 3);
  let size = 0;
  for (let index = sizeBytes - 1; index >= 0; index -= 1) size = size * 256 + (bytes[at + index] ?? 0);
  return size;
}
