// A program that compacts a log and kills itself in the middle: so many milliseconds after so many batches, whatever it is doing.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { compactLog } from "../../src/engines/sqlite/compact.js";

const [path, batches, ms] = process.argv.slice(2) as [string, string, string];
const flag = new Int32Array(new SharedArrayBuffer(4));
// Compacting leaves its own thread no moment to be killed in.
const killer = new Worker(
  `const { flag, ms } = require("node:worker_threads").workerData;
   require("node:worker_threads").parentPort.postMessage("ready");
   Atomics.wait(flag, 0, 0);
   if (ms > 0) Atomics.wait(flag, 0, 1, ms);
   process.kill(process.pid, "SIGKILL");`,
  { eval: true, workerData: { flag, ms: Number(ms) } },
);
await once(killer, "message");
const kill = (): void => {
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
};
let done = 0;
compactLog(path, () => {
  done += 1;
  if (done === Number(batches)) kill();
});
// A compactor that was too quick is killed at the end.
kill();
