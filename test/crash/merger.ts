// A program that fills a text index and merges it, says when it begins, and goes on until it is killed or done.

import { writeSync } from "node:fs";
import { itemAt } from "../../src/model/item-at.js";
import { advance, openMerged } from "./merged-index.js";

const index = openMerged(itemAt(process.argv, 2));
writeSync(1, "begun\n");
while (await advance(index));
await index.close();
