// What hostile load does to others: one request that is cheap to send, few readers of wide entries, many writers next to
// searches. Each figure is of a server in a process of its own.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EntryInput, openRecorder } from "../src/index.js";
import type { Measured, Suite, SuiteOptions } from "./figures.js";
import { median, percentile } from "./figures.js";
import { type Started, startHansard, stop } from "./http.js";
import { Corpus, sampleInteraction } from "./sample-data.js";

export const hostile: Suite = {
  name: "hostile",
  about: "small captures during hostile requests and reads of wide entries, and searches with busy writers",
  async run(options: SuiteOptions): Promise<readonly Measured[]> {
    return [...(await duringRequests(options)), ...(await duringWriters(options))];
  },
};

const MiB = 1024 * 1024;
const PAUSE_MS = 5;
const READERS = 6;
const STORED = 3;
/** An entry's JSON may have so many bytes, with room for its envelope. */
const ENTRY_BYTES = 15.9 * MiB;

async function duringRequests({ folder, scale }: SuiteOptions): Promise<readonly Measured[]> {
  const bytes = Math.max(8, Math.round(63 * scale)) * MiB;
  const size = `${bytes / MiB} MiB`;
  const alone = await measured(join(folder, "alone"), () => sleep(1_000));
  const requests: { readonly [name: string]: (client: Client) => Promise<unknown> } = {
    [`one entry of ${size} of {},{},…`]: (client) => client.post("/entries", wideEntry(bytes)),
    "an entry of 16 MiB, as wide as it may be": (client) => client.post("/entries", widestEntry()),
    [`${READERS} readers of ${STORED} such entries`]: readWidest,
    [`${size} of entries`]: (client) => client.post("/entries", manyEntries(bytes)),
    [`${size} of entries, sent again`]: (client) => client.post("/entries", manyEntries(bytes)),
  };
  const figures: Measured[] = [
    { name: "p99 of a small capture, alone", value: alone.p99, unit: "ms" },
    { name: "memory, alone", value: alone.peak_mb, unit: "MB" },
  ];
  const store = join(folder, "requests");
  for (const [name, hostile] of Object.entries(requests)) {
    const { p99, held, peak_mb } = await measured(store, hostile);
    figures.push(
      { name: `p99 during ${name}`, value: p99, unit: "ms" },
      { name: "… longest time without any answer", value: held, unit: "ms", target: { at_most: 250 } },
      { name: "… memory", value: peak_mb, unit: "MB" },
    );
  }
  return figures;
}

/**
 * Captures one small entry after another for as long as the hostile work goes on, on a server of its own, and asks all the
 * time for what needs no store: while that gets no answer, no request does.
 */
async function measured(
  store: string,
  hostile: (client: Client) => Promise<unknown>,
): Promise<{ readonly p99: number; readonly held: number; readonly peak_mb: number }> {
  const server = await startHansard(store);
  const client = new Client(server.address);
  const capture = (): Promise<Timed> => client.post("/interactions", JSON.stringify({ prompt: "a small one" }));
  const look = (): Promise<Timed> => client.get("/docs");
  for (let nth = 0; nth < 100; nth += 1) await Promise.all([capture(), look()]);
  let isOver = false;
  const over = hostile(client).finally(() => {
    isOver = true;
  });
  const until = async (ask: () => Promise<Timed>): Promise<readonly number[]> => {
    const waits: number[] = [];
    while (!isOver) {
      const { ms, status } = await ask();
      if (status !== 201 && status !== 200) throw new Error(`answered with ${status}`);
      waits.push(ms);
      await sleep(PAUSE_MS);
    }
    return waits;
  };
  const [captures, looks] = await Promise.all([until(capture), until(look)]);
  await over;
  const peak_mb = peakMb(server);
  client.close();
  await stop(server.child);
  return { p99: percentile(captures, 0.99), held: Math.max(...looks), peak_mb };
}

async function readWidest(client: Client): Promise<void> {
  for (let nth = 0; nth < STORED; nth += 1) await client.post("/entries", widestEntry(`wide-${nth}`));
  const ask = async (reader: number): Promise<void> => {
    for (let nth = 0; nth < STORED; nth += 1) await client.get(`/entries/wide-${(reader + nth) % STORED}`);
  };
  await Promise.all(Array.from({ length: READERS }, (_, reader) => ask(reader)));
}

function wideEntry(bytes: number): string {
  return `{"kind":"raw","source":"bench","record":{"x":[{}${",{}".repeat(Math.floor(bytes / 3) - 40)}]}}`;
}

