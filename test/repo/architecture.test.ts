// docs/ARCHITECTURE.md says what the checks hold, and docs/BENCHMARKS.md what was measured.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type Results, renderMarkdown } from "../../bench/report.js";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { listFiles } from "../../scripts/source-files.mjs";
import { itemAt } from "../../src/model/item-at.js";

function textOf(...path: readonly string[]): string {
  return readFileSync(join(repositoryRoot, ...path), "utf8");
}

test("every part has its row in the table of the house, once", () => {
  const [, rest = ""] = textOf("docs", "ARCHITECTURE.md").split("\n| part | holds |\n| --- | --- |\n");
  const table = rest.slice(0, rest.indexOf("\n\n"));
  const rows = [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, part]) => part);
  const settings = ["client", "src"].flatMap((folder) => listFiles(repositoryRoot, folder)).filter(isSettings);
  expect(rows.toSorted()).toEqual(settings.map((file) => `${dirname(file)}/`).toSorted());
});

test("every file that docs/ARCHITECTURE.md names is there", () => {
  const named = [...textOf("docs", "ARCHITECTURE.md").matchAll(/`([\w./-]+\.(?:ts|tsx|mjs))`/g)].map(
    ([, file]) => file as string,
  );
  expect(named.length).toBeGreaterThan(20);
  const files = [...listFiles(repositoryRoot, "src"), ...listFiles(repositoryRoot, "ui")];
  const isThere = (name: string): boolean =>
    existsSync(join(repositoryRoot, name)) || files.some((file) => file === name || file.endsWith(`/${name}`));
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

test("the walk of an entry names at most 25 files", () => {
  const [, walk = ""] = /<!-- walk -->\n([\s\S]*?)\n## /.exec(textOf("docs", "ARCHITECTURE.md")) ?? [];
  const named = new Set([...walk.matchAll(/`([\w./-]+\.ts)`/g)].map(([, file]) => file));
  expect(named.size).toBeGreaterThan(20);
  expect(named.size).toBeLessThanOrEqual(25);
});

test("docs/BENCHMARKS.md states the figures that were measured", () => {
  const results = JSON.parse(textOf("bench", "results.json")) as Results;
  expect(textOf("docs", "BENCHMARKS.md")).toBe(renderMarkdown(results));
});

/** What a printed figure can have been before it was rounded: half of its last place more or less. */
function rangeOf(printed: string): readonly [least: number, most: number] {
  const digits = /^[\d,]+(?:\.(\d+))?/.exec(printed);
  const value = Number(digits?.[0].replaceAll(",", ""));
  // Zeros at the end are not printed, so the place is that of figures of this size.
  const half = 0.5 * 10 ** -(value >= 1_000 ? 0 : value >= 10 ? 1 : 2);
  return [value - half, value + half];
}

test("every printed ratio follows from two printed figures of its suite", () => {
  const { suites } = JSON.parse(textOf("bench", "results.json")) as Results;
  const sections = textOf("docs", "BENCHMARKS.md").split("\n## ").slice(1);
  expect(sections.map((section) => section.split("\n", 1)[0])).toEqual(suites.map(({ name }) => name));
  let ratios = 0;
  for (const [at, { name: suite, figures }] of suites.entries()) {
    const printed = [...itemAt(sections, at).matchAll(/^\| (.+) \| ([\d,.]+) (\S*) \|.*\|$/gm)];
    const rowOf = (name: string): readonly string[] => {
      const rows = printed.filter(([, row]) => row === name);
      expect([suite, name, rows.length]).toEqual([suite, name, 1]);
      return itemAt(rows, 0).slice(1);
    };
    const ofRatios = new Map(figures.flatMap(({ name, of }) => (of === undefined ? [] : [[name, of] as const])));
    expect([suite, ...ofRatios.keys()]).toEqual([
      suite,
      ...printed.flatMap(([, row, , unit]) => (unit === "×" ? [row] : [])),
    ]);
    for (const [name, [dividend, divisor]] of ofRatios) {
      const [above, below] = [rowOf(dividend), rowOf(divisor)];
      expect([name, above[2]]).toEqual([name, below[2]]);
      const [least, most] = rangeOf(itemAt(rowOf(name), 1));
      const [[aboveLeast, aboveMost], [belowLeast, belowMost]] = [rangeOf(itemAt(above, 1)), rangeOf(itemAt(below, 1))];
      const follows = least <= aboveMost / belowLeast && aboveLeast / belowMost <= most;
      expect([suite, name, follows]).toEqual([suite, name, true]);
      ratios += 1;
    }
  }
  expect(ratios).toBeGreaterThan(40);
});

function isSettings(file: string): boolean {
  return file.endsWith("/tsconfig.json");
}
