// Search through the library against ripgrep and against a scan line by line, over the same texts.
import { spawnSync } from "node:child_process";
import { closeSync, createReadStream, mkdirSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Database } from "../src/engines/sqlite/driver.js";
import { openRecorder, type Recorder } from "../src/index.js";
import { type Measured, median, percentile, type Suite, type SuiteOptions } from "./figures.js";
import { stream } from "./indexing.js";
import { Corpus, type CorpusEntry, idOf } from "./sample-data.js";

const BATCH = 500;
const QUERIES_PER_ROUND = 10;
/** The most entries whose texts are indexed and not written, while others come. */
const UNWRITTEN_MAX = 4_096;

export const search: Suite = {
  name: "search",
  about:
    "the newest ten hits with their snippets, through the library, against `rg --count -i -F` over the same texts as JSONL (in the page cache) and against reading every line, parsing it and looking into it",
  async run(options: SuiteOptions): Promise<readonly Measured[]> {
    requireRipgrep();
    return [...(await searching(options)), ...(await capturing(options))];
  },
};

async function searching({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
  // A quick look takes far fewer, since filling is what takes long.
  const total = Math.round(200_000 * scale ** 2);
  const store = new FilledStore(folder);
  const recorder = await store.fill(total / 4);
  const rareAtQuarter = await rare(recorder, total / 4, rounds);
  await store.fill(total);
  const classes = {
    "rare substring": { needles: Array.from({ length: 5 }, (_, n) => middleOf(idAt(n, total))), at_most: 0.12 },
    "common word": { needles: ["error", "function", "timeout"], at_most: 0.5 },
    "two ideographs": { needles: [store.corpus.ideographs()], at_most: 0.5 },
    "absent string of common trigrams": { needles: ["functurn", "requerror", "timeoutterror"], at_most: 0.5 },
  };
  const figures: Measured[] = [];
  const rareOurs = await rare(recorder, total, rounds);
  for (const [name, { needles, at_most }] of Object.entries(classes)) {
    const times = { ours: [] as number[], ripgrep: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      for (const needle of needles) {
        times.ours.push(await milliseconds(() => recorder.search(needle)));
        times.ripgrep.push(
          await milliseconds(() => spawnSync("rg", ["--count", "-i", "-F", "--", needle, store.lines])),
        );
      }
    }
    const [ours, ripgrep] = [median(times.ours), median(times.ripgrep)];
    figures.push({ name, value: ours, unit: "ms" }, { name: `${name}, ripgrep`, value: ripgrep, unit: "ms" });
    figures.push({ name: `${name} ÷ ripgrep`, of: [name, `${name}, ripgrep`], target: { at_most } });
  }
  const scan = await milliseconds(() => scanLines(store.lines, middleOf(idAt(1, total))));
  await recorder.close();
  const size = statSync(join(store.data, "index.db")).size;
  return [
    ...figures,
    { name: "scan of every line", value: scan, unit: "ms" },
    { name: "scan ÷ rare substring", of: ["scan of every line", "rare substring"], target: { at_least: 100 } },
    { name: "rare substring, all entries", value: rareOurs, unit: "ms" },
    { name: "rare substring, a quarter of them", value: rareAtQuarter, unit: "ms" },
    {
      name: "rare substring, all ÷ a quarter",
      of: ["rare substring, all entries", "rare substring, a quarter of them"],
      target: { at_most: 2 },
    },
    { name: "index", value: size / 1e6, unit: "MB" },
    { name: "text", value: store.textBytes / 1e6, unit: "MB" },
    { name: "index ÷ text", of: ["index", "text"], target: { at_most: 1.3 } },
  ];
}

/** While the whole index, texts included, is rebuilt over and over. */
async function capturing({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
  const store = new FilledStore(join(folder, "captured"));
  const recorder = await store.fill(Math.round(20_000 * scale));
  const count = Math.round(2_000 * scale);
  const times = { calm: [] as number[], busy: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.calm.push(percentile(await stream(recorder, count), 0.99));
    let going = true;
    const rebuilding = (async () => {
      while (going) await recorder.rebuildIndex();
    })();
    times.busy.push(percentile(await stream(recorder, count), 0.99));
    going = false;
    await rebuilding;
  }
  await recorder.close();
  const [calm, busy] = [median(times.calm), median(times.busy)];
  return [
    { name: "capture p99, index at rest", value: calm, unit: "ms" },
    { name: "capture p99, texts being indexed", value: busy, unit: "ms" },
    {
      name: "capture p99, indexing ÷ at rest",
      of: ["capture p99, texts being indexed", "capture p99, index at rest"],
      target: { at_most: 1.5 },
    },
  ];
}

/** A store and a file of lines with the same texts. */
class FilledStore {
  readonly corpus = new Corpus();
  readonly data: string;
  readonly lines: string;
  textBytes = 0;
  #filled = 0;
  #recorder: Recorder | undefined;

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.data = join(folder, "store");
    this.lines = join(folder, "lines.jsonl");
  }

  /** Returns once the index has rows of all and texts of nearly all. */
  async fill(count: number): Promise<Recorder> {
    this.#recorder ??= await openRecorder({ data: this.data });
    const file = openSync(this.lines, "a");
    for (; this.#filled < count; this.#filled += BATCH) {
      const entries = Array.from({ length: BATCH }, (_, at) => this.corpus.entry(this.#filled + at));
      writeSync(file, entries.map(toLine).join(""));
      for (const { content } of entries) this.textBytes += Buffer.byteLength(content);
      await this.#recorder.append(entries.map((entry) => ({ kind: "message", session_id: "bench", ...entry })));
    }
    closeSync(file);
    await this.#recorder.count();
    await settled(join(this.data, "index.db"));
    return this.#recorder;
  }
}

/** Waits until no more texts are missing than may wait to be written. */
export async function settled(path: string): Promise<void> {
  const db = new Database(path, { read_only: true });
  try {
    const missing = db.prepare("SELECT max(position) - min(position) FROM checkpoints WHERE name IN ('rows', 'text')");
    while ((missing.pluck().get() as number) > UNWRITTEN_MAX) await sleep(100);
  } finally {
    db.close();
  }
}

async function rare(recorder: Recorder, total: number, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < rounds * QUERIES_PER_ROUND; n += 1) {
    const needle = middleOf(idAt(n, total));
    times.push(await milliseconds(() => recorder.search(needle)));
  }
  return median(times);
}

/** The id of an entry somewhere among so many. */
function idAt(n: number, total: number): string {
  return idOf((n * 7_919 + 13) % total);
}

function middleOf(id: string): string {
  return id.slice(1, -1);
}

/** Each line is read, parsed and looked into, as a program without an index does it. */
async function scanLines(path: string, needle: string): Promise<readonly CorpusEntry[]> {
  const found: CorpusEntry[] = [];
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const entry = JSON.parse(line) as CorpusEntry;
    if (entry.content.toLowerCase().includes(needle)) found.push(entry);
  }
  return found.slice(-10).reverse();
}

function toLine(entry: CorpusEntry): string {
  return `${JSON.stringify({ type: "message", ...entry })}\n`;
}

async function milliseconds(act: () => unknown): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

/** A missing ripgrep would be the fastest search of all. */

export function requireRipgrep(): void {
  if (spawnSync("rg", ["--version"]).status === 0) return;
  throw new Error("This benchmark compares with ripgrep: install it, so `rg` is found.");
}