/** As many values and as many bytes as an entry may have, each value an object. */
function widestEntry(id?: string): string {
  const values = 124_000;
  const text = "x".repeat(Math.floor(ENTRY_BYTES / values) - 8);
  const item = `,{"a":"${text}"}`;
  const given = id === undefined ? "" : `"id":"${id}",`;
  return `{${given}"kind":"raw","source":"bench","record":{"x":[${item.slice(1)}${item.repeat(values - 1)}]}}`;
}

/** Entries of about 0.7 KB with ids of their own, so sending them again stores nothing. */
function manyEntries(bytes: number): string {
  const text = "What an agent said and did. ".repeat(22);
  const entry = (nth: number): string => `{"kind":"error","id":"flood-${nth}","error":"${text}"}`;
  const count = Math.floor(bytes / (entry(10_000).length + 1));
  return `[${Array.from({ length: count }, (_, nth) => entry(nth)).join(",")}]`;
}

function peakMb({ child }: Started): number {
  const [, kb] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8")) ?? [];
  return Number(kb) / 1024;
}

const WRITERS = 16;
const MANY_WRITERS = 250;
const GIVE_UP_MS = 30_000;
const BATCH = 2_000;
const SMALL_BYTES = 180;
const SEARCH = "/search?q=timeout";
const FACETS = "/search?q=timeout&facets=1";

async function duringWriters({ folder, scale }: SuiteOptions): Promise<readonly Measured[]> {
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
    const withFew = await searches(client, SEARCH, seconds);
    const facetsWithFew = await searches(client, FACETS, seconds);
    await end(few);
    await client.get(SEARCH);
    const many = await writers(server.address, MANY_WRITERS);
    const withMany = await searches(client, SEARCH, seconds);
    await end(many);
    await settledReads(client);
    const loaded = await rightAfterLoad(client, load);
    const p50 = (timed: readonly Timed[]) => median(timed.map(({ ms }) => ms));
    return [
      { name: "a search alone, p50", value: p50(alone), unit: "ms" },
      { name: "a search with facets alone, p50", value: p50(aloneFacets), unit: "ms" },
      { name: `a search with ${WRITERS} writers, p50`, value: p50(withFew), unit: "ms" },
      {
        name: "with them ÷ alone",
        of: [`a search with ${WRITERS} writers, p50`, "a search alone, p50"],
        target: { at_most: 5 },
      },
      { name: `with facets and ${WRITERS} writers, p50`, value: p50(facetsWithFew), unit: "ms" },
      {
        name: "with facets and them ÷ alone",
        of: [`with facets and ${WRITERS} writers, p50`, "a search with facets alone, p50"],
        target: { at_most: 5 },
      },
      { name: `searches with ${MANY_WRITERS} writers`, value: withMany.length, unit: "" },
      { name: "… of them answered", value: share(withMany, [200, 503]), unit: "%", target: { at_least: 100 } },
      { name: "… of them with what was found", value: share(withMany, [200]), unit: "%" },
      { name: "… p50", value: p50(withMany), unit: "ms" },
      {
        name: "… longest",
        value: Math.max(...withMany.map(({ ms }) => ms)),
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

/** Timed requests with a timeout, over connections that stay open. */

interface Timed {
  /** 0 where there was no answer in time. */
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
}

class Client {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  get(path: string, giveUpMs?: number): Promise<Timed> {
    return this.#ask("GET", path, undefined, giveUpMs);
  }

  post(path: string, body: string | Buffer, giveUpMs?: number): Promise<Timed> {
    return this.#ask("POST", path, body, giveUpMs);
  }

  close(): void {
    this.#agent.destroy();
  }

  #ask(method: string, path: string, body: string | Buffer | undefined, giveUpMs = 60_000): Promise<Timed> {
    const start = performance.now();
    return new Promise((resolve) => {
      let bytes = 0;
      const settle = (status: number): void => {
        clearTimeout(timer);
        resolve({ status, ms: performance.now() - start, bytes });
      };
      const headers =
        body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
      const asking = request(`${this.#address}${path}`, { agent: this.#agent, method, headers }, (answer) => {
        answer.on("data", (chunk: Buffer) => {
          bytes += chunk.byteLength;
        });
        answer.on("end", () => settle(answer.statusCode ?? 0));
        answer.on("error", () => settle(0));
      });
      asking.on("error", () => settle(0));
      const timer = setTimeout(() => asking.destroy(new Error("given up")), giveUpMs);
      asking.end(body);
    });
  }
}
