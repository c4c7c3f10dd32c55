// How much those who follow the log disturb capture: latency of a steady stream of captures, without and with listeners.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { setPriority } from "node:os";
import { join } from "node:path";
import { openRecorder, type Recorder } from "../src/index.js";
import { serve } from "../src/surfaces/http/serve.js";
import { type Measured, median, percentile, type Suite, type SuiteOptions } from "./figures.js";
import { stream } from "./indexing.js";

const LISTENERS = 100;
/** What a hundred people could not follow, and a hundred programs can: 80 MB a second in all. */
const PACE_PER_SECOND = 200;

export const tail: Suite = {
  name: "tail",
  about: `capture's latency at ${PACE_PER_SECOND} entries/s of 4 KB, alone and with ${LISTENERS} listeners to the live tail`,
  async run({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
    const store = join(folder, "store");
    rmSync(store, { recursive: true, force: true });
    const recorder = await openRecorder({ data: store });
    const serving = await serve({ recorder, version: "bench", port: 0 });
    const count = Math.round(1_200 * scale);
    const p99 = { alone: [] as number[], library: [] as number[], http: [] as number[], apart: [] as number[] };
    await stream(recorder, count, PACE_PER_SECOND);
    await withIterators(recorder, count);
    await withClients(serving.address, { recorder, count });
    // A p99 is decided by a dozen captures and by what the disk does in that second, so it takes more rounds than a mean.
    for (let round = 0; round < rounds * 2 - 1; round += 1) {
      p99.alone.push(percentile(await stream(recorder, count, PACE_PER_SECOND), 0.99));
      p99.library.push(percentile(await withIterators(recorder, count), 0.99));
      p99.http.push(percentile(await withClients(serving.address, { recorder, count }), 0.99));
      p99.apart.push(percentile(await withClients(serving.address, { recorder, count, niceness: 19 }), 0.99));
    }
    await serving.close();
    const alone = median(p99.alone);
    const library = median(p99.library);
    const http = median(p99.http);
    const apart = median(p99.apart);
    return [
      { name: "p99 alone", value: alone, unit: "ms" },
      { name: `p99, ${LISTENERS} iterators in the process`, value: library, unit: "ms" },
      { name: `p99, ${LISTENERS} connections to GET /tail`, value: http, unit: "ms" },
      // The clients compute on the same machine; this is what they do when they leave its processors to others.
      { name: "p99, the same connections, their clients at the lowest priority", value: apart, unit: "ms" },
      {
        name: "p99 with iterators ÷ alone",
        of: [`p99, ${LISTENERS} iterators in the process`, "p99 alone"],
        target: { at_most: 1.25 },
      },
      {
        name: "p99 with connections ÷ alone",
        of: [`p99, ${LISTENERS} connections to GET /tail`, "p99 alone"],
        target: { at_most: 1.25 },
      },
      {
        name: "p99 with connections, clients at the lowest priority ÷ alone",
        of: ["p99, the same connections, their clients at the lowest priority", "p99 alone"],
      },
    ];
  },
};

/** Every listener has to get every entry, or the measurement means nothing. */
async function withIterators(recorder: Recorder, count: number): Promise<readonly number[]> {
  const tails = Array.from({ length: LISTENERS }, () => recorder.tail());
  const listening = tails.map(async (one) => {
    let seen = 0;
    for await (const _ of one) {
      seen += 1;
      if (seen === count) break;
    }
  });
  const latencies = await stream(recorder, count, PACE_PER_SECOND);
  await Promise.all(listening);
  return latencies;
}

/** The clients are a process of their own, as in real life. It says "ready" once, and ends when all have seen all. */
const CLIENTS = `
  import { get } from "node:http";
  const [address, listeners, count] = [process.argv[1], Number(process.argv[2]), Number(process.argv[3])];
  let connected = 0;
  const one = () => new Promise((resolve, reject) => {
    const request = get(address + "/tail", (response) => {
      connected += 1;
      if (connected === listeners) console.log("ready");
      let seen = 0;
      response.on("error", () => undefined);
      response.on("data", (chunk) => {
        for (let at = chunk.indexOf("\\ndata: "); at !== -1; at = chunk.indexOf("\\ndata: ", at + 1)) seen += 1;
        if (seen >= count) {
          resolve();
          request.destroy();
        }
      });
    });
    request.on("error", reject);
  });
  await Promise.all(Array.from({ length: listeners }, one));
`;

async function withClients(
  address: string,
  {
    recorder,
    count,
    niceness = 0,
  }: { readonly recorder: Recorder; readonly count: number; readonly niceness?: number },
): Promise<readonly number[]> {
  const child: ChildProcess = spawn(
    process.execPath,
    // A marker that is cut in two by the network is not counted, so a few are allowed to be missing.
    ["--input-type=module", "-e", CLIENTS, address, String(LISTENERS), String(Math.floor(count * 0.9))],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  if (niceness > 0) setPriority(child.pid as number, niceness);
  const ended = once(child, "exit");
  await once(child.stdout as NodeJS.ReadableStream, "data");
  const latencies = await stream(recorder, count, PACE_PER_SECOND);
  const [status] = await ended;
  if (status !== 0) throw new Error(`the listeners ended with status ${status}`);
  return latencies;
}
