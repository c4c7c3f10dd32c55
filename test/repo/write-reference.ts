// `npm run reference`: writes the pages of docs/reference/ that follow from the program.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { referencePages } from "./reference-pages.js";

for (const [file, text] of Object.entries(await referencePages())) {
  writeFileSync(join(repositoryRoot, "docs", "reference", file), text);
}
