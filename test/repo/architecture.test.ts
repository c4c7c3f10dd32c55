// docs/ARCHITECTURE.md says what the checks hold, and docs/BENCHMARKS.md what was measured.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Results, renderMarkdown } from "../../bench/report.js";
import { areaOf, rowOf } from "../../scripts/check-imports.mjs";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { listFiles } from "../../scripts/source-files.mjs";

function textOf(...path: readonly string[]): string {
  return readFileSync(join(repositoryRoot, ...path), "utf8");
}

/** The table of the house: each folder or file of src with what it may import. */
function tableOfTheHouse(): readonly (readonly [area: string, mayImport: readonly string[]])[] {
  const [, rest = ""] = textOf("docs", "ARCHITECTURE.md").split(
    "\n| folder | holds | may import |\n| --- | --- | --- |\n",
  );
  const rows = rest.slice(0, rest.indexOf("\n\n")).split("\n");
  return rows.flatMap((row) => {
    const [folders = "", , imports = ""] = row.slice(1, -1).split("|");
    const mayImport = imports.trim() === "nothing" ? [] : imports.trim().split(", ");
    return [...folders.matchAll(/`src\/([^`]+?)\/?`/g)].map(([, area]) => [area as string, mayImport] as const);
  });
}

test("the table of the house is the table of the import check, row by row", () => {
  const table = tableOfTheHouse();
  expect(table.length).toBeGreaterThan(20);
  expect(table).toEqual(table.map(([area]) => [area, rowOf(area)]));
});

test("every folder and file that lies directly in src has its row in the table of the house, once", () => {
  const areas = new Set(listFiles(repositoryRoot, "src").filter(isTypeScript).map(areaOf));
  const rows = tableOfTheHouse().map(([area]) => area);
  expect(rows.toSorted()).toEqual([...areas].sort());
});

test("every file that docs/ARCHITECTURE.md names is there", () => {
  const named = [...textOf("docs", "ARCHITECTURE.md").matchAll(/`([\w./-]+\.(?:ts|tsx|mjs))`/g)].map(
    ([, file]) => file as string,
  );
  expect(named.length).toBeGreaterThan(50);
  const files = [...listFiles(repositoryRoot, "src"), ...listFiles(repositoryRoot, "ui")];
  const isThere = (name: string): boolean =>
    existsSync(join(repositoryRoot, name)) || files.some((file) => file === name || file.endsWith(`/${name}`));
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

test("docs/BENCHMARKS.md states the figures that were measured", () => {
  const results = JSON.parse(textOf("bench", "results.json")) as Results;
  expect(textOf("docs", "BENCHMARKS.md")).toBe(renderMarkdown(results));
});

function isTypeScript(file: string): boolean {
  return file.endsWith(".ts");
}
