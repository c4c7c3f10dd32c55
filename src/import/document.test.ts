// Documents: the same values whether parsed whole or streamed, and the errors if they cannot be read.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { usedBytes } from "../../test/support/used-bytes.js";
import { type JsonValue, parseJson } from "../model/json.js";
import { type Document, firstValue, readDocument } from "./document.js";
import type { SourceValue } from "./importer.js";

async function* chunksOf(text: string | Buffer, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

function open(text: string | Buffer, size = 1_000): Promise<Document> {
  return readDocument(() => chunksOf(text, size));
}

async function gather(values: AsyncIterable<SourceValue>): Promise<readonly SourceValue[]> {
  const found: SourceValue[] = [];
  for await (const value of values) found.push(value);
  return found;
}

/** Enough white space for the document to be streamed. */
const padding = " ".repeat(40 * 1024 * 1024);

const text = JSON.stringify({ items: [{ a: 1, b: [2] }, "é 🙂", null], id: "x", more: { items: [7] } });
const items = [{ a: 1, b: [2] }, "é 🙂", null].map((value, index) => ({ line: index + 1, value }));

describe.each([
  ["held whole", text, 7],
  ["streamed", `${text.slice(0, 1)}${padding}${text.slice(1)}`, 100_003],
  ["with a byte order mark", `\ufeff${text}`, 3],
])("a document that is %s", (_, content, size) => {
  test("yields the values at a path in order, and members that come after them", async () => {
    const document = await open(content, size);
    expect(await document.header(["id", "more", "absent"])).toEqual({ id: "x", more: { items: [7] } });
    expect(await gather(document.values("items.*"))).toEqual(items);
    expect(await gather(document.values("absent.*"))).toEqual([]);
  });
});

test("of a document that is known to be long, nothing is read before it is needed", async () => {
  let opened = 0;
  const long = 40 * 1024 * 1024;
  const document = await readDocument(() => {
    opened += 1;
    return chunksOf(text, 7);
  }, long);
  expect(opened).toBe(0);
  expect(await gather(document.values("items.*"))).toEqual(items);
});

test("consecutive values are separate values, with any white space", async () => {
  const document = await open('{\n "a": 1\n}\n{"a":\n2}\n', 5);
  expect(await gather(document.values(""))).toEqual([
    { line: 1, value: { a: 1 } },
    { line: 2, value: { a: 2 } },
  ]);
});

test.each([
  ["torn", '[{"a":1},{"a":2},{"a":', /incomplete|not valid/],
  ["broken in the middle", '[{"a":1},{"a":2},\n!!!,{"a":3}]', /not valid JSON/],
])(
  "of a document that is %s, everything before is read, and one error says why it ends",
  async (_, content, reason) => {
    const found = await gather((await open(content)).values("*"));
    expect(found.slice(0, 2)).toEqual([
      { line: 1, value: { a: 1 } },
      { line: 2, value: { a: 2 } },
    ]);
    expect(found.slice(2)).toEqual([{ line: expect.any(Number), reason: expect.stringMatching(reason) }]);
  },
);

test("endless nesting is refused before it becomes objects", async () => {
  const deep = "[".repeat(300) + "]".repeat(300);
  expect(await gather((await open(`[${deep}]`)).values("*"))).toEqual([
    { line: 1, reason: expect.stringMatching(/nested/) },
  ]);
});

test("a document of 300 MB is read in bounded memory", async () => {
  const piece = Buffer.from(`${JSON.stringify({ text: "x".repeat(100_000) })},`);
  async function* long(): AsyncGenerator<Buffer> {
    yield Buffer.from("[");
    for (let index = 0; index < 3_000; index += 1) yield piece;
    yield Buffer.from("null]");
  }
  const document = await readDocument(long);
  const before = usedBytes();
  let most = 0;
  let count = 0;
  for await (const item of document.values("*")) {
    if ("value" in item) count += 1;
    if (count % 1_000 === 0) most = Math.max(most, usedBytes() - before);
  }
  expect(count).toBe(3_001);
  expect(most).toBeLessThan(20 * 1024 * 1024);
}, 60_000);

test("a long document from a stream, which cannot be read twice, is an error that says so", async () => {
  let isRead = false;
  const document = await readDocument(() => {
    if (isRead) return undefined;
    isRead = true;
    return chunksOf(`[1,${padding}2]`, 1_000_000);
  });
  expect(await gather(document.values("*"))).toEqual([{ line: 0, reason: expect.stringMatching(/from a file/) }]);
});

describe("the first value of an opening", () => {
  const first = (content: string): [JsonValue | undefined, boolean | undefined] => {
    const found = firstValue(Buffer.from(content));
    return [found?.value, found?.is_one_value];
  };

  test("is returned as far as it goes", () => {
    expect(first('{"id":"x","list":[{"a":1},{"b":')).toEqual([{ id: "x", list: [{ a: 1 }, {}] }, true]);
    expect(first('[\n{"a":1},\n{"a":2')).toEqual([[{ a: 1 }, {}], true]);
  });

  test("on a line of its own leaves the other lines", () => {
    expect(first('{"a":1}\n{"a":2}\n')).toEqual([{ a: 1 }, false]);
    expect(first('{\n{"a":1}\n')).toEqual([undefined, undefined]);
    expect(first("plain words\n")).toEqual([undefined, undefined]);
  });

  test.each([
    ...[
      '{"a":1} x\n',
      '{"a":1},\n',
      '{"a":1}}\n',
      "[1,]\n",
      '{"a":1,}\n',
      '{"a":1 "b"\n',
      "{1:2}\n",
      '{"a"}\n',
      "[1:2]\n",
    ],
    ...[
      "[01]\n",
      "[1.]\n",
      "[nul]\n",
      '["\\q"]\n',
      '["a\tb"]\n',
      '{"a":1} nul\n',
      '{"a":1} "\\q"\n',
      "[1}\n",
      '["a\nb"]\n',
    ],
  ])("is missing in %j", (content) => {
    expect(first(content)).toEqual([undefined, undefined]);
  });

  test("equals the value of JSON.parse, and is complete only if JSON.parse accepts it", () => {
    const piece = fc.constantFrom(
      "[",
      "]",
      "{",
      "}",
      ",",
      ":",
      '"',
      "\\",
      '"a"',
      "1",
      "01",
      "x",
      "true",
      " ",
      "\u00e9",
    );
    const pieces = fc.array(piece, { maxLength: 9 }).map((parts) => parts.join(""));
    const text = fc.oneof(
      pieces,
      fc.jsonValue().map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(text, (written) => {
        const content = `[${written}]\n`;
        const found = firstValue(Buffer.from(content));
        const value = parseJson(content);
        if (value !== undefined) expect(found).toEqual({ value, is_one_value: false });
        else if (found?.is_one_value === false) expect(isSequence(content)).toBe(true);
      }),
      fuzz(2_000),
    );
  });

  test("that is truncated anywhere is the beginning of the whole one", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(), (items, nat) => {
        const content = JSON.stringify([0, ...items]);
        const found = first(content.slice(0, 3 + (nat % (content.length - 2))))[0] as readonly JsonValue[];
        const whole = JSON.parse(content) as readonly JsonValue[];
        const known = found.length - 1;
        expect(found.slice(0, known)).toEqual(whole.slice(0, known));
      }),
      fuzz(500),
    );
  });
});

/** Whether a text is a series of JSON values. */
function isSequence(text: string): boolean {
  if (text.trim() === "") return true;
  const ends = Array.from(text, (_, at) => at + 1);
  return ends.some((end) => parseJson(text.slice(0, end)) !== undefined && isSequence(text.slice(end)));
}
