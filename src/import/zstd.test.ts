// Compressed files: decompressed as they are read, and refused if they are damaged or would fill the memory.
import { expect, test } from "vitest";
import { zstdFrame } from "../../test/support/zstd-frame.js";
import { AmplifiedFault, decompressed, decompressedWithin, isCompressed, UnpackBudget } from "./zstd.js";

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
  expect(decompressedWithin(zstdFrame(text), 1_000_000, new UnpackBudget()).toString()).toBe(text);
  expect(() => decompressedWithin(zstdFrame(text), 1_000, new UnpackBudget())).toThrow(/more than 1000 bytes/);
  // Blocks of one byte repeated 128 KiB times, 4 bytes each: 512 MiB in all.
  const block = Buffer.from([0x02, 0x00, 0x10, 0x61]);
  const bomb = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]), ...Array<Buffer>(4_096).fill(block)]);
  const before = process.memoryUsage().rss;
  expect(() => decompressedWithin(bomb, 1_000_000, new UnpackBudget())).toThrow(/more than 1000000 bytes/);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});

test("a truncated file, or one that is not compressed, is an error", async () => {
  await expect(unpack(Buffer.concat([zstdFrame("x").subarray(0, 8), Buffer.alloc(40, 255)]), 100)).rejects.toThrow(
    /cannot be decompressed/,
  );
});

test("a file that requires more memory than allowed is refused by its header", async () => {
  const huge = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00]);
  await expect(unpack(huge, 100)).rejects.toThrow(/too much memory/);
});

/** Blocks of one byte repeated 128 KiB times, 4 bytes each. */
function bombOf(blocks: number): Buffer {
  const block = Buffer.from([0x02, 0x00, 0x10, 0x61]);
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]), ...Array<Buffer>(blocks).fill(block)]);
}

test("a file of which far more comes out than anybody wrote is refused, and lets others have their turn until then", async () => {
  await expect(unpack(bombOf(60_000), 64_000)).rejects.toThrow(AmplifiedFault);
  // 16 MiB are free: little text that repeats itself is nobody's attack.
  expect(await unpack(Buffer.concat([bombOf(100), Buffer.from([0x01, 0x00, 0x00])]), 64_000)).toHaveLength(
    100 * 131_072,
  );
  let turns = 0;
  const turn = setInterval(() => {
    turns += 1;
  });
  const pieces = Array.from({ length: 64 }, () => Buffer.from("x".repeat(1_000_000)));
  async function* chunks(): AsyncGenerator<Buffer> {
    yield Buffer.concat(pieces.map((piece) => zstdFrame(piece.toString())));
  }
  for await (const _ of decompressed(chunks()));
  clearInterval(turn);
  expect(turns).toBeGreaterThan(3);
});

test("the values of one file share one limit", () => {
  const budget = new UnpackBudget();
  const packed = bombOf(90);
  expect(() => decompressedWithin(packed, 20_000_000, budget)).not.toThrow(AmplifiedFault);
  expect(() => decompressedWithin(packed, 20_000_000, budget)).toThrow(AmplifiedFault);
});
