// Scanning bodies as bytes in chunks: depth, width and item offsets match what JSON.parse builds.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../../../test/support/fuzz.js";
import { itemAt } from "../../../model/item-at.js";
import { limits } from "../../../model/limits.js";
import { parseJsonBody } from "./bodies.js";
import { ENTRIES_MAX, JsonScan } from "./json-scan.js";

const MiB = 1024 * 1024;

/** Takes a text in chunks of these lengths, in turn. */
function scanned(text: string | Buffer, options: { lengths?: readonly number[]; hasLines?: boolean } = {}) {
  const { lengths = [64 * 1024], hasLines = false } = options;
  const bytes = Buffer.from(text);
  const scan = new JsonScan({ hasLines });
  for (let at = 0, nth = 0; at < bytes.length; nth += 1) {
    const end = at + itemAt(lengths, nth % lengths.length);
    const refused = scan.take(bytes.subarray(at, end));
    if (refused !== undefined) return { refused, bytes, scan };
    at = end;
  }
  return { refused: undefined, bytes, scan };
}

const list = (items: readonly string[]) => `[${items.join(",")}]`;
const wide = (values: number) => list(Array<string>(values).fill("{}"));
const lengths = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 });
const spaces = fc.constantFrom(0, 2, "\t");

test("a list in chunks has the same items as with JSON.parse, whatever its strings contain", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), lengths, spaces, async (items, pieces, space) => {
      const { bytes, scan } = scanned(JSON.stringify(items, null, space), { lengths: pieces });
      expect(JSON.stringify(await parseJsonBody({ bytes, scan }))).toBe(JSON.stringify(items));
    }),
    fuzz(500),
  );
});

test("what JSON.parse refuses is refused, and what it accepts is accepted", async () => {
  const piece = fc.constantFrom("[", "]", "{", "}", ",", ":", '"', "\\", '"a"', "1", "x", " ", '{"a":[]}', "\ufeff");
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 9 }), lengths, async (pieces, cuts) => {
      const text = `[${pieces.join("")}`;
      const { bytes, scan } = scanned(text, { lengths: cuts });
      const parsed = await parseJsonBody({ bytes, scan });
      let expected: unknown = expect.objectContaining({ code: "json_invalid" });
      try {
        expected = JSON.parse(text);
      } catch {}
      expect(parsed).toEqual(expected);
    }),
    fuzz(3_000),
  );
});

test("long strings with quotes and backslashes are skipped at any chunk boundary", () => {
  const text = fc.array(fc.constantFrom("\\", '"', "[", "x".repeat(60), "é", "\n"), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(text), lengths, (texts, pieces) => {
      const items = texts.map((parts) => parts.join(""));
      const { scan } = scanned(JSON.stringify(items), { lengths: pieces });
      expect(scan.list?.isWhole).toBe(true);
      expect(scan.list?.ends).toHaveLength(Math.max(items.length, 1));
    }),
    fuzz(500),
  );
});

describe("width", () => {
  test("of an entry is counted at every depth, and refused at the first value too many", () => {
    // The entry's own member `x`, and the items of its list.
    const entry = (values: number) => `{"x":${wide(values - 1)}}`;
    expect(scanned(entry(limits.entry_values)).refused).toBeUndefined();
    expect(scanned(entry(limits.entry_values + 1)).refused).toMatchObject({ code: "too_many_values" });
    const nested = (values: number) => `{"x":${list(Array<string>(values / 2 - 1).fill("[1]"))},"y":[]}`;
    expect(scanned(nested(limits.entry_values)).refused).toBeUndefined();
    expect(scanned(nested(limits.entry_values + 2)).refused).toMatchObject({ code: "too_many_values" });
  });

  test("of one entry in a list names the entry", () => {
    const entries = ["{}", `{"x":${wide(limits.entry_values)}}`];
    expect(scanned(list(entries)).refused).toMatchObject({ code: "too_many_values", index: 1 });
    const lines = scanned(`\n${entries.join("\n")}`, { hasLines: true });
    expect(lines.refused).toMatchObject({ code: "too_many_values", index: 1 });
  });

  test("of a request is the sum of its entries", () => {
    const entry = wide(limits.entry_values);
    const count = limits.request_values / limits.entry_values;
    for (const [separator, hasLines] of [
      [",", false],
      ["\n", true],
    ] as const) {
      const body = (entries: readonly string[]) => (hasLines ? entries.join(separator) : list(entries));
      const full = Array<string>(count).fill(entry);
      expect(scanned(body(full), { hasLines }).refused).toBeUndefined();
      expect(scanned(body([...full, "[1]"]), { hasLines }).refused).toMatchObject({ code: "too_many_values" });
    }
  });

  test("is the number of values that JSON.parse builds, for any JSON", () => {
    const countOf = (value: unknown): number => {
      if (typeof value !== "object" || value === null) return 0;
      const items = Object.values(value);
      return items.length + items.reduce((sum: number, item) => sum + countOf(item), 0);
    };
    fc.assert(
      fc.property(fc.jsonValue(), lengths, spaces, (value, pieces, space) => {
        // As many values before it as make its own the last allowed one.
        const before = wide(limits.entry_values - 2 - countOf(value));
        const fits = `{"a":${before},"b":${JSON.stringify(value, null, space)}}`;
        expect(scanned(fits, { lengths: [1e6, ...pieces] }).refused).toBeUndefined();
        const exceeds = `{"a":${before},"b":${JSON.stringify(value, null, space)},"c":1}`;
        expect(scanned(exceeds, { lengths: [1e6, ...pieces] }).refused).toMatchObject({ code: "too_many_values" });
      }),
      { numRuns: 20 },
    );
  });
});

test("an entry may be nested as deep as one in a list, and no deeper", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  expect(scanned(nested(201)).refused).toBeUndefined();
  expect(scanned(nested(202)).refused).toMatchObject({ code: "nesting_too_deep" });
  const lines = `{}\n${nested(202)}`;
  expect(scanned(lines, { hasLines: true }).refused).toMatchObject({ code: "nesting_too_deep", index: 1 });
});

test("a request may hold a hundred thousand entries, as a list or as lines, and no more", () => {
  const many = (count: number) => Array<string>(count).fill("{}");
  expect(scanned(list(many(ENTRIES_MAX))).refused).toBeUndefined();
  expect(scanned(list(many(ENTRIES_MAX + 1))).refused).toMatchObject({ code: "request_too_large" });
  const lines = (count: number) => scanned(many(count).join("\n\n"), { hasLines: true });
  expect(lines(ENTRIES_MAX).refused).toBeUndefined();
  expect(lines(ENTRIES_MAX + 2).refused).toMatchObject({ code: "request_too_large" });
});

test("a line that ends inside a string does not affect the next one", () => {
  const lines = `{"a":"${"x".repeat(100)}\n${wide(limits.entry_values)}\n${"[".repeat(201)}`;
  expect(scanned(lines, { hasLines: true, lengths: [7, 64] }).refused).toBeUndefined();
});

test("a body of 63 MiB of {},{},… is refused by its first chunk", () => {
  const scan = new JsonScan({ hasLines: false });
  const start = Buffer.from('{"kind":"raw","source":"s","record":{"x":[{}');
  const chunk = Buffer.from(",{}".repeat(20_000));
  expect(scan.take(start)).toBeUndefined();
  let taken = 0;
  while (scan.take(chunk) === undefined) taken += chunk.length;
  expect(taken).toBeLessThan(MiB);
});
