// A program that records until the disk is full, frees some space, goes on with the same recorder, and prints a report.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { Fault, openRecorder, type Recorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { placeBallast } from "./ballast.js";

export interface FullDiskReport {
  /** Codes of the faults that refused appends met, each once. */
  readonly refusal_codes: readonly string[];
  readonly refusals: number;
  readonly acknowledged_before: number;
  readonly acknowledged_after: number;
  /** Ids that were acknowledged and are missing, or were refused and are there. */
  readonly lost: readonly string[];
  readonly half_stored: readonly string[];
  /** What reading by id and verify said while the disk was full. */
  readonly read_while_full: string;
  readonly verified_while_full: string;
  readonly verified_after: string;
  readonly verified_reopened: string;
  readonly listed_reopened: number;
}

/** Room for several passes of the checkpointer, so it too meets the full disk. */
const FREE_BYTES = 16 * 1024 * 1024;
const REFUSALS_ENOUGH = 40;
const text = "as much as a page holds ".repeat(800);

const folder = itemAt(process.argv, 2);
const callers = Number(process.argv[3]);
const data = join(folder, "store");
const acknowledged: string[] = [];
const refused: string[] = [];
const codes = new Set<string>();

/** Every third call is a batch, which must be refused whole. */
async function appendOnce(recorder: Recorder, name: string, nth: number): Promise<void> {
  const ids = nth % 3 === 2 ? [`${name}-a`, `${name}-b`, `${name}-c`] : [name];
  try {
    await recorder.append(ids.map((id) => ({ kind: "error", id, error: text })));
    acknowledged.push(...ids);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    codes.add(error.code);
    refused.push(...ids);
  }
}

async function said(work: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await work()).slice(0, 200);
  } catch (error) {
    return error instanceof Fault ? error.code : String(error);
  }
}

async function verifiedText(recorder: Recorder): Promise<string> {
  return said(async () => (await recorder.verify()).ok);
}

async function fill(recorder: Recorder): Promise<void> {
  const call = async (caller: number): Promise<void> => {
    for (let nth = 0; refused.length < REFUSALS_ENOUGH; nth += 1)
      await appendOnce(recorder, `full.${caller}.${nth}`, nth);
  };
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
}

async function idsStored(recorder: Recorder): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await recorder.listEntries({ limit: 500, cursor });
    for (const entry of page.entries) if ("error" in entry && entry.error === text) ids.add(entry.id);
    cursor = page.next_cursor;
  }
  return ids;
}

async function report(): Promise<FullDiskReport> {
  const ballast = join(folder, "ballast");
  placeBallast(ballast, { free_bytes: FREE_BYTES });
  const recorder = await openRecorder({ data });
  await recorder.listEntries();
  await fill(recorder);
  const acknowledged_before = acknowledged.length;
  const read_while_full = await said(async () => (await recorder.getEntry(itemAt(acknowledged, 0)))?.id);
  const verified_while_full = await verifiedText(recorder);
  rmSync(ballast);
  for (let nth = 0; nth < 20; nth += 1) await appendOnce(recorder, `free.${nth}`, nth);
  const verified_after = await verifiedText(recorder);
  await recorder.close();
  const again = await openRecorder({ data });
  const stored = await idsStored(again);
  const verified_reopened = await verifiedText(again);
  await again.close();
  return {
    refusal_codes: [...codes],
    refusals: refused.length,
    acknowledged_before,
    acknowledged_after: acknowledged.length - acknowledged_before,
    lost: acknowledged.filter((id) => !stored.has(id)),
    half_stored: refused.filter((id) => stored.has(id)),
    read_while_full,
    verified_while_full,
    verified_after,
    verified_reopened,
    listed_reopened: stored.size,
  };
}

process.stdout.write(JSON.stringify(await report()));
