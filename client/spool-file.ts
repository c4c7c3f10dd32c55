// A file of lines that wait to be sent: appended to by one process, read by one process, gone when all have arrived.
//
// Every line is written (write(2)) before the capture's promise resolves, and not synced: it survives the death of the
// process, and what the machine itself loses with its power are the last seconds.
import type { NodeModules } from "./node.js";
import { BATCH_LINES_MAX, type Batch, type Queue } from "./queue.js";

type Fs = NodeModules["fs"];

const READ_BYTES = 1024 * 1024;
const NEWLINE = 10;

export class SpoolFile implements Queue {
  readonly #fs: Fs;
  #fd: number;
  #path: string;
  /** Whether somebody else wrote it, so that its lines are looked at. */
  readonly #isAdopted: boolean;
  #bytes: number;
  #sentBytes = 0;
  #size: number;
  #handedOut = { bytes: 0, lines: 0 };
  #isAbandoned = false;

  private constructor(fs: Fs, options: { path: string; fd: number; isAdopted: boolean; bytes: number; size: number }) {
    this.#fs = fs;
    this.#path = options.path;
    this.#fd = options.fd;
    this.#isAdopted = options.isAdopted;
    this.#bytes = options.bytes;
    this.#size = options.size;
  }

  /** A file of this process's own. */
  static create(fs: Fs, path: string): SpoolFile {
    const fd = fs.openSync(path, "ax+", 0o600);
    return new SpoolFile(fs, { path, fd, isAdopted: false, bytes: 0, size: 0 });
  }

