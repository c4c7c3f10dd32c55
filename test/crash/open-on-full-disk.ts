// A program that opens stores, a new one and one with entries, while the disk has less and less room, and prints the faults.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { Fault, openRecorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { placeBallast } from "./ballast.js";

/** By kilobytes left: what each call came to, `ok` or a fault's code. */
export interface OpeningReport {
  readonly met: { readonly [left_kilobytes: string]: readonly string[] };
  /** The entries of the store that was there before, after all of it. */
  readonly entries: number;
  readonly verified: boolean;
}

const LEFT_KILOBYTES = [0, 8, 24, 48, 80, 100];

const folder = itemAt(process.argv, 2);
const old = join(folder, "old");

async function outcomesOf(data: string): Promise<readonly string[]> {
  const outcomes: string[] = [];
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      const result = await work();
      outcomes.push("ok");
      return result;
    } catch (error) {
      outcomes.push(error instanceof Fault ? error.code : String(error));
      return undefined;
    }
  };
  const recorder = await attempt(() => openRecorder({ data }));
  if (recorder === undefined) return outcomes;
  await attempt(() => recorder.append({ kind: "error", error: "one more".repeat(2_000) }));
  await attempt(() => recorder.getEntry(1));
  await attempt(() => recorder.listEntries());
  await recorder.close();
  return outcomes;
}

async function report(): Promise<OpeningReport> {
  const recorder = await openRecorder({ data: old });
  for (let nth = 0; nth < 20; nth += 1) await recorder.append({ kind: "error", error: "one".repeat(2_000) });
  await recorder.close();
  const met: { [left: string]: readonly string[] } = {};
  for (const left of LEFT_KILOBYTES) {
    for (const name of ["old", "new"]) {
      const data = join(folder, name);
      placeBallast(join(folder, "ballast"), { free_bytes: left * 1024 });
      met[`${name}, ${left}`] = await outcomesOf(data);
      rmSync(join(folder, "ballast"));
      if (name === "new") rmSync(data, { recursive: true, force: true });
    }
  }
  const again = await openRecorder({ data: old });
  const { entries } = await again.count();
  const { ok: verified } = await again.verify();
  await again.close();
  return { met, entries, verified };
}

process.stdout.write(JSON.stringify(await report()));
