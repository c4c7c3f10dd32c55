// Layout: columns, cuts and bars by the width that characters have on a terminal.

import pico from "picocolors";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { itemAt } from "../../../model/item-at.js";
import { bar } from "./plot.js";
import { countOf, fitText, formatBytes, jsonText, renderTable, wrapText } from "./table.js";

const colours = pico.createColors(false);

describe("cutting", () => {
  test.each([
    ["short", 5, "short"],
    ["longer text", 7, "longer…"],
    ["日本語テキスト", 7, "日本語…"],
    ["日本語", 6, "日本語"],
    ["👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 5, "👩‍👩‍👧👩‍👩‍👧…"],
    ["e\u0301e\u0301e\u0301", 2, "e\u0301…"],
  ])("%s to %i columns", (text, width, expected) => {
    expect(fitText(text, width)).toBe(expected);
    expect(stringWidth(fitText(text, width))).toBeLessThanOrEqual(width);
  });
});

describe("wrapping", () => {
  test("breaks at spaces, keeps line breaks, and breaks what has no spaces at whole characters", () => {
    expect(wrapText("one two three\n\nfour", 8)).toEqual(["one two", "three", "", "four"]);
    expect(wrapText("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
    expect(wrapText("日本語テキスト", 6)).toEqual(["日本語", "テキス", "ト"]);
    expect(wrapText("  indented text", 10)).toEqual(["  indented", "text"]);
  });

  test("without a width nothing is wrapped", () => {
    expect(wrapText("a long line\tof text", undefined)).toEqual(["a long line    of text"]);
  });
});

describe("a table", () => {
  const rows = [
    ["1", "a-project-with-a-long-name", "日本語テキスト".repeat(20)],
    ["200", "web", "short"],
  ];
  const columns = [
    { title: "#", align: "right" as const },
    { title: "PROJECT", widthMax: 20, widthMin: 8 },
    { title: "WHAT" },
  ];

  test.each([60, 80, 120])("fits into %i columns, and its columns line up", (width) => {
    const lines = renderTable({ columns, rows, width, colours }).trimEnd().split("\n");
    expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width);
    const starts = ["WHAT", "日本", "short"].map((text, at) => {
      const line = itemAt(lines, at);
      return stringWidth(line.slice(0, line.indexOf(text)));
    });
    expect(new Set(starts).size).toBe(1);
    expect(lines[2]).toMatch(/^200 {2}web/);
  });

  test("outside of terminals nothing is cut", () => {
    const text = renderTable({ columns, rows, width: undefined, colours });
    expect(text).toContain("a-project-with-a-long-name");
    expect(text).toContain("日本語テキスト".repeat(20));
  });
});

test("a bar is in proportion, and any value above zero shows at least a sliver", () => {
  expect(bar(10, 10)).toBe("█".repeat(24));
  expect(bar(5, 10)).toBe("█".repeat(12));
  expect(bar(1, 1_000_000)).toBe("▏");
  expect(bar(0, 10)).toBe("");
});

test("counts and sizes in words", () => {
  expect(countOf(1, "entry", "entries")).toBe("1 entry");
  expect(countOf(12_345, "entry", "entries")).toBe("12,345 entries");
  expect([0, 1023, 1024, 15 * 1024, 3 * 1024 ** 3].map(formatBytes)).toEqual([
    "0 bytes",
    "1,023 bytes",
    "1.0 KiB",
    "15 KiB",
    "3.0 GiB",
  ]);
});

test("JSON for people is on one line if it fits, and is the same JSON in any case", () => {
  expect(jsonText({ a: 1, b: [true, null] }, 40)).toBe('{"a": 1, "b": [true, null]}');
  expect(jsonText({ list: ["one", "two"], text: "x" }, 20)).toBe(
    '{\n  "list": [\n    "one",\n    "two"\n  ],\n  "text": "x"\n}',
  );
  const value = { deep: [{ a: "x".repeat(90) }, [], {}, "y", 1.5, false], __proto__: null };
  for (const width of [1, 10, 40, 200]) expect(JSON.parse(jsonText(value, width))).toEqual(value);
});
