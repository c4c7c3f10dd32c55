// Packed files: unpacked as they are read, and refused where they are damaged or would fill the memory.
import { expect, test } from "vitest";
import { zstdFrame } from "../../test/support/zstd-frame.js";
import { decompressed, isCompressed } from "./zstd.js";

async function unpack(packed: Buffer, size = 5): Promise<string> {
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let start = 0; start < packed.length; start += size) yield packed.subarray(start, start + size);
  }
  const found: Buffer[] = [];
  for await (const chunk of decompressed(chunks())) found.push(chunk);
  return Buffer.concat(found).toString("utf8");
}

test("what was packed comes out, however it is cut", async () => {
  const text = "one line\nand another é 🙂\n".repeat(9_000);
  const packed = zstdFrame(text);
  expect(isCompressed(packed)).toBe(true);
  expect(isCompressed(Buffer.from(text))).toBe(false);
  expect(await unpack(packed, 50_000)).toBe(text);
  expect(await unpack(zstdFrame("short"), 1)).toBe("short");
});

test("a file that is torn or no packed one after all is told", async () => {
  await expect(unpack(Buffer.concat([zstdFrame("x").subarray(0, 8), Buffer.alloc(40, 255)]), 100)).rejects.toThrow(
    /cannot be unpacked/,
  );
});

test("a file that asks for more memory than a reader gives is refused by its header", async () => {
  const huge = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x01, 0x00, 0x00]);
  await expect(unpack(huge, 100)).rejects.toThrow(/too much memory/);
});
