// Bodies as bytes: what they parse to, and that large hostile ones are refused before they are parsed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ENTRIES_MAX, refuseHostile } from "./hostile-json.js";
import { parseJsonBody, parseJsonLines } from "./json-bodies.js";

const MiB = 1024 * 1024;
const padded = (text: string) => Buffer.from(text.padEnd(MiB + 1, " "));

test("whatever JSON.stringify writes is read back the same, as a body and as lines", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (items) => {
      const written = JSON.stringify(items);
      expect(JSON.stringify(parseJsonBody(Buffer.from(written)))).toBe(written);
      const lines = items.map((item) => JSON.stringify(item)).join("\r\n\n");
      expect(JSON.stringify(parseJsonLines(Buffer.from(lines)))).toBe(written);
    }),
  );
});

test("bytes that are not UTF-8 are refused wherever they stand, and never replaced", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const bytes = Buffer.concat([Buffer.from(`"${before}`), Buffer.from([0xff]), Buffer.from(`${after}"`)]);
      expect(parseJsonBody(bytes)).toMatchObject({ code: "utf8_invalid" });
    }),
  );
});

describe("a large body", () => {
  test("with text that looks nested, behind quotes and backslashes, is no harm", () => {
    const text = ["[".repeat(MiB), "\\", '"', '\\"[[', "{".repeat(500), "\\\\"];
    const body = Buffer.from(JSON.stringify({ prompt: "p", extra: { text } }));
    expect(refuseHostile(body)).toBeUndefined();
    expect(parseJsonBody(body)).toEqual({ prompt: "p", extra: { text } });
  });

  test("may be nested as deep as an entry in a list may be, and no deeper", () => {
    const nested = (levels: number) => padded(`${"[".repeat(levels)}${"]".repeat(levels)}`);
    expect(refuseHostile(nested(201))).toBeUndefined();
    expect(refuseHostile(nested(202))).toMatchObject({ code: "nesting_too_deep" });
  });

  test("may hold a hundred thousand entries, as a list or as lines, and no more", () => {
    const list = (count: number) => padded(`[${Array(count).fill("{}").join(",")}]`);
    expect(refuseHostile(list(ENTRIES_MAX))).toBeUndefined();
    expect(refuseHostile(list(ENTRIES_MAX + 1))).toMatchObject({ code: "request_too_large" });
    expect(parseJsonLines(Buffer.from("{}\n".repeat(ENTRIES_MAX)))).toHaveLength(ENTRIES_MAX);
    expect(parseJsonLines(Buffer.from("{}\n".repeat(ENTRIES_MAX + 1)))).toMatchObject({ code: "request_too_large" });
  });

  test("may be one entry with as many fields as it likes", () => {
    const fields = Object.fromEntries(Array.from({ length: 150_000 }, (_, n) => [`field ${n}`, n]));
    expect(refuseHostile(padded(JSON.stringify(fields)))).toBeUndefined();
  });

  test("that breaks off inside a string is left to the parser", () => {
    expect(parseJsonBody(Buffer.from(`{"prompt":"${"x".repeat(MiB)}`))).toMatchObject({ code: "json_invalid" });
  });
});
