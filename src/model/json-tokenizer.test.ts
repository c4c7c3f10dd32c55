// The tokenizer of JSON bytes, compared with JSON.parse: its tokens make the same value, however the bytes are split.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fuzz } from "../../test/support/fuzz.js";
import { JsonTokenizer } from "./json-tokenizer.js";

interface Token {
  readonly kind: string;
  /** Offsets in the whole text. */
  readonly start: number;
  readonly end: number;
  readonly depth: number;
}

/** Writes a text in chunks of these lengths, in turn. */
function tokensOf(bytes: Buffer, lengths: readonly number[] = [bytes.length]) {
  const tokens: Token[] = [];
  let before = 0;
  const add = (kind: string, start: number, end = start + 1): void => {
    tokens.push({ kind, start: before + start, end: before + end, depth: tokenizer.depth });
  };
  const tokenizer = new JsonTokenizer({
    begin: (at, isObject) => add(isObject ? "{" : "[", at),
    end: (at, isObject) => add(isObject ? "}" : "]", at),
    string: (start, end) => add("string", start, end),
    scalar: (start, end) => add("scalar", start, end),
    comma: (at) => add(",", at),
    colon: (at) => add(":", at),
  });
  for (let nth = 0; before < bytes.length; nth += 1) {
    const piece = bytes.subarray(before, before + (lengths[nth % lengths.length] ?? 1));
    tokenizer.write(piece);
    before += piece.length;
  }
  tokenizer.end();
  return { tokens, tokenizer };
}

/** The text without the white space between tokens. */
function joined(bytes: Buffer, tokens: readonly Token[]): string {
  return tokens.map(({ start, end }) => bytes.toString("utf8", start, end)).join("");
}

const lengths = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 });
const spaces = fc.constantFrom(0, 2, "\t", " \r\n");
const longText = fc.string({ unit: fc.constantFrom('"', "\\", "a", "é", "[", "\n", "x".repeat(60)), maxLength: 60 });
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "medium" },
    fc.jsonValue(),
    longText,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(longText, tie("value"), { maxKeys: 4 }),
  ),
}));

test("the tokens of any JSON cover everything but white space, whatever its strings contain", () => {
  fc.assert(
    fc.property(json, spaces, (value, space) => {
      const bytes = Buffer.from(JSON.stringify(value, null, space));
      const { tokens, tokenizer } = tokensOf(bytes);
      expect(joined(bytes, tokens)).toBe(JSON.stringify(JSON.parse(bytes.toString())));
      expect(tokenizer).toMatchObject({ depth: 0, unfinished: undefined });
      for (const { kind, start, end } of tokens) {
        if (kind === "string") expect(typeof JSON.parse(bytes.toString("utf8", start, end))).toBe("string");
        else if (kind === "scalar") expect(typeof JSON.parse(bytes.toString("utf8", start, end))).not.toBe("string");
        else expect(bytes.toString("utf8", start, end)).toBe(kind);
      }
    }),
    fuzz(500),
  );
});

test("chunks yield the same tokens as the whole text", () => {
  const piece = fc.constantFrom(
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    '"',
    "\\",
    "\\\\",
    "1e5",
    "nul",
    " ",
    "\n",
    "é",
    "x".repeat(60),
  );
  const text = fc.oneof(
    fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join("")),
    json.map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(text, lengths, (written, cuts) => {
      const bytes = Buffer.from(written);
      const [whole, cut] = [tokensOf(bytes), tokensOf(bytes, cuts)];
      expect(cut.tokens).toEqual(whole.tokens);
      expect(cut.tokenizer.depth).toBe(whole.tokenizer.depth);
      expect(cut.tokenizer.unfinished).toBe(whole.tokenizer.unfinished);
    }),
    fuzz(2_000),
  );
});

test("a text that JSON.parse accepts has only valid tokens", () => {
  const flawed = ['{"a":tru}', "[1.]", '["\\q"]', "[01]", '["a\tb"]', "[-]", "[nulll]"];
  for (const text of flawed) {
    expect(() => JSON.parse(text)).toThrow();
    const { tokens } = tokensOf(Buffer.from(text));
    const scalars = tokens.filter(({ kind }) => kind === "string" || kind === "scalar");
    expect(() => scalars.map(({ start, end }) => JSON.parse(text.slice(start, end)))).toThrow();
  }
});

describe("depth", () => {
  test("counts opening and closing brackets", () => {
    const { tokens } = tokensOf(Buffer.from('[{"a":[]}]'));
    expect(tokens.map(({ kind, depth }) => `${kind}${depth}`)).toEqual([
      ...["[1", "{2", "string2", ":2", "[3", "]3", "}2", "]1"],
    ]);
  });
});

test("if the bytes end within a token, it says which one and where it began", () => {
  const unfinished = (...pieces: readonly string[]) => {
    const tokenizer = new JsonTokenizer({});
    for (const piece of pieces) tokenizer.write(Buffer.from(piece));
    return [tokenizer.unfinished, tokenizer.unfinishedStart];
  };
  expect(unfinished('["abc')).toEqual(["string", -4]);
  expect(unfinished('["abc', "", "d\\", '"')).toEqual(["string", -7]);
  expect(unfinished("[12")).toEqual(["scalar", -2]);
  expect(unfinished("[12 ")[0]).toBeUndefined();
});

test("a visitor can stop, and after a reset the next document begins", () => {
  const seen: number[] = [];
  const stopped = new JsonTokenizer({
    scalar(start) {
      seen.push(start);
      if (seen.length === 2) stopped.stop();
    },
  });
  for (const text of ["1,2", ",3,", "4 "]) stopped.write(Buffer.from(text));
  stopped.end();
  expect(seen).toEqual([0, -1]);
  const tokenizer = new JsonTokenizer({});
  tokenizer.write(Buffer.from('[{"a\\'));
  tokenizer.reset();
  expect(tokenizer).toMatchObject({ depth: 0, unfinished: undefined });
  tokenizer.write(Buffer.from('["'));
  expect(tokenizer).toMatchObject({ depth: 1, unfinished: "string" });
});

test("a range of the bytes is read on its own, also if a long string does not end in it", () => {
  const text = Buffer.from(`["${"x".repeat(100)}\n["a"]`);
  const feed = text.indexOf("\n");
  const ends: number[] = [];
  const tokenizer = new JsonTokenizer({ string: (_, end) => ends.push(end) });
  tokenizer.write(text, 0, feed);
  expect(tokenizer.unfinished).toBe("string");
  tokenizer.reset();
  tokenizer.write(text, feed + 1);
  expect(ends).toEqual([text.length - 1]);
});
