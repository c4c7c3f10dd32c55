// A program that fills a text index and tidies it, says when it begins, and goes on until it is killed or done.
import { writeSync } from "node:fs";
import { advance, openTidied } from "./tidied-index.js";

const index = openTidied(process.argv[2] as string);
writeSync(1, "begun\n");
while (await advance(index));
await index.close();
