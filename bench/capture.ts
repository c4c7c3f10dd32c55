// Capture through the library against raw SQLite with the same durability (WAL, synchronous=FULL).
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Database } from "../src/engines/sqlite/driver.js";
import { openRecorder } from "../src/index.js";
import { type Measured, median, type Suite, type SuiteOptions } from "./figures.js";
import { sampleInteraction } from "./sample-data.js";

export const capture: Suite = {
  name: "capture",
  about: "4 KB entries per second through the library, against inserts into one table of raw SQLite",
  async run({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
    const single = Math.round(3_000 * scale);
    const many = Math.round(40_000 * scale);
    const runs = {
      rawOne: [] as number[],
      rawOneWithId: [] as number[],
      one: [] as number[],
      rawHundred: [] as number[],
      callers: [] as number[],
    };
    for (let round = 0; round < rounds; round += 1) {
      runs.rawOne.push(raw({ folder, count: single, perTransaction: 1 }));
      runs.rawOneWithId.push(raw({ folder, count: single, perTransaction: 1, hasId: true }));
      runs.one.push(await ours({ folder, count: single, callers: 1 }));
      runs.rawHundred.push(raw({ folder, count: many, perTransaction: 100 }));
      runs.callers.push(await ours({ folder, count: many, callers: 64 }));
    }
    const [rawOne, one] = [median(runs.rawOne), median(runs.one)];
    const [rawHundred, callers] = [median(runs.rawHundred), median(runs.callers)];
    return [
      { name: "raw, one per transaction", value: rawOne, unit: "entries/s" },
      // What idempotent ids cost anybody: one more tree, and so one more page in every commit.
      { name: "raw with a unique id, one per transaction", value: median(runs.rawOneWithId), unit: "entries/s" },
      { name: "one caller", value: one, unit: "entries/s" },
      { name: "one caller ÷ raw", of: ["one caller", "raw, one per transaction"], target: { at_least: 0.7 } },
      { name: "raw, a hundred per transaction", value: rawHundred, unit: "entries/s" },
      { name: "64 callers", value: callers, unit: "entries/s" },
      { name: "64 callers ÷ raw", of: ["64 callers", "raw, a hundred per transaction"], target: { at_least: 0.5 } },
    ];
  },
};

function raw(options: {
  readonly folder: string;
  readonly count: number;
  readonly perTransaction: number;
  readonly hasId?: boolean;
}): number {
  const path = join(options.folder, "raw.db");
  for (const ending of ["", "-wal", "-shm"]) rmSync(path + ending, { force: true });
  const db = new Database(path);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  const id = options.hasId === true ? ", id TEXT NOT NULL UNIQUE DEFAULT (hex(randomblob(16)))" : "";
  db.exec(`CREATE TABLE log (position INTEGER PRIMARY KEY, body BLOB NOT NULL${id})`);
  const insert = db.prepare("INSERT INTO log (body) VALUES (?)");
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const start = performance.now();
  for (let done = 0; done < options.count; done += options.perTransaction) {
    begin.run();
    for (let i = 0; i < options.perTransaction; i += 1) {
      insert.run(Buffer.from(JSON.stringify(sampleInteraction(done + i))));
    }
    commit.run();
  }
  const seconds = (performance.now() - start) / 1_000;
  db.close();
  return options.count / seconds;
}

async function ours(options: {
  readonly folder: string;
  readonly count: number;
  readonly callers: number;
}): Promise<number> {
  const store = join(options.folder, "store");
  rmSync(store, { recursive: true, force: true });
  const recorder = await openRecorder({ data: store });
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < options.count) {
      next += 1;
      await recorder.append(sampleInteraction(next));
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: options.callers }, caller));
  const seconds = (performance.now() - start) / 1_000;
  await recorder.close();
  return options.count / seconds;
}
