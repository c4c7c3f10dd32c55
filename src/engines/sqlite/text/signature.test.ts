// Signatures: a text in the document always matches, and most others do not.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../../../test/support/fuzz.js";
import { SIGNATURE_WORDS, SignatureWriter, SLICES, slicesOf, windowsOf } from "./signature.js";

const WINDOW_UNITS = windowsOf("x".repeat(1_000))[0]?.length as number;

/** Few characters of every width, with lone surrogates, so needles almost occur. */
const texts = fc
  .array(fc.constantFrom("a", "b", "ab", " ", "0", "_", "é", "ж", "文", "字", "🙂", "\ud83d", "\ude42", "\0"), {
    maxLength: 80,
  })
  .map((parts) => parts.join(""));

describe("a needle", () => {
  test("in a text has all its bits in a block of that text", () => {
    const cases = fc.tuple(fc.array(texts, { minLength: 1, maxLength: 6 }), fc.nat(), fc.nat(), fc.nat());
    fc.assert(
      fc.property(cases, ([given, which, start, length]) => {
        const writer = new SignatureWriter();
        const spans = given.map((text) => ({ first: writer.startText(), last: writer.add(text) }));
        const text = given[which % given.length] as string;
        const span = spans[which % given.length] as { readonly first: number; readonly last: number };
        const from = start % (text.length + 1);
        const needle = text.slice(from, from + (length % (text.length + 1 - from)) + 1);
        for (const window of windowsOf(needle)) expect(blocksWith(writer, window, span)).not.toEqual([]);
      }),
      fuzz(500),
    );
  });

  test("at any offset of a long text is found across block boundaries", () => {
    const text = Array.from({ length: 60_000 }, (_, at) => ((at * 7_919) % 46_656).toString(36)).join("");
    const writer = new SignatureWriter();
    const span = { first: writer.startText(), last: writer.add(text) };
    expect(span.last).toBeGreaterThan(20);
    const misses: number[] = [];
    for (let at = 0; at + WINDOW_UNITS <= text.length; at += 13) {
      if (blocksWith(writer, text.slice(at, at + WINDOW_UNITS), span).length === 0) misses.push(at);
    }
    expect(misses).toEqual([]);
  });

  test("that does not occur matches almost no block, in an alphabet and in ideographs", () => {
    for (const [base, letters] of [
      [0x61, 26],
      [0x430, 32],
      [0x4e00, 400],
    ] as const) {
      const word = (nth: number): string =>
        String.fromCharCode(...[1, 3, 7, 11, 13].map((step) => base + ((nth * step + (nth >> 3)) % letters)));
      const writer = new SignatureWriter();
      for (let nth = 0; nth < 20_000; nth += 1) writer.add(`${word(nth)} ${word(nth * 3)}`);
      const span = { first: 0, last: writer.blocks - 1 };
      const absent = String.fromCharCode(...[9, 2, 9, 4, 2, 9, 9, 1].map((letter) => base + letter));
      expect(blocksWith(writer, absent, span).length).toBeLessThanOrEqual(writer.blocks * 0.05);
    }
  });

  test("that is longer than a window is searched by its beginning and its end", () => {
    const needle = `${"b".repeat(WINDOW_UNITS)}…${"e".repeat(WINDOW_UNITS)}`;
    expect(windowsOf(needle)).toEqual(["b".repeat(WINDOW_UNITS), "e".repeat(WINDOW_UNITS)]);
    expect(windowsOf("short")).toEqual(["short"]);
    expect(slicesOf("")).toEqual([]);
  });
});

test("of one repeated character, and an empty text, fill no block", () => {
  const writer = new SignatureWriter();
  writer.add("x".repeat(5_000_000));
  for (let nth = 0; nth < 1_000; nth += 1) writer.add("");
  expect(writer.blocks).toBe(1);
});

test("a run does not span two texts", () => {
  const writer = new SignatureWriter();
  for (const text of ["ab", "cd"]) writer.add(text);
  expect(blocksWith(writer, "bc", { first: 0, last: 0 })).toEqual([]);
  expect(blocksWith(writer, "cd", { first: 0, last: 0 })).toEqual([0]);
});

function blocksWith(
  writer: SignatureWriter,
  window: string,
  span: { readonly first: number; readonly last: number },
): readonly number[] {
  const slices = slicesOf(window);
  expect(slices.every((slice) => slice >= 0 && slice < SLICES)).toBe(true);
  const blocks: number[] = [];
  for (let block = span.first; block <= span.last; block += 1) {
    const has = (slice: number): boolean =>
      (((writer.bits[block * SIGNATURE_WORDS + (slice >>> 5)] as number) >>> slice) & 1) === 1;
    if (slices.every(has)) blocks.push(block);
  }
  return blocks;
}
