// docs/reference/ says what the program does: its generated pages are the program's own.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { referencePages } from "./reference-pages.js";

test("the generated pages of the reference are up to date; `npm run reference` writes them", async () => {
  const written = (file: string): string => readFileSync(join(repositoryRoot, "docs", "reference", file), "utf8");
  for (const [file, text] of Object.entries(await referencePages())) expect(written(file), file).toBe(text);
});
