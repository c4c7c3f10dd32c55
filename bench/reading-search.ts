// The search for a word that occurs once: among few entries, in a program that has just opened them, among many and among
// very many.
import { strictEqual } from "node:assert";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type EntryInput, openRecorder, type Recorder } from "../src/index.js";
import { type Measured, median, type SuiteOptions } from "./figures.js";
import { mediansInTurn } from "./in-turn.js";
import type { RawMessages } from "./raw-messages.js";
import { settled } from "./search.js";
import { Corpus, idOf } from "./search-corpus.js";

const FEW = 2_000;
const BATCH = 2_000;
/** Makes entries of about 0.3 KB. */
const SMALL_BYTES = 180;
const SEARCHES_PER_ROUND = 20;
const LIMIT = 10;
/** Nobody is told when the last texts are indexed, and what is written of all of them is in good order. */
const TEXTS_MS = 2_000;

export async function searching(
  stores: { readonly data: string; readonly recorder: Recorder; readonly raw: RawMessages },
  { folder, rounds, scale }: SuiteOptions,
): Promise<readonly Measured[]> {
  // A quick look takes far fewer, since filling is what takes long.
  const counts = { many: Math.round(200_000 * scale ** 2), very_many: Math.round(1_000_000 * scale ** 2) };
  const many = await filledWithSmall(join(folder, "many"), counts.many);
  const veryMany = isLeftOut(counts.very_many)
    ? undefined
    : await filledWithSmall(join(folder, "very-many"), counts.very_many);
  await sleep(TEXTS_MS);
  const us = await mediansInTurn(
    {
      few: (nth) => found(stores.recorder, wordAt(nth, FEW)),
      fts: (nth) => stores.raw.search(wordAt(nth, FEW), LIMIT),
      many: (nth) => found(many, wordAt(nth, counts.many)),
      very_many: (nth) => veryMany && found(veryMany, wordAt(nth, counts.very_many)),
    },
    { rounds, calls: SEARCHES_PER_ROUND },
  );
  await many.close();
  await veryMany?.close();
  const opened = await justOpened(stores.data, rounds);
  const [few, most, all] = [FEW, counts.many, counts.very_many].map((count) => count.toLocaleString("en-US"));
  const figures: readonly Measured[] = [
    { name: `search among ${few}`, value: us.few, unit: "µs" },
    { name: `search among ${few}, in a program that has just opened them`, value: opened, unit: "µs" },
    { name: `search among ${few}, FTS5`, value: us.fts, unit: "µs" },
    { name: `search among ${most}`, value: us.many, unit: "µs" },
    { name: `search among ${few} ÷ FTS5`, of: [`search among ${few}`, `search among ${few}, FTS5`] },
    {
      name: `search among ${few} ÷ ${most}`,
      of: [`search among ${few}`, `search among ${most}`],
      target: { at_most: 1 },
    },
  ];
  if (veryMany === undefined) return figures;
  return [
    ...figures,
    { name: `search among ${all}`, value: us.very_many, unit: "µs" },
    {
      name: `search among ${all} ÷ ${most}`,
      of: [`search among ${all}`, `search among ${most}`],
      target: { at_most: 1.5 },
    },
  ];
}

/** A million takes two minutes of processor time, and more than five minutes on a machine that is busy otherwise. */
function isLeftOut(count: number): boolean {
  const max = Number(process.env.HANSARD_BENCH_ENTRIES_MAX || Number.POSITIVE_INFINITY);
  if (count <= max) return false;
  process.stderr.write(
    `  HANSARD_BENCH_ENTRIES_MAX leaves out the store of ${count.toLocaleString("en-US")} entries\n`,
  );
  return true;
}

/** A store of so many small entries, with the texts of nearly all in its index. */
async function filledWithSmall(data: string, count: number): Promise<Recorder> {
  const start = performance.now();
  const recorder = await openRecorder({ data });
  const corpus = new Corpus();
  for (let done = 0; done < count; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, count - done) }, (_, at): EntryInput => {
      const nth = done + at;
      return { kind: "message", session_id: `session-${nth % 1_000}`, ...corpus.entry(nth, SMALL_BYTES) };
    });
    await recorder.append(batch);
  }
  await recorder.count();
  await settled(join(data, "index.db"));
  const seconds = Math.round((performance.now() - start) / 1_000);
  process.stderr.write(`  a store of ${count.toLocaleString("en-US")} entries, made in ${seconds} s\n`);
  return recorder;
}

async function found(recorder: Recorder, word: string): Promise<void> {
  const { results } = await recorder.search(word, { limit: LIMIT });
  strictEqual(results.length, 1, `${word} is in one entry`);
}

/** The first search of programs that begin with one: what an earlier one had in memory is gone. */
async function justOpened(data: string, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const recorder = await openRecorder({ data });
    // Starts the thread and opens the files, which is no part of a search.
    await recorder.count();
    const start = performance.now();
    await found(recorder, wordAt(round, FEW));
    times.push((performance.now() - start) * 1_000);
    await recorder.close();
  }
  return median(times);
}

/** A word of one of so many entries, old and new ones in turn. */
function wordAt(nth: number, count: number): string {
  return idOf((nth * 7_919 + 13) % count);
}
