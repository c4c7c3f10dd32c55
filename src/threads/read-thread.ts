// The thread that fills the index and answers reads, so that neither ever holds up capture.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { SqliteIndexFile } from "../engines/sqlite/index-file.js";
import { SqliteLog } from "../engines/sqlite/log.js";
import { createMask } from "../guard/masking/mask.js";
import { type ThreadAnswer, type ThreadRequest, toFailure } from "./calls.js";
import { LocalReading, type Reading, type ReadThreadOptions } from "./reading.js";

/** New entries are gathered this long before they are indexed: reads do not wait for it, they index by themselves. */
const GATHER_MS = 100;

const options = workerData as ReadThreadOptions;
const port = parentPort as MessagePort;

let reading: LocalReading | undefined;
let gathering: NodeJS.Timeout | undefined;

function open(): void {
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
  if (method === "open") {
    open();
    // What was appended before this thread began was told to nobody.
    return onAppended();
  }
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
