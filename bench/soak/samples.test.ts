// The rule by which the soak decides whether a server stayed flat.
import { expect, test } from "vitest";
import { type Sample, verdictsOn } from "./samples.js";

const usual: Sample = {
  seconds: 0,
  rss_mb: 300,
  handles: 100,
  threads: 15,
  capture_p50_ms: 2,
  capture_p99_ms: 40,
  search_p50_ms: 10,
  control_ms: 1,
  behind: 0,
  rate: 1_000,
};

/** Sixty samples, the last twenty of which differ. */
function samplesWith(last: Partial<Sample>): readonly Sample[] {
  return Array.from({ length: 60 }, (_, at) => (at < 40 ? usual : { ...usual, ...last }));
}

function notFlat(last: Partial<Sample>): readonly string[] {
  return verdictsOn(samplesWith(last)).flatMap(({ label, isFlat }) => (isFlat ? [] : [label]));
}

test("what stays as it was is flat, and so is what grows less than a fifth and the allowance", () => {
  expect(notFlat({})).toEqual([]);
  expect(notFlat({ rss_mb: 390, handles: 127, capture_p50_ms: 5 })).toEqual([]);
});

test("memory, handles, threads and latencies that grow more are not", () => {
  expect(notFlat({ rss_mb: 400 })).toEqual(["resident memory, MB"]);
  expect(notFlat({ handles: 130, threads: 25 })).toEqual(["open handles", "threads"]);
  expect(notFlat({ capture_p99_ms: 80, search_p50_ms: 30 })).toEqual([
    "10 captures, p99 ms",
    "searches and reads, median ms",
  ]);
});

test("latency may grow as much as the control does, and memory may not", () => {
  expect(notFlat({ control_ms: 3, capture_p99_ms: 160, rss_mb: 900 })).toEqual(["resident memory, MB"]);
});

test("a middle third without samples is not flat", () => {
  const samples = samplesWith({}).map((sample) => ({ ...sample, search_p50_ms: Number.NaN }));
  expect(verdictsOn(samples).find(({ label }) => label.startsWith("searches"))).toMatchObject({ isFlat: false });
});
