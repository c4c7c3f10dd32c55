// A program that reads a store while others write to it, and ends with status 1 and a word on stderr if it sees a gap.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { openRecorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { entryOf } from "./made-entries.js";

const data = itemAt(process.argv, 2);
let stopping = false;
process.on("message", () => {
  stopping = true;
});

while (!existsSync(join(data, "log.db"))) await new Promise((resolve) => setTimeout(resolve, 5));
const recorder = await openRecorder({ data });
let followed = 0;
let rounds = 0;

/** What the head says is there must be readable, whole, and in every list. */
async function follow(): Promise<void> {
  const { position } = await recorder.health();
  if (position < followed) fail(`the head went back from ${followed} to ${position}`);
  for (; followed < position; followed += 1) {
    const entry = await recorder.getEntry(followed + 1);
    if (entry === undefined) return fail(`there is nothing at ${followed + 1}, but the head is ${position}`);
    const expected = entryOf(entry.id);
    if (entry.kind !== expected.kind) return fail(`${entry.id} is not as it was written`);
  }
  const { entries } = await recorder.count();
  if (entries < position) fail(`the index counts ${entries} entries, but the head was ${position} before`);
}

function fail(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

while (!stopping) {
  await follow();
  rounds += 1;
}
await follow();
const verification = await recorder.verify();
if (!verification.ok) fail(`position ${verification.position}: ${verification.reason}`);
await recorder.close();
process.send?.({ followed, rounds });
process.disconnect?.();