  /** A file that another process left behind. */
  static adopt(fs: Fs, path: string): SpoolFile {
    const fd = fs.openSync(path, "r+");
    try {
      return new SpoolFile(fs, { path, fd, isAdopted: true, ...measure(fs, fd) });
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes - this.#sentBytes;
  }

  /** Throws where the disk does; then nothing of it is in the file. */
  append(lines: readonly string[]): void {
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    try {
      for (let at = 0; at < bytes.length; ) at += this.#fs.writeSync(this.#fd, bytes, at);
    } catch (error) {
      this.#fs.ftruncateSync(this.#fd, this.#bytes);
      throw error;
    }
    this.#bytes += bytes.length;
    this.#size += lines.length;
  }

  peek(): Batch | undefined {
    if (this.#isAbandoned) return undefined;
    const { lines, bytes } = this.#read();
    this.#handedOut = { bytes, lines: lines.length };
    if (bytes === 0) return undefined;
    const good = this.#isAdopted ? lines.filter(isWhole) : lines;
    return { lines: good, corrupt: this.#isAdopted ? lines.filter((line) => !isWhole(line)) : [] };
  }

  drop(): void {
    if (this.#isAbandoned) return;
    this.#sentBytes += this.#handedOut.bytes;
    this.#size = Math.max(0, this.#size - this.#handedOut.lines);
    this.#handedOut = { bytes: 0, lines: 0 };
    if (this.#isAdopted || this.#sentBytes < this.#bytes) return;
    // Nobody else appends to it, so that nothing can have come between.
    this.#fs.ftruncateSync(this.#fd, 0);
    this.#bytes = 0;
    this.#sentBytes = 0;
    this.#size = 0;
  }

  /** Whether it still lies where it was made: somebody may have taken this process for dead, or tidied up. */
  whereabouts(): "here" | "taken" | "removed" {
    const here = this.#fs.fstatSync(this.#fd);
    const there = this.#fs.statSync(this.#path, { throwIfNoEntry: false });
    if (there !== undefined && there.ino === here.ino) return "here";
    return here.nlink === 0 ? "removed" : "taken";
  }

  /** Writes what has not arrived to another place; what is on its way to the server stays so. Throws where the disk does. */
  moveTo(path: string): void {
    const fd = this.#fs.openSync(path, "ax+", 0o600);
    let bytes = 0;
    try {
      const chunk = Buffer.alloc(READ_BYTES);
      while (bytes < this.bytes) {
        const wanted = Math.min(READ_BYTES, this.bytes - bytes);
        const read = this.#fs.readSync(this.#fd, chunk, 0, wanted, this.#sentBytes + bytes);
        if (read === 0) break;
        for (let at = 0; at < read; ) at += this.#fs.writeSync(fd, chunk, at, read - at);
        bytes += read;
      }
    } catch (error) {
      this.#fs.closeSync(fd);
      this.#fs.rmSync(path, { force: true });
      throw error;
    }
    this.#fs.closeSync(this.#fd);
    this.#fd = fd;
    this.#path = path;
    this.#bytes = bytes;
    this.#sentBytes = 0;
  }

  /** Says that its process is alive. */
  touch(now: Date): void {
    this.#fs.futimesSync(this.#fd, now, now);
  }

  /**
   * Lets go of a file that somebody else has taken. Some of it may be on its way to the server just now, and the next file may
   * get the same descriptor: whoever sends must find nothing here any more.
   */
  abandon(): void {
    this.#isAbandoned = true;
    this.#fs.closeSync(this.#fd);
  }

  /** Removes it where all has arrived; otherwise it is left under a name that anybody may adopt. Throws where it is lost. */
  close(pathWhenLeft: string): void {
    try {
      const where = this.whereabouts();
      if (this.#size === 0) this.#fs.rmSync(this.#path, { force: true });
      else if (where === "here") this.#fs.renameSync(this.#path, pathWhenLeft);
      else if (where === "removed") this.moveTo(pathWhenLeft);
    } finally {
      this.#fs.closeSync(this.#fd);
    }
  }

  /** Whole lines from where sending has come to; a line that never ended is one too. */
  #read(): { readonly lines: readonly string[]; readonly bytes: number } {
    const left = this.#bytes - this.#sentBytes;
    for (let wanted = Math.min(READ_BYTES, left); wanted > 0; wanted = Math.min(wanted * 4, left)) {
      const chunk = Buffer.alloc(wanted);
      const read = this.#fs.readSync(this.#fd, chunk, 0, wanted, this.#sentBytes);
      const end = endOfLines(chunk.subarray(0, read));
      if (end > 0) {
        return { lines: chunk.toString("utf8", 0, end).replace(/\n$/, "").split("\n"), bytes: end };
      }
      if (read < wanted || wanted === left) return { lines: [chunk.toString("utf8", 0, read)], bytes: left };
    }
    return { lines: [], bytes: 0 };
  }
}

/** Behind the last line of a batch; 0 where not one is whole. */
function endOfLines(chunk: Buffer): number {
  let end = 0;
  for (let lines = 0; lines < BATCH_LINES_MAX; lines += 1) {
    const next = chunk.indexOf(NEWLINE, end);
    if (next === -1) break;
    end = next + 1;
  }
  return end;
}

function isWhole(line: string): boolean {
  try {
    const entry: unknown = JSON.parse(line);
    // Without an id it could arrive twice.
    return typeof (entry as { readonly id?: unknown } | null)?.id === "string";
  } catch {
    return false;
  }
}

function measure(fs: Fs, fd: number): { readonly bytes: number; readonly size: number } {
  const chunk = Buffer.alloc(READ_BYTES);
  let bytes = 0;
  let size = 0;
  let last = NEWLINE;
  for (let read = fs.readSync(fd, chunk, 0, READ_BYTES, 0); read > 0; ) {
    for (let at = chunk.indexOf(NEWLINE); at !== -1 && at < read; at = chunk.indexOf(NEWLINE, at + 1)) size += 1;
    last = chunk[read - 1] as number;
    bytes += read;
    read = fs.readSync(fd, chunk, 0, READ_BYTES, bytes);
  }
  return { bytes, size: last === NEWLINE ? size : size + 1 };
}
