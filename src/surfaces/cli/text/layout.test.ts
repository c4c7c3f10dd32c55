// Layout of any recorded text: nothing is wider than the terminal, and no character is split.

import fc from "fast-check";
import pico from "picocolors";
import stringWidth from "string-width";
import { describe, expect, test } from "vitest";
import { itemAt } from "../../../model/item-at.js";
import { paragraphLines } from "./paragraphs.js";
import { factsText, fitText, renderTable, wrapText } from "./table.js";
import { beginningOf, cleanLine, cleanText, type Pane } from "./terminal.js";

const colours = pico.createColors(false);
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const graphemesOf = (text: string): string[] => [...segmenter.segment(text)].map(({ segment }) => segment);
const unspaced = (text: string): string[] => graphemesOf(text).filter((one) => one.trim() !== "");

const piece = fc.constantFrom(
  ...[
    "a",
    "word ",
    "longer-word-without-a-break",
    " ",
    "日本",
    "語",
    "é",
    "e\u0301",
    "ä\u0323\u0301",
    "👩‍👩‍👧",
    "🏳️‍🌈",
    "🇩🇪",
    "👍🏽",
  ],
  ...["שלום ", "مرحبا", "क्षि", "นี้", "한국", "한", "\u200b", "ﷺ", "…", "→", "\u{1F600}"],
);
const line = fc.array(piece, { maxLength: 60 }).map((pieces) => cleanLine(pieces.join(""), 10_000));
const widths = fc.constantFrom(40, 80, 120, 200);

function pane(columns: number): Pane {
  return { isTerminal: true, columns, colours, write: () => undefined };
}

function tooWide(text: string, columns: number): readonly string[] {
  return linesWiderThan(text.split("\n"), columns);
}

/** Each line is measured once, because measuring takes longer than the layout. */
function linesWiderThan(lines: readonly string[], columns: number): readonly string[] {
  return [...new Set(lines)].filter((one) => stringWidth(one) > columns);
}

describe("any recorded text", () => {
  test("a shortened text fits, and begins with whole characters of the original", () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 2, max: 60 }), (text, width) => {
        const fitted = fitText(text, width);
        expect(stringWidth(fitted)).toBeLessThanOrEqual(width);
        if (fitted === text) return;
        expect(fitted.endsWith("…")).toBe(true);
        const kept = unspaced(fitted.slice(0, -1));
        expect(kept).toEqual(unspaced(text).slice(0, kept.length));
      }),
    );
  });

  test("a wrapped text fits, and has all characters of the original, whole and in order", () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 4, max: 60 }), (text, width) => {
        const lines = wrapText(text, width);
        expect(lines.filter((one) => stringWidth(one) > width)).toEqual([]);
        expect(lines.flatMap(unspaced)).toEqual(unspaced(text));
      }),
    );
  });

  test("the beginning of a text ends with a whole character", () => {
    fc.assert(
      fc.property(line, fc.integer({ min: 1, max: 80 }), (text, chars) => {
        const beginning = beginningOf(text, chars);
        expect(beginning.length).toBeLessThanOrEqual(chars);
        if (graphemesOf(text)[0] === undefined || itemAt(graphemesOf(text), 0).length > chars) return;
        expect(graphemesOf(beginning)).toEqual(graphemesOf(text).slice(0, graphemesOf(beginning).length));
      }),
    );
  });

  test("a table fits, with any cells and any number of columns", () => {
    const cells = fc.array(line, { minLength: 2, maxLength: 7 });
    fc.assert(
      fc.property(widths, fc.array(cells, { minLength: 1, maxLength: 5 }), (width, given) => {
        const columns = itemAt(given, 0).map((_, at) => ({
          title: `TITLE ${at}`,
          ...(at % 2 === 0 ? { widthMin: 8, widthMax: 36 } : {}),
          ...(at % 3 === 0 ? { align: "right" as const } : {}),
        }));
        const rows = given.map((row) => columns.map((_, at) => row[at] ?? ""));
        expect(tooWide(renderTable({ columns, rows, width, colours }), width)).toEqual([]);
      }),
    );
  });

  test("facts and paragraphs fit next to their labels", () => {
    fc.assert(
      fc.property(widths, line, line, (columns, left, right) => {
        expect(
          tooWide(
            factsText(
              [
                ["Session", left],
                ["Project", right],
              ],
              pane(columns),
            ),
            columns,
          ),
        ).toEqual([]);
        const lines = paragraphLines(
          [{ text: `${left}\n${right}`, linesMax: 3 }, { text: right }],
          columns,
          pane(columns),
        );
        expect(lines.filter((one) => stringWidth(one) > columns)).toEqual([]);
      }),
    );
  });
});

test("an overlong word begins at its place, and one line is cut without a note about its length", () => {
  const path = `{"file_path":"/${"x".repeat(40)}"}`;
  expect(wrapText(`calls Read ${path}`, 40)).toEqual([`calls Read ${path.slice(0, 29)}`, path.slice(29)]);
  expect(paragraphLines([{ text: `raw\n${path}`, linesMax: 1 }], 40, pane(40))).toEqual([`raw ${path.slice(0, 35)}…`]);
});

test.each([40, 200])("one line of 200,000 characters and names of 512 bytes fit into %i columns", (columns) => {
  for (const unit of ["x", "日", "👩‍👩‍👧", "e\u0301", "ש"]) {
    const [text, name] = [unit.repeat(Math.ceil(200_000 / unit.length)), unit.repeat(512 / Buffer.byteLength(unit))];
    const rows = [[name, cleanLine(text)]];
    const table = renderTable({
      columns: [{ title: "SESSION", widthMax: 20, widthMin: 8 }, { title: "WHAT" }],
      rows,
      width: columns,
      colours,
    });
    expect(tooWide(table, columns)).toEqual([]);
    expect(fitText(text, columns)).toBe(`${unit.repeat(Math.floor((columns - 1) / stringWidth(unit)))}…`);
    expect(linesWiderThan(wrapText(cleanText(text), columns), columns)).toEqual([]);
    expect(paragraphLines([{ text, linesMax: 3 }], columns, pane(columns))).toHaveLength(4);
  }
});
