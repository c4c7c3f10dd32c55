// The thread that removes leftovers of erased text from a store's files: it may have to rewrite a whole file.
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { purgeIndex, purgeLog } from "../engines/sqlite/purge.js";
import type { PurgeOptions } from "./purging.js";
import { type ThreadAnswer, type ThreadRequest, toFailure } from "./thread.js";

const { file, path } = workerData as PurgeOptions;
const port = parentPort as MessagePort;

port.on("message", ({ call, method }: ThreadRequest) => {
  try {
    const result = method === "purge" ? (file === "log" ? purgeLog(path) : purgeIndex(path)) : undefined;
    port.postMessage({ call, result } satisfies ThreadAnswer);
  } catch (error) {
    port.postMessage({ call, failure: toFailure(error) } satisfies ThreadAnswer);
  }
});
