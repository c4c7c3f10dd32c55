// How much a busy indexer disturbs capture: latency of a steady stream of captures, without and with a rebuild running.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { openRecorder, type Recorder } from "../src/index.js";
import { type Measured, median, percentile, type Suite, type SuiteOptions } from "./figures.js";
import { sampleInteraction } from "./sample-data.js";

const PACE_PER_SECOND = 400;

export const indexing: Suite = {
  name: "indexing",
  about: `capture's latency at ${PACE_PER_SECOND} entries/s, while the indexer is idle and while it rebuilds the index`,
  async run({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
    const store = join(folder, "store");
    rmSync(store, { recursive: true, force: true });
    const recorder = await openRecorder({ data: store });
    await fill(recorder, Math.round(30_000 * scale));
    const count = Math.round(2_000 * scale);
    const calm: number[] = [];
    const busy: number[] = [];
    let rebuilds = 0;
    for (let round = 0; round < rounds; round += 1) {
      calm.push(percentile(await stream(recorder, count), 0.99));
      let going = true;
      const rebuilding = (async () => {
        while (going) {
          await recorder.rebuildIndex();
          rebuilds += 1;
        }
      })();
      busy.push(percentile(await stream(recorder, count), 0.99));
      going = false;
      await rebuilding;
    }
    await recorder.close();
    return [
      { name: "index rebuilds during the run", value: rebuilds, unit: "times" },
      { name: "p99, indexer at rest", value: median(calm), unit: "ms" },
      { name: "p99, indexer busy", value: median(busy), unit: "ms" },
      { name: "p99 busy ÷ at rest", of: ["p99, indexer busy", "p99, indexer at rest"], target: { at_most: 2 } },
    ];
  },
};

async function fill(recorder: Recorder, count: number): Promise<void> {
  for (let done = 0; done < count; done += 500) {
    await recorder.append(Array.from({ length: 500 }, (_, i) => sampleInteraction(done + i)));
  }
  await recorder.count();
}

/** Latencies in milliseconds of captures that start at a steady pace, whether or not the one before has ended. */
export async function stream(
  recorder: Recorder,
  count: number,
  pacePerSecond = PACE_PER_SECOND,
): Promise<readonly number[]> {
  const latencies: number[] = [];
  const captures: Promise<void>[] = [];
  const begin = performance.now();
  for (let i = 0; i < count; i += 1) {
    const due = begin + (i * 1_000) / pacePerSecond;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const start = performance.now();
    captures.push(
      recorder.append(sampleInteraction(i)).then(() => {
        latencies.push(performance.now() - start);
      }),
    );
  }
  await Promise.all(captures);
  return latencies;
}
