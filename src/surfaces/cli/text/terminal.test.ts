// Cleaning: recorded text cannot control a terminal.
import fc from "fast-check";
import pico from "picocolors";
import { describe, expect, test } from "vitest";
import { cleanLine, cleanText, documentText, type Pane, ProgressLine } from "./terminal.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

describe("cleaned text", () => {
  test.each([
    ["colours", "\u001b[1;31mred\u001b[0m", "red"],
    ["eight-bit sequences", "a\u009b31mb", "ab"],
    ["a clickable link", "\u001b]8;;https://evil\u0007text\u001b]8;;\u0007", "text"],
    ["a lone escape", "a\u001bb\u001b", "ab"],
    ["overrides of direction", "user\u202etxt.exe\u2066", "usertxt.exe"],
    ["a carriage return that would overwrite the line", "safe\rEVIL", "safe\nEVIL"],
    ["bells and backspaces", "a\u0007b\u0008c\u0000", "abc"],
    ["separators of lines and paragraphs", "a\u2028b\u2029c", "a\nb\nc"],
    ["half a character", "a\ud800b", "a\ufffdb"],
    ["ordinary text", "Größe\t日本語 👩‍👩‍👧 שלום\nnext", "Größe\t日本語 👩‍👩‍👧 שלום\nnext"],
  ])("%s", (_, text, expected) => {
    expect(cleanText(text)).toBe(expected);
  });

  test("contains no control sequences, whatever the input", () => {
    const nasty = fc.constantFrom(
      "\u001b",
      "[",
      "]",
      "0;",
      "m",
      "\u0007",
      "\u009b",
      "\u009d",
      "\\",
      "P",
      "a",
      "\u202e",
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(nasty).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (value) => {
        expect(cleanText(value)).not.toMatch(OBEYED);
        expect(cleanLine(value)).not.toMatch(/[\n\t]/);
      }),
    );
  });

  test("hostile text of a megabyte does not hang it", () => {
    for (const part of ["\u001b[", "\u001b]0;", "\u009b1;", "\u001b[1;1;1;1;"]) {
      expect(cleanText(part.repeat(200_000))).not.toMatch(OBEYED);
    }
  });

  test("fits on one line on request", () => {
    expect(cleanLine("  a\n\n b\tc  ")).toBe("a b c");
    expect(cleanLine("x".repeat(5_000))).toHaveLength(2_000);
  });
});

test("a document is unchanged after escaping, and contains no control sequences", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const value = JSON.parse(json);
      for (const isTerminal of [true, false]) {
        const text = documentText(value, paneInto([], isTerminal));
        expect(JSON.parse(text)).toEqual(value);
        expect(text).not.toMatch(OBEYED);
      }
    }),
  );
  expect(documentText({ a: "\u009b\u202e" }, paneInto([], false))).toBe('{"a":"\\u009b\\u202e"}\n');
});

test("progress is shown on terminals only, and removed afterwards", () => {
  const written: string[] = [];
  const elsewhere = new ProgressLine(paneInto(written, false));
  elsewhere.show("1 of 2");
  elsewhere.clear();
  expect(written).toEqual([]);
  const line = new ProgressLine(paneInto(written, true));
  line.show("1 of 2");
  line.clear();
  line.clear();
  expect(written).toEqual(["\r\u001b[2K1 of 2", "\r\u001b[2K"]);
  line.show("x".repeat(200));
  expect(written.at(-1)).toBe(`\r\u001b[2K${"x".repeat(79)}`);
});

function paneInto(written: string[], isTerminal: boolean): Pane {
  return {
    isTerminal,
    columns: isTerminal ? 80 : undefined,
    colours: pico.createColors(false),
    write: (text) => void written.push(text),
  };
}
