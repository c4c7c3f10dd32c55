// Compressed files: decompressed as they are read, and refused if they are damaged or would fill the memory.
import { expect, test } from "vitest";
import { zstdFrame } from "../../test/support/zstd-frame.js";
import { decompressed, decompressedWithin, isCompressed } from "./zstd.js";

async function unpack(packed: Buffer, size = 5): Promise<string> {
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let start = 0; start < packed.length; start += size) yield packed.subarray(start, start + size);
  }
  const found: Buffer[] = [];
  for await (const chunk of decompressed(chunks())) found.push(chunk);
  return Buffer.concat(found).toString("utf8");
}

test("decompressing returns the original, however the input is split", async () => {
  const text = "one line\nand another é 🙂\n".repeat(9_000);
  const packed = zstdFrame(text);
  expect(isCompressed(packed)).toBe(true);
  expect(isCompressed(Buffer.from(text))).toBe(false);
  expect(await unpack(packed, 50_000)).toBe(text);
  expect(await unpack(zstdFrame("short"), 1)).toBe("short");
});

test("a value is decompressed whole, unless a few bytes stand for more than the limit", () => {
  const text = "a piece of é 🙂 ".repeat(20_000);
  expect(decompressedWithin(zstdFrame(text), 1_000_000).toString()).toBe(text);
  expect(() => decompressedWithin(zstdFrame(text), 1_000)).toThrow(/more than 1000 bytes/);
  // Blocks of one byte repeated 128 KiB times, 4 bytes each: 512 MiB in all.
  const block = Buffer.from([0x02, 0x00, 0x10, 0x61]);
  const bomb = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]), ...Array<Buffer>(4_096).fill(block)]);
  const before = process.memoryUsage().rss;
  expect(() => decompressedWithin(bomb, 1_000_000)).toThrow(/more than 1000000 bytes/);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});

test("a truncated file, or one that is not compressed, is an error", async () => {
  await expect(unpack(Buffer.concat([zstdFrame("x").subarray(0, 8), Buffer.alloc(40, 255)]), 100)).rejects.toThrow(
    /cannot be unpacked/,
  );
});

test("a file that requires more memory than allowed is refused by its header", async () => {
  const huge = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00]);
  await expect(unpack(huge, 100)).rejects.toThrow(/too much memory/);
});
