// Sections of documents that a run writes.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { sectionOf, writeSection } from "../support/document-section.js";
import { folderOfTest } from "../support/temporary-folder.js";

test("a section is replaced between its markers, and nothing else changes", () => {
  const file = join(folderOfTest(), "document.md");
  writeFileSync(file, "before\n<!-- one -->\nold\n<!-- /one -->\nbetween\n<!-- two -->\n<!-- /two -->\nafter\n");
  writeSection(file, { name: "one", section: "new\n" });
  writeSection(file, { name: "two", section: "| a | b |" });
  writeSection(file, { name: "two", section: "| a | c |" });
  expect(readFileSync(file, "utf8")).toBe(
    "before\n<!-- one -->\nnew\n<!-- /one -->\nbetween\n<!-- two -->\n| a | c |\n<!-- /two -->\nafter\n",
  );
  expect([sectionOf(file, "one"), sectionOf(file, "two")]).toEqual(["new", "| a | c |"]);
});

test("a section without its markers is an error", () => {
  const file = join(folderOfTest(), "document.md");
  writeFileSync(file, "<!-- one -->\nnever closed\n");
  expect(() => sectionOf(file, "one")).toThrow("<!-- /one -->");
  expect(() => writeSection(file, { name: "two", section: "x" })).toThrow("<!-- two -->");
});

test("docs/RELIABILITY.md has the sections that runs write", () => {
  const file = join(repositoryRoot, "docs", "RELIABILITY.md");
  for (const name of ["fire", "soak", "routes"]) expect(() => sectionOf(file, name)).not.toThrow();
});
