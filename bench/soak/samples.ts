// What the soak measures every few seconds, and the rule that decides whether it stayed flat.
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { median, percentile } from "../figures.js";

export interface Sample {
  readonly seconds: number;
  readonly rss_mb: number;
  readonly handles: number;
  readonly threads: number;
  readonly capture_p50_ms: number;
  readonly capture_p99_ms: number;
  readonly search_p50_ms: number;
  readonly control_ms: number;
  /** Entries that the index has yet to take. */
  readonly behind: number;
  readonly rate: number;
}

/** A process as Linux counts it. */
export function processFigures(pid: number): Pick<Sample, "rss_mb" | "handles" | "threads"> {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const figure = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return {
    rss_mb: Math.round(figure("VmRSS") / 1_024),
    threads: figure("Threads"),
    handles: readdirSync(`/proc/${pid}/fd`).length,
  };
}

export function latencyFigures(latencies: {
  readonly capture: readonly number[];
  readonly search: readonly number[];
}): Pick<Sample, "capture_p50_ms" | "capture_p99_ms" | "search_p50_ms"> {
  return {
    capture_p50_ms: median(latencies.capture),
    capture_p99_ms: percentile(latencies.capture, 0.99),
    search_p50_ms: median(latencies.search),
  };
}

/** The median time of a small write with fsync by this process: what the machine itself does to latency. */
export function fsyncMs(folder: string): number {
  const file = openSync(join(folder, "control"), "w");
  const times = Array.from({ length: 15 }, () => {
    const start = performance.now();
    writeSync(file, BLOCK, 0, BLOCK.length, 0);
    fsyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return median(times);
}

const BLOCK = Buffer.alloc(4_096);

/** What has to stay flat, and by how much it may differ in any case. */
const MEASURES = [
  { name: "rss_mb", label: "resident memory, MB", allowance: 32 },
  { name: "handles", label: "open handles", allowance: 8 },
  { name: "threads", label: "threads", allowance: 2 },
  { name: "capture_p50_ms", label: "10 captures, median ms", allowance: 3 },
  { name: "capture_p99_ms", label: "10 captures, p99 ms", allowance: 25 },
  { name: "search_p50_ms", label: "searches and reads, median ms", allowance: 10 },
] as const;

const SHARE_MAX = 1.2;

export const RULE = [
  `Flat means: the median over the samples of the last third is at most ${SHARE_MAX} times that of the middle third, plus an`,
  "allowance (32 MB, 8 handles, 2 threads; 3 ms for captures, 25 ms for their p99, 10 ms for reads). Where a small write with",
  "fsync, measured next to the load, became slower from the middle third to the last, latency may by the same factor. The",
  "restarts are in the first third: the other two are one life of the server.",
].join("\n");

export interface Verdict {
  readonly label: string;
  readonly middle: number;
  readonly last: number;
  readonly most: number;
  readonly isFlat: boolean;
}

export function verdictsOn(samples: readonly Sample[]): readonly Verdict[] {
  const third = Math.floor(samples.length / 3);
  const parts = [samples.slice(third, third * 2), samples.slice(-third)];
  const medians = (name: keyof Sample): readonly number[] =>
    parts.map((part) => median(part.map((sample) => sample[name]).filter((value) => !Number.isNaN(value))));
  const [before = 1, after = 1] = medians("control_ms");
  const control = {
    label: "control: write with fsync, median ms",
    middle: before,
    last: after,
    most: Number.NaN,
    isFlat: true,
  };
  const verdicts = MEASURES.map(({ name, label, allowance }) => {
    const [middle = Number.NaN, last = Number.NaN] = medians(name);
    const slower = name.endsWith("_ms") ? Math.max(1, after / before) : 1;
    const most = middle * SHARE_MAX * slower + allowance;
    return { label, middle, last, most, isFlat: last <= most };
  });
  return [...verdicts, control];
}
