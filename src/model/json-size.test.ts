// Whether a value is larger as JSON than it may be.
import { expect, test } from "vitest";
import { isJsonLarger } from "./json-size.js";

const values: readonly unknown[] = [
  null,
  "",
  "\u0001".repeat(100),
  "é".repeat(1_000),
  [1, -1.7976931348623157e308, true, null],
  { "\u0002": [{ a: "b" }, []] },
  Array.from({ length: 1_000 }, (_, nth) => ({ nth })),
];

test("a value is larger than one byte less than it takes, and no larger than what it takes", () => {
  for (const value of values) {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    expect(isJsonLarger(value, bytes - 1)).toBe(true);
    expect(isJsonLarger(value, bytes)).toBe(false);
  }
});
