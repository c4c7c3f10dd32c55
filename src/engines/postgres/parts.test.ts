// Parts as they are stored and read back, alone and together, intact and damaged.
import { expect, test } from "vitest";
import { fromStored, toStored } from "./parts.js";

const texts = Array.from({ length: 40 }, (_, at) =>
  Buffer.from(at % 5 === 0 ? `short ${at}` : `${at} is said again and again. `.repeat(20 + at * at)),
);

test("parts are read back, together and alone, and repeated ones take less space", () => {
  const stored = texts.map(toStored);
  expect(fromStored(stored)).toEqual(texts);
  expect(stored.map((one) => fromStored([one])[0])).toEqual(texts);
  expect(fromStored([])).toEqual([]);
  const [short, long] = stored as [(typeof stored)[number], (typeof stored)[number]];
  expect(short).toEqual({ bytes: texts[0], whole_bytes: null });
  expect(long.bytes.length).toBeLessThan((long.whole_bytes as number) / 3);
});

test("of several parts only the damaged one is lost", () => {
  const stored = texts.map(toStored);
  const damaged = stored.map((one, at) => (at === 7 ? { ...one, bytes: one.bytes.subarray(0, 9) } : one));
  const read = fromStored(damaged);
  expect(read[7]).toBeUndefined();
  expect(read.toSpliced(7, 1)).toEqual(texts.toSpliced(7, 1));
  expect(fromStored([{ bytes: Buffer.from("no such thing"), whole_bytes: 40 }])).toEqual([undefined]);
  // A part with a wrong length, too short or too long, is damaged as well.
  const { bytes, whole_bytes } = stored[7] as { readonly bytes: Buffer; readonly whole_bytes: number };
  for (const other of [whole_bytes - 1, whole_bytes + 1, 0, -1, 2 ** 31 - 1]) {
    expect(fromStored([{ bytes, whole_bytes: other }])).toEqual([undefined]);
  }
});
