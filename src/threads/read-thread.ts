// The thread that fills the index and answers reads, so that neither ever holds up capture.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { SqliteIndexFile } from "../engines/sqlite/index-file.js";
import { SqliteLog } from "../engines/sqlite/log.js";
import { createMask } from "../guard/masking/mask.js";
import { settled, type ThreadAnswer, type ThreadRequest, toFailure } from "./calls.js";
import { giveWay } from "./niceness.js";
import { purgeFile } from "./purging.js";
import { LocalReading, type Reading, type ReadThreadOptions } from "./reading.js";

/** New entries are gathered this long before they are indexed: reads do not wait for it, they index by themselves. */
const GATHER_MS = 100;
/** While more than this many come per second, processors are left to capture … */
const CALM_ENTRIES_PER_S = 2_000;
/** … until so many wait for their rows, which a read would have to index first, … */
const ROWS_WAITING_MAX = 20_000;
/** … or for their texts, which a search would have to look through itself. */
const TEXTS_WAITING_MAX = 100_000;

const options = workerData as ReadThreadOptions;
const port = parentPort as MessagePort;

let reading: LocalReading | undefined;
let gathering: NodeJS.Timeout | undefined;
let purging: Promise<unknown> | undefined;
let seen = { position: 0, atMs: 0, isStream: false };

function open(): void {
  giveWay();
  const log = SqliteLog.open({ path: options.log_path, mode: "read" });
  // The index is opened by the first read that needs it, so that trouble with it harms no other.
  const index = new SqliteIndexFile({ path: options.index_path });
  reading = new LocalReading({
    log,
    index,
    mask: createMask({ values: options.mask }),
    rebuild: options.rebuild,
  });
}

/** Indexes batch by batch, and lets waiting reads through between two batches. */
async function indexInBackground(): Promise<void> {
  gathering = undefined;
  try {
    if (await isPutOff()) return onAppended();
    if (await reading?.indexStep()) gathering = setTimeout(() => void indexInBackground(), 0);
    else await finishPurge();
  } catch (error) {
    // Reads meet the same fault and report it; capture goes on without an index.
    port.postMessage({ call: 0, failure: toFailure(error) } satisfies ThreadAnswer);
  }
}

/** Whoever forgot something may have been killed before the index was rid of it. */
async function finishPurge(): Promise<void> {
  if (!(await reading?.isPurgeDue())) return;
  purging ??= purgeFile({ file: "index", path: options.index_path }).finally(() => {
    purging = undefined;
  });
  await purging;
}

/** Whether so much is being recorded at this moment that indexing would slow it down, and can wait. */
async function isPutOff(): Promise<boolean> {
  const { position, indexed_through, texts_through } = await (reading as LocalReading).progress();
  const seconds = (performance.now() - seen.atMs) / 1000;
  if (seconds * 1000 >= GATHER_MS) {
    const isStream = position - seen.position > seconds * CALM_ENTRIES_PER_S;
    seen = { position, atMs: performance.now(), isStream };
  }
  const canWait = position - indexed_through < ROWS_WAITING_MAX && position - texts_through < TEXTS_WAITING_MAX;
  return seen.isStream && canWait;
}

function onAppended(): void {
  gathering ??= setTimeout(() => void indexInBackground(), GATHER_MS);
}

async function perform(request: ThreadRequest): Promise<unknown> {
  const { method, argument } = request;
  if (method === "open") {
    open();
    // What was appended before this thread began was told to nobody.
    return onAppended();
  }
  if (method === "close") {
    clearTimeout(gathering);
    // What cannot be done now is done by the next program.
    await finishPurge().catch(() => undefined);
    await reading?.close();
    return settled();
  }
  const call = (reading as LocalReading)[method as keyof Reading] as (argument: unknown) => Promise<unknown>;
  return call.call(reading, argument);
}

port.on("message", async (request: ThreadRequest) => {
  if (request.method === "appended") return onAppended();
  try {
    const result = await perform(request);
    port.postMessage({ call: request.call, result } satisfies ThreadAnswer);
  } catch (error) {
    port.postMessage({ call: request.call, failure: toFailure(error) } satisfies ThreadAnswer);
  }
});
