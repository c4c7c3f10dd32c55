// Searches beside busy writers and right after a load: whether they are answered, and how long that takes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EntryInput, openRecorder } from "../src/index.js";
import { Client, type Timed } from "./client.js";
import { type Measured, median, type SuiteOptions } from "./figures.js";
import { startHansard, stop } from "./http.js";
import { sampleInteraction } from "./sample.js";
import { Corpus } from "./search-corpus.js";

const WRITERS = 16;
const MANY_WRITERS = 250;
const GIVE_UP_MS = 30_000;
const BATCH = 2_000;
const SMALL_BYTES = 180;
const SEARCH = "/search?q=timeout";
const FACETS = "/search?q=timeout&facets=1";

export async function besideWriters({ folder, scale }: SuiteOptions): Promise<readonly Measured[]> {
  const store = join(folder, "searched");
  const load = Math.round(200_000 * scale);
  await fill(store, 20_000);
  const server = await startHansard(store);
  const client = new Client(server.address);
  const seconds = Math.max(4, Math.round(15 * scale));
  try {
    await searches(client, SEARCH, 1);
    const alone = await searches(client, SEARCH, 2);
    const aloneFacets = await searches(client, FACETS, 2);
    const few = await writers(server.address, WRITERS);
    const besideFew = await searches(client, SEARCH, seconds);
    const besideFewFacets = await searches(client, FACETS, seconds);
    await end(few);
    await client.get(SEARCH);
    const many = await writers(server.address, MANY_WRITERS);
    const besideMany = await searches(client, SEARCH, seconds);
    await end(many);
    await settledReads(client);
    const loaded = await rightAfterLoad(client, load);
    const p50 = (timed: readonly Timed[]) => median(timed.map(({ ms }) => ms));
    return [
      { name: "a search alone, p50", value: p50(alone), unit: "ms" },
      { name: "a search with facets alone, p50", value: p50(aloneFacets), unit: "ms" },
      { name: `a search beside ${WRITERS} writers, p50`, value: p50(besideFew), unit: "ms" },
      {
        name: "beside them ÷ alone",
        of: [`a search beside ${WRITERS} writers, p50`, "a search alone, p50"],
        target: { at_most: 5 },
      },
      { name: `with facets beside ${WRITERS} writers, p50`, value: p50(besideFewFacets), unit: "ms" },
      {
        name: "with facets beside them ÷ alone",
        of: [`with facets beside ${WRITERS} writers, p50`, "a search with facets alone, p50"],
        target: { at_most: 5 },
      },
      { name: `searches beside ${MANY_WRITERS} writers`, value: besideMany.length, unit: "" },
      { name: "… of them answered", value: share(besideMany, [200, 503]), unit: "%", target: { at_least: 100 } },
      { name: "… of them with what was found", value: share(besideMany, [200]), unit: "%" },
      { name: "… p50", value: p50(besideMany), unit: "ms" },
      {
        name: "… longest",
        value: Math.max(...besideMany.map(({ ms }) => ms)),
        unit: "ms",
        target: { at_most: 10_500 },
      },
      {
        name: `a search right after ${load.toLocaleString("en-US")} entries were loaded`,
        value: loaded.ms,
        unit: "ms",
        target: { at_most: 500 },
      },
    ];
  } finally {
    client.close();
    await stop(server.child);
  }
}

/** Two at a time, one after the other, for some seconds; the last ones are waited for. */
async function searches(client: Client, path: string, seconds: number): Promise<readonly Timed[]> {
  const untilMs = performance.now() + seconds * 1_000;
  const timed: Timed[] = [];
  const searcher = async (): Promise<void> => {
    while (performance.now() < untilMs) timed.push(await client.get(path, GIVE_UP_MS));
  };
  await Promise.all([searcher(), searcher()]);
  return timed;
}

async function rightAfterLoad(client: Client, count: number): Promise<Timed> {
  const corpus = new Corpus();
  for (let done = 0; done < count; done += BATCH) {
    const entries = Array.from({ length: Math.min(BATCH, count - done) }, (_, at) =>
      message(corpus, 100_000 + done + at),
    );
    const { status } = await client.post("/entries", JSON.stringify(entries));
    if (status !== 201) throw new Error(`the load was answered with ${status}`);
  }
  return client.get(SEARCH);
}

async function settledReads(client: Client): Promise<void> {
  await sleep(3_000);
  await client.get(SEARCH);
}

async function fill(data: string, count: number): Promise<void> {
  const recorder = await openRecorder({ data });
  const corpus = new Corpus();
  for (let done = 0; done < count; done += BATCH) {
    await recorder.append(Array.from({ length: BATCH }, (_, at) => message(corpus, done + at)));
  }
  await recorder.search("timeout");
  await sleep(2_000);
  await recorder.close();
}

function message(corpus: Corpus, nth: number): EntryInput {
  return { kind: "message", session_id: `session-${nth % 1_000}`, ...corpus.entry(nth, SMALL_BYTES) };
}

/** Each writer sends its next entry as soon as the one before is acknowledged. */
const WRITER = `
  const [address, count, body] = process.argv.slice(1);
  const { Agent, request } = await import("node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: Number(count) });
  const headers = { "content-type": "application/json" };
  const send = () => new Promise((resolve) => {
    const sending = request(address + "/interactions", { agent, method: "POST", headers }, (answer) => {
      answer.resume();
      answer.on("end", resolve);
    });
    sending.on("error", resolve);
    sending.end(body);
  });
  const write = async () => { for (;;) await send(); };
  for (let nth = 0; nth < Number(count); nth += 1) void write();
  console.log("writing");
`;

async function writers(address: string, count: number): Promise<ChildProcess> {
  const body = JSON.stringify(sampleInteraction(1));
  const child = spawn(process.execPath, ["--input-type=module", "-e", WRITER, address, String(count), body], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout as NodeJS.ReadableStream, "data");
  await sleep(1_000);
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

function share(timed: readonly Timed[], statuses: readonly number[]): number {
  return (100 * timed.filter(({ status }) => statuses.includes(status)).length) / timed.length;
}
