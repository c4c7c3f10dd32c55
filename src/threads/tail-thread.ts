// The thread that reads the log for tails, so parsing for them never holds up capture.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { openStore } from "../engines/stores.js";
import { createMask } from "../guard/masking/mask.js";
import { AlteredNote, notingAltered } from "../log/altered-note.js";
import type { EntryLog } from "../log/port.js";
import { readTail, type TailRange, type TailRead } from "../reading/tail/read-tail.js";
import {
  giveWay,
  settled,
  type TailThreadOptions,
  type ThreadAnswer,
  type ThreadRequest,
  toFailure,
} from "./thread.js";

const options = workerData as TailThreadOptions;
const port = parentPort as MessagePort;
const mask = createMask({ values: options.mask });
let log: EntryLog | undefined;

async function perform({ method, argument }: ThreadRequest): Promise<unknown> {
  if (method === "read") return readTail({ log: log as EntryLog, mask }, argument as TailRange);
  if (method === "close") {
    await log?.close();
    return settled();
  }
  if (method !== "open") throw new Error(`unknown call ${method}`);
  giveWay();
  const store = await openStore({ address: options.data, mode: "read", waits: false });
  log = notingAltered(await store.log("read"), new AlteredNote(options.altered));
}

/** Rows are transferred, not copied. */
function memoryOf(read: TailRead | undefined): ArrayBuffer[] {
  return (read?.rows ?? []).slice(0, 1).map(({ json }) => json.buffer as ArrayBuffer);
}

port.on("message", async (request: ThreadRequest) => {
  try {
    const result = await perform(request);
    port.postMessage({ call: request.call, result } satisfies ThreadAnswer, memoryOf(result as TailRead | undefined));
  } catch (error) {
    port.postMessage({ call: request.call, failure: toFailure(error) } satisfies ThreadAnswer);
  }
});
