// A program that records with many callers at once and says on stdout what was acknowledged, until it is killed.
//
// The line is written synchronously right after the acknowledgement: never before it, and nothing acknowledged is held
// back in a buffer when the process dies.

import { writeSync } from "node:fs";
import { openRecorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { batchIds, entryOf } from "./made-entries.js";

export interface WriterOptions {
  readonly data: string;
  /** Begins every id, so no two writers make the same. */
  readonly name: string;
  readonly callers: number;
  /** How often each caller records before the program ends by itself. */
  readonly rounds: number;
}

const options = JSON.parse(itemAt(process.argv, 2)) as WriterOptions;
const recorder = await openRecorder({ data: options.data });

/** Lists now and then, so the index is being written as well when the end comes. */
async function call(caller: number): Promise<void> {
  for (let round = 0; round < options.rounds; round += 1) {
    const name = `${options.name}.${caller}.${round}`;
    const ids = round % 3 === 2 ? batchIds(name, 2 + (caller % 4)) : [`s.${name}`];
    const inputs = ids.map(entryOf);
    const { status, entries } = await recorder.append(inputs.length === 1 ? itemAt(inputs, 0) : inputs);
    if (status !== "recorded") throw new Error(`${name} was ${status}`);
    writeSync(1, entries.map(({ id }) => `${id}\n`).join(""));
    if (caller === 0 && round % 5 === 0) await recorder.listInteractions({ limit: 3 });
  }
}

await Promise.all(Array.from({ length: options.callers }, (_, caller) => call(caller)));
await recorder.close();
