// How writing and the checkpoint thread work together: the thread copies the WAL into the database while commits go on,
// and whoever writes finishes the rest between two commits, the only moment at which the WAL can start over.
import { Worker } from "node:worker_threads";

/** Two numbers shared by both sides. */
export type CheckpointBoard = Int32Array<SharedArrayBuffer>;
/** Number of the pass that is asked for. */
export const WANTED = 0;
/** Number of the pass that was finished last. */
export const DONE = 1;
export const CLOSE = -1;

/**
 * SQLite's own thousand pages. A larger WAL would be carried over less often, but while the file grows every commit also
 * syncs its metadata and takes twice as long.
 */
const BYTES_PER_PASS = 4 * 1024 * 1024;
/** What every commit writes beside the bodies: the last pages of the tables. */
const BYTES_PER_COMMIT = 3 * 4096;

export class Checkpointing {
  readonly #path: string;
  readonly #finish: () => void;
  readonly #board: CheckpointBoard = new Int32Array(new SharedArrayBuffer(8));
  #worker: Worker | undefined;
  #bytes = 0;
  #wanted = 0;
  #isPassing = false;

  constructor(options: { readonly path: string; readonly finish: () => void }) {
    this.#path = options.path;
    this.#finish = options.finish;
  }

  /** Called after a commit of this many bytes of bodies. */
  afterCommit(bytes: number): void {
    this.#bytes += bytes + BYTES_PER_COMMIT;
    if (!this.#isPassing) {
      if (this.#bytes >= BYTES_PER_PASS) this.#ask();
    } else if (this.#wanted === Atomics.load(this.#board, DONE)) {
      // Commits went on during the pass; what they wrote is little, and left for the writer.
      this.#isPassing = false;
      this.#bytes = 0;
      this.#finish();
    }
  }

  close(): void {
    if (this.#worker === undefined) return;
    Atomics.store(this.#board, WANTED, CLOSE);
    Atomics.notify(this.#board, WANTED);
    while (Atomics.load(this.#board, DONE) !== CLOSE) Atomics.wait(this.#board, DONE, this.#wanted, 100);
  }

  #ask(): void {
    this.#worker ??= this.#start();
    this.#isPassing = true;
    this.#wanted += 1;
    Atomics.store(this.#board, WANTED, this.#wanted);
    Atomics.notify(this.#board, WANTED);
  }

  #start(): Worker {
    const file = new URL("./checkpoint-thread.js", import.meta.url);
    const worker = new Worker(file, { workerData: { path: this.#path, board: this.#board } });
    // Without the thread the WAL only grows until SQLite itself carries it over.
    worker.on("error", () => Atomics.store(this.#board, DONE, CLOSE));
    worker.unref();
    return worker;
  }
}
