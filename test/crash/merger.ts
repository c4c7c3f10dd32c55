// A program that fills a text index and merges it, says when it begins, and goes on until it is killed or done.
import { writeSync } from "node:fs";
import { advance, openMerged } from "./merged-index.js";

const index = openMerged(process.argv[2] as string);
writeSync(1, "begun\n");
while (await advance(index));
await index.close();
