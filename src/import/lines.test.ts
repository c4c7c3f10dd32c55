// Lines of damaged files.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sharedData } from "../../test/support/fixtures.js";
import type { JsonObject } from "../model/json.js";
import type { SourceRecord } from "./importer.js";
import { EXPORTED_LEVELS_MAX, LINE_BYTES_MAX, oneByOne, readRecords } from "./lines.js";

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

function read(content: string | Buffer, size = 7): Promise<readonly Gathered[]> {
  return gather(oneByOne(readRecords(chunksOf(Buffer.from(content), size))));
}

type Gathered = { readonly line: number; readonly record?: JsonObject; readonly reason?: string };

/** All items, records without their line lengths. */
async function gather(items: AsyncIterable<SourceRecord>): Promise<readonly Gathered[]> {
  const found: Gathered[] = [];
  for await (const item of items) {
    if ("record" in item) found.push({ line: item.line, record: item.record });
    else found.push(item);
  }
  return found;
}

const good = [
  { line: 1, record: { a: 1 } },
  { line: 2, record: { a: "é 🙂" } },
];
const goodText = '{"a":1}\n{"a":"é 🙂"}\n';

describe("harmless lines:", () => {
  test.each([
    ["plain lines", goodText],
    ["no line end at the end", goodText.slice(0, -1)],
    ["a byte order mark and CRLF, as an editor on Windows leaves them", `\ufeff${goodText.replaceAll("\n", "\r\n")}`],
  ])("%s", async (_, content) => {
    for (const size of [1, 3, 1_000]) expect(await read(content, size)).toEqual(good);
  });

  test("blank lines are skipped and counted", async () => {
    expect(await read('\n{"a":1}\n  \t\r\n\n{"a":2}\n')).toEqual([
      { line: 2, record: { a: 1 } },
      { line: 5, record: { a: 2 } },
    ]);
  });

  test("NUL bytes next to a whole line", async () => {
    expect(await read('\0\0\0{"a":1}\n{"a":2}\0\0\n')).toEqual([
      { line: 1, record: { a: 1 } },
      { line: 2, record: { a: 2 } },
    ]);
  });

  test("a key called __proto__, and any JSON string", async () => {
    const line = '{"__proto__":{"x":1},"s":"\\u0000\\ud800"}\n';
    expect((await read(line)).map((item) => "record" in item && JSON.stringify(item.record))).toEqual([line.trim()]);
  });

  test("a line of 12 MB", async () => {
    const items = await read(`${JSON.stringify({ a: "x".repeat(12_000_000) })}\n`, 1_000_000);
    expect(items.map((item) => "record" in item && String(item.record?.a).length)).toEqual([12_000_000]);
  });

  test("a line as deep as an entry may be, and deeper if the reader allows it", async () => {
    const nested = (levels: number, more = ""): string =>
      `${'{"a":'.repeat(levels)}${JSON.stringify(more)}${"}".repeat(levels)}\n`;
    const isTaken = async (text: string, levels?: number): Promise<boolean> => {
      for await (const item of oneByOne(readRecords(chunksOf(Buffer.from(text), 10_000), levels)))
        return "record" in item;
      throw new Error("there was no line");
    };
    // Long lines are checked before they are parsed.
    for (const more of ["", "x".repeat(100_000)]) {
      const taken = [nested(200, more), nested(201, more), nested(204, more), nested(205, more)];
      expect(await Promise.all(taken.map((text) => isTaken(text)))).toEqual([true, false, false, false]);
      const wider = await Promise.all(taken.map((text) => isTaken(text, EXPORTED_LEVELS_MAX)));
      expect(wider).toEqual([true, true, true, false]);
    }
  });

  test("an empty file", async () => {
    expect(await read("")).toEqual([]);
  });
});

describe("one bad line costs one line, and is reported with its number:", () => {
  test.each([
    ["a torn line in the middle", '{"a": "to', /not valid JSON/],
    ["two objects on a line", '{"a":2}{"a":3}', /not valid JSON/],
    ["a hole of NUL bytes", "\0\0\0\0", /NUL/],
    ["NUL bytes inside", '{"a":\0\0\0}', /not valid JSON/],
    ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
    ["an encoded surrogate", Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d]), /UTF-8/],
    ["a JSON line that is not an object: a list", "[1]", /a list and not an object/],
    ["a JSON line that is not an object: null", "null", /null and not an object/],
    ["a JSON line that is not an object: text", '"text"', /a string and not an object/],
    ["a JSON line that is not an object: a number", "7", /a number and not an object/],
    ["an object with nothing in it", "{}", /empty object/],
    ["nesting without end", `${'{"a":'.repeat(300)}1${"}".repeat(300)}`, /nested/],
    ["nesting without end, long", `{"a":${"[".repeat(100_000)}`, /nested/],
  ])("%s", async (_, bad, reason) => {
    const content = Buffer.concat([Buffer.from('{"a":1}\n'), Buffer.from(bad), Buffer.from('\n{"a":9}\n')]);
    const [first, second, third, ...rest] = await read(content, 5_000);
    expect([first, third, rest]).toEqual([{ line: 1, record: { a: 1 } }, { line: 3, record: { a: 9 } }, []]);
    expect(second).toEqual({ line: 2, reason: expect.stringMatching(reason) });
  });

  test("the last line, torn by a crash", async () => {
    expect((await read('{"a":1}\n{"a": "half'))[1]).toEqual({ line: 2, reason: expect.stringMatching(/torn/) });
  });

  test("the reason quotes nothing from the line, which may contain a secret", async () => {
    const [item] = await read('{"key": sk-very-secret}\n');
    expect(JSON.stringify(item)).not.toContain("secret");
  });

  test("a line that is longer than any entry is dropped as it is read, and never held whole", async () => {
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      yield Buffer.from('{"a":1}\n{"a":"');
      for (let sent = 0; sent < 3 * LINE_BYTES_MAX; sent += 1_000_000) {
        yield Buffer.alloc(1_000_000, "x");
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }
      yield Buffer.from('"}\n{"a":9}\n');
    }
    expect(await gather(oneByOne(readRecords(endless())))).toEqual([
      { line: 1, record: { a: 1 } },
      { line: 2, reason: expect.stringMatching(/longer/) },
      { line: 3, record: { a: 9 } },
    ]);
    expect(most).toBeLessThan(2.5 * LINE_BYTES_MAX);
  });
});

describe("UTF-16, as some shells write it, is rejected line by line and never misread:", () => {
  const lines = '{"a":1}\r\n{"a":2}\r\n';
  test.each([
    ["little-endian with a mark", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(lines, "utf16le")])],
    ["little-endian without one", Buffer.from(lines, "utf16le")],
    ["big-endian with a mark", Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(lines, "utf16le").swap16()])],
    ["big-endian without one", Buffer.from(lines, "utf16le").swap16()],
  ])("%s", async (_, content) => {
    const reason = expect.stringMatching(/UTF-16/);
    expect(await read(content)).toEqual([
      { line: 1, reason },
      { line: 2, reason },
    ]);
  });
});

test("damaged transcripts in the shared folder have as many bad lines as they are known to have", async () => {
  const folder = sharedData("bad", "derived");
  const files = folder === undefined ? [] : readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  if (folder === undefined) return;
  const expected = JSON.parse(readFileSync(join(folder, "EXPECT.json"), "utf8"));
  for (const file of files) {
    const items = await read(readFileSync(join(folder, file)), 4_096);
    const { bad_lines } = expected[file.replace(".jsonl", "")];
    expect(items.filter((item) => "reason" in item).length, file).toBe(bad_lines);
  }
});
