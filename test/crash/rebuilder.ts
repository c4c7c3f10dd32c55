// A program that rebuilds the index of a store again and again, and says so each time, until it is killed.

import { writeSync } from "node:fs";
import { openRecorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";

const recorder = await openRecorder({ data: itemAt(process.argv, 2) });
writeSync(1, "begun\n");
for (;;) {
  await recorder.rebuildIndex();
  writeSync(1, "rebuilt\n");
}
