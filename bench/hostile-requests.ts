// Small captures while one request or a few readers do their worst, and the memory that these take.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, type Timed } from "./client.js";
import { type Measured, percentile, type SuiteOptions } from "./figures.js";
import { type Started, startHansard, stop } from "./http.js";

const MiB = 1024 * 1024;
const PAUSE_MS = 5;
const READERS = 6;
const STORED = 3;
/** An entry's JSON may have so many bytes, with room for its envelope. */
const ENTRY_BYTES = 15.9 * MiB;

export async function besideRequests({ folder, scale }: SuiteOptions): Promise<readonly Measured[]> {
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
      { name: `p99 beside ${name}`, value: p99, unit: "ms" },
      { name: "… longest that the server answered nobody", value: held, unit: "ms", target: { at_most: 250 } },
      { name: "… memory", value: peak_mb, unit: "MB" },
    );
  }
  return figures;
}

/**
 * Captures one small entry after another for as long as the hostile work goes on, on a server of its own, and asks all the
 * time for what needs no store: while that gets no answer, nobody does.
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

/** Entries of about 0.7 KB with ids of their own, so that sending them again stores nothing. */
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
