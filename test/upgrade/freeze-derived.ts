// Writes what is derived from the sample entries, after a change that raised DERIVATION or added samples:
// `node dist/test/upgrade/freeze-derived.js`.
import { existsSync, writeFileSync } from "node:fs";
import { DERIVATION } from "../../src/index/derivation.js";
import { committedSnapshot, derive, derivedFile, presentSnapshot, problemOf } from "./derived.js";

if (existsSync(derivedFile)) {
  const committed = committedSnapshot();
  const problem = problemOf(committed, await derive(committed.samples), DERIVATION);
  if (problem !== undefined) throw new Error(problem);
}
writeFileSync(derivedFile, `${JSON.stringify(await presentSnapshot(DERIVATION), undefined, 2)}\n`);
