// The thread that checkpoints the log's WAL, so commits need not wait for it.
import { workerData } from "node:worker_threads";
import { checkpoint, openFile } from "../engines/sqlite/connections.js";
import { type CheckpointCounters, CLOSE, DONE, WANTED } from "./checkpointing.js";

const { path, board } = workerData as { readonly path: string; readonly board: CheckpointCounters };
const db = openFile({ path, mode: "write", synchronous: "FULL" });

let done = 0;
for (;;) {
  Atomics.wait(board, WANTED, done);
  const wanted = Atomics.load(board, WANTED);
  if (wanted === CLOSE) break;
  try {
    // The second run copies what was written during the first, so little is left for the writer.
    checkpoint(db);
    checkpoint(db);
  } catch {
    // A full disk, for example: everything is safe in the WAL, and the next pass tries again.
  }
  done = wanted;
  Atomics.store(board, DONE, done);
}
db.close();
