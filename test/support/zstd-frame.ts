// A packed file as Zstandard writes it, of blocks that are stored as they are.

const BLOCK_BYTES_MAX = 128 * 1024;

export function zstdFrame(text: string): Buffer {
  const content = Buffer.from(text);
  // No content size, no checksum, and a window of 1 MiB.
  const pieces = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50])];
  for (let at = 0; at === 0 || at < content.length; at += BLOCK_BYTES_MAX) {
    const block = content.subarray(at, at + BLOCK_BYTES_MAX);
    const isLast = at + BLOCK_BYTES_MAX >= content.length;
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (isLast ? 1 : 0), 0, 3);
    pieces.push(header, block);
  }
  return Buffer.concat(pieces);
}
