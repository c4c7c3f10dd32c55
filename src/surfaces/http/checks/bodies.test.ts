// Request bodies: what bytes parse to.
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonBody, parseJsonLines } from "./bodies.js";
import { ENTRIES_MAX } from "./json-scan.js";

const read = (text: string) => ({ bytes: Buffer.from(text) });

test("any output of JSON.stringify is read back unchanged, as a body and as lines", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue()), async (items) => {
      const written = JSON.stringify(items);
      expect(JSON.stringify(await parseJsonBody(read(written)))).toBe(written);
      const lines = items.map((item) => JSON.stringify(item)).join("\r\n\n");
      expect(JSON.stringify(await parseJsonLines(read(lines)))).toBe(written);
    }),
  );
});

test("bytes that are not UTF-8 are refused anywhere, and never replaced", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.string(), async (before, after) => {
      const bytes = Buffer.concat([Buffer.from(`"${before}`), Buffer.from([0xff]), Buffer.from(`${after}"`)]);
      expect(await parseJsonBody({ bytes })).toMatchObject({ code: "utf8_invalid" });
    }),
  );
});

test("a hundred thousand lines are accepted, and no more", async () => {
  expect(await parseJsonLines(read("{}\n".repeat(ENTRIES_MAX)))).toHaveLength(ENTRIES_MAX);
  expect(await parseJsonLines(read("{}\n".repeat(ENTRIES_MAX + 1)))).toMatchObject({ code: "request_too_large" });
});
