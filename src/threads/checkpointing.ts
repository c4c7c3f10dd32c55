// Coordinates the writer and the checkpoint thread: the thread copies the WAL into the database while commits go on,
// and the writer finishes between two commits, the only time at which the WAL can start over.
import { Worker } from "node:worker_threads";
import { threadFile } from "./thread.js";

/** Two numbers shared with the thread. */
export type CheckpointCounters = Int32Array<SharedArrayBuffer>;
/** Number of the requested pass. */
export const WANTED = 0;
/** Number of the last finished pass. */
export const DONE = 1;
export const CLOSE = -1;

/**
 * SQLite's default of a thousand pages. A larger WAL would be checkpointed less often, but while the file grows every
 * commit also syncs its metadata and takes twice as long.
 */
const BYTES_PER_PASS = 4 * 1024 * 1024;
/**
 * Commits this large contain many entries, and hardly notice the metadata. Pages that they rewrite are then copied
 * once.
 */
export const LONG_COMMIT_BYTES = 256 * 1024;
const BYTES_PER_LONG_PASS = 16 * 1024 * 1024;
/** What every commit writes besides the bodies: the last pages of the tables. */
const BYTES_PER_COMMIT = 3 * 4096;

/** A pass takes milliseconds; a longer one is not waited for. */
const CLOSE_MS_MAX = 2_000;

export class Checkpointing {
  readonly #path: string;
  readonly #finish: () => void;
  readonly #board: CheckpointCounters = new Int32Array(new SharedArrayBuffer(8));
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
      if (this.#bytes >= (bytes < LONG_COMMIT_BYTES ? BYTES_PER_PASS : BYTES_PER_LONG_PASS)) this.#ask();
    } else if (this.#wanted === Atomics.load(this.#board, DONE)) {
      // What was committed during the pass is little, and left for the writer.
      this.#isPassing = false;
      this.#bytes = 0;
      this.#finishQuietly();
    }
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    Atomics.store(this.#board, WANTED, CLOSE);
    Atomics.notify(this.#board, WANTED);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS_MAX);
    });
    await Promise.race([ended, late]);
    clearTimeout(timer);
    await worker.terminate();
  }

  /** The previous commit is safe whatever happens here: pages that cannot be copied now stay in the WAL. */
  #finishQuietly(): void {
    try {
      this.#finish();
    } catch {
      // A full disk, for example. The next pass tries again.
    }
  }

  #ask(): void {
    this.#worker ??= this.#start();
    this.#isPassing = true;
    this.#wanted += 1;
    Atomics.store(this.#board, WANTED, this.#wanted);
    Atomics.notify(this.#board, WANTED);
  }

  #start(): Worker {
    const file = threadFile("checkpoint");
    const worker = new Worker(file, { workerData: { path: this.#path, board: this.#board }, execArgv: [] });
    // Until another thread is started, the WAL grows, and SQLite itself checkpoints it.
    worker.on("error", () => {
      this.#worker = undefined;
      this.#isPassing = false;
    });
    worker.unref();
    return worker;
  }
}
