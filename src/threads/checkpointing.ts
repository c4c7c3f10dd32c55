// How writing and the checkpoint thread work together: the thread copies the WAL into the database while commits go on,
// and whoever writes finishes the rest between two commits, the only moment at which the WAL can start over.
import { Worker } from "node:worker_threads";
import { threadFile } from "./thread.js";

/** Two numbers shared by both sides. */
export type CheckpointCounters = Int32Array<SharedArrayBuffer>;
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
/**
 * Commits as long as this are many entries each, and hardly notice the metadata. Pages that one after the other of them writes
 * again are then carried over once.
 */
export const LONG_COMMIT_BYTES = 256 * 1024;
const BYTES_PER_LONG_PASS = 16 * 1024 * 1024;
/** What every commit writes beside the bodies: the last pages of the tables. */
const BYTES_PER_COMMIT = 3 * 4096;

/** A pass takes milliseconds; what takes longer is not waited for. */
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
      // Commits went on during the pass; what they wrote is little, and left for the writer.
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

  /** The commit before it stands, whatever happens here: what cannot be carried over now stays in the WAL. */
  #finishQuietly(): void {
    try {
      this.#finish();
    } catch {
      // A full disk, say. The next pass tries again.
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
    // Until another thread is started, the WAL only grows, and SQLite itself carries it over.
    worker.on("error", () => {
      this.#worker = undefined;
      this.#isPassing = false;
    });
    worker.unref();
    return worker;
  }
}
