// The thread that fills the index and answers reads, so that neither ever holds up capture.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { SqliteIndex } from "../engines/sqlite/index.js";
import { SqliteLog } from "../engines/sqlite/log.js";
import { type ThreadAnswer, type ThreadRequest, toFailure } from "./calls.js";
import { LocalReading, type Reading } from "./reading.js";

/** New entries are gathered this long before they are indexed: reads do not wait for it, they index by themselves. */
const GATHER_MS = 100;

interface ReadThreadOptions {
  readonly log_path: string;
  readonly index_path: string;
}

const options = workerData as ReadThreadOptions;
const port = parentPort as MessagePort;

let reading: LocalReading | undefined;
let gathering: NodeJS.Timeout | undefined;

function open(): void {
  const log = SqliteLog.open({ path: options.log_path, mode: "read" });
  try {
    reading = new LocalReading({ log, index: SqliteIndex.open({ path: options.index_path }) });
  } catch (error) {
    void log.close();
    throw error;
  }
}

/** Indexes batch by batch, and lets waiting reads through between two batches. */
async function indexInBackground(): Promise<void> {
  gathering = undefined;
  try {
    if (await reading?.indexStep()) gathering = setTimeout(() => void indexInBackground(), 0);
  } catch (error) {
    // Reads meet the same fault and report it; capture goes on without an index.
    port.postMessage({ call: 0, failure: toFailure(error) } satisfies ThreadAnswer);
  }
}

function onAppended(): void {
  gathering ??= setTimeout(() => void indexInBackground(), GATHER_MS);
}

async function perform(request: ThreadRequest): Promise<unknown> {
  const { method, argument } = request;
  if (method === "open") return open();
  if (method === "close") {
    clearTimeout(gathering);
    return reading?.close();
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
