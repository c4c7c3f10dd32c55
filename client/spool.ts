// The spool: a folder of files for one server. Each process writes its own file, and takes over those of processes that ended.
import type { NodeModules } from "./node.js";
import type { Queue } from "./queue.js";
import { BATCH_LINES_MAX, type Batch } from "./queue.js";

/** A process that has not touched its file for so long counts as dead, even if its number is in use again. */
const STALE_MS = 10 * 60_000;
/** Lines that cannot be sent are kept here for a person to look at. */
const CORRUPT_FILE = "corrupt.txt";
/** Which server a folder is for: `deliver` reads it to send what dead agents left. */
const ADDRESS_FILE = "server.txt";

export interface SpoolOptions {
  /** The folder for all servers. */
  readonly folder: string;
  /** What is spooled for one server goes to no other. */
  readonly address: string;
  readonly client_run: string;
  readonly bytes_max: number;
}

export class Spool {
  readonly #node: NodeModules;
  readonly #folder: string;
  readonly #address: string;
  readonly #run: string;
  readonly #bytesMax: number;
  readonly #host: string;
  #own: SpoolFile | undefined;
  #files = 0;
  #adopted: readonly SpoolFile[] = [];

  /** Throws where the folder cannot be made. */
  constructor(node: NodeModules, { folder, address, client_run, bytes_max }: SpoolOptions) {
    const digest = (text: string): string => node.crypto.createHash("sha256").update(text).digest("hex");
    this.#node = node;
    this.#folder = node.path.join(folder, digest(address).slice(0, 16));
    this.#address = address;
    this.#host = digest(node.os.hostname()).slice(0, 8);
    this.#run = client_run;
    this.#bytesMax = bytes_max;
    this.#makeFolder();
  }

  /** How many lines wait on disk. */
  get size(): number {
    return this.queues.reduce((sum, { size }) => sum + size, 0);
  }

  /** What others left comes first, since it is older. */
  get queues(): readonly Queue[] {
    return this.#all();
  }

  /** Throws where the disk is full or cannot be written; false where the stated limit is reached. */
  append(lines: readonly string[]): boolean {
    if (this.#own === undefined) this.#makeFolder();
    this.#own ??= SpoolFile.create(this.#node, this.#newPath());
    if (this.#own.bytes > this.#bytesMax) return false;
    this.#own.append(lines);
    if (this.#own.whereabouts() !== "taken") return true;
    // Another process has just taken it, and may have measured it before these lines were in it.
    this.#own.abandon();
    this.#own = undefined;
    return this.append(lines);
  }

  /** Writes a removed spool again; true if that was needed. If the disk fails it throws, and keeps the lines in memory. */
  settle(): boolean {
    let isMoved = false;
    for (const file of this.#all()) {
      const where = file.whereabouts();
      if (where === "removed" && file.size > 0) {
        this.#makeFolder();
        file.moveTo(this.#newPath());
        isMoved = true;
      } else if (where !== "here") {
        // The process that took it sends its lines.
        file.abandon();
        if (file === this.#own) this.#own = undefined;
        else this.#adopted = this.#adopted.filter((one) => one !== file);
      }
    }
    return isMoved;
  }

  /** Takes over the files of processes that are gone. Of two that try, one succeeds. */
  adopt(now: Date): void {
    const { fs } = this.#node;
    for (const name of fs.readdirSync(this.#folder).filter((one) => this.#isAdoptable(one, now))) {
      const path = this.#newPath();
      try {
        fs.renameSync(this.#pathOf(name), path);
        this.#adopted = [...this.#adopted, SpoolFile.adopt(this.#node, path)];
      } catch {
        // Another process was faster, or it cannot be read; then it stays for somebody who can.
      }
    }
  }

  /** Removes adopted files whose lines have all arrived. */
  tidy(): void {
    const done = this.#adopted.filter(({ size }) => size === 0);
    this.#adopted = this.#adopted.filter(({ size }) => size > 0);
    for (const file of done) file.close(this.#leftPath());
  }

  /** Says that this process is alive. */
  touch(now: Date): void {
    for (const file of this.#all()) file.touch(now);
  }

  keepCorrupt(lines: readonly string[]): void {
    this.#node.fs.appendFileSync(this.#pathOf(CORRUPT_FILE), `${lines.join("\n")}\n`, { mode: 0o600 });
  }

  /** Leaves what has not arrived to the next process; returns how many lines could not be kept. */
  close(): number {
    const files = this.#all();
    this.#own = undefined;
    this.#adopted = [];
    return files.reduce((lost, file) => lost + (this.#isLeft(file) ? 0 : file.size), 0);
  }

  #isLeft(file: SpoolFile): boolean {
    try {
      this.#makeFolder();
      file.close(this.#leftPath());
      return true;
    } catch {
      return false;
    }
  }

  #all(): readonly SpoolFile[] {
    return [...this.#adopted, ...(this.#own === undefined ? [] : [this.#own])];
  }

  #isAdoptable(name: string, now: Date): boolean {
    const [, host, pid, run] = /^([0-9a-f]{8}|closed)-(\d+)-([0-9A-Za-z-]+)\.\d+\.ndjson$/.exec(name) ?? [];
    if (host === undefined || run === this.#run) return false;
    if (host === "closed" || (host === this.#host && !this.#isAlive(Number(pid)))) return true;
    const found = this.#node.fs.statSync(this.#pathOf(name), { throwIfNoEntry: false });
    return found !== undefined && now.getTime() - found.mtimeMs > STALE_MS;
  }

  #isAlive(pid: number): boolean {
    try {
      this.#node.process.kill(pid, 0);
      return true;
    } catch (error) {
      // It is there, and belongs to somebody else.
      return (error as { readonly code?: string }).code === "EPERM";
    }
  }

  /** Somebody may have removed it since. */
  #makeFolder(): void {
    const { fs } = this.#node;
    fs.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.#pathOf(ADDRESS_FILE);
    try {
      // One that could not be written is empty.
      const isWritten = (fs.statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
      if (!isWritten) fs.writeFileSync(path, `${this.#address}\n`, { mode: 0o600 });
    } catch {
      // A full disk is temporary: keep the spool, and do not load its lines into memory.
    }
  }

  #leftPath(): string {
    return this.#pathOf(`closed-0-${this.#run}.${this.#files++}.ndjson`);
  }

  #newPath(): string {
    return this.#pathOf(`${this.#host}-${this.#node.process.pid}-${this.#run}.${this.#files++}.ndjson`);
  }

  #pathOf(name: string): string {
    return this.#node.path.join(this.#folder, name);
  }
}

/** The addresses of the servers for which something may lie in a folder. */
export function spooledServers({ fs, path }: NodeModules, folder: string): readonly string[] {
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  const isWaiting = (name: string): boolean =>
    fs.readdirSync(path.join(folder, name)).some((file) => file.endsWith(".ndjson"));
  const files = names
    .filter((name) => fs.existsSync(path.join(folder, name, ADDRESS_FILE)) && isWaiting(name))
    .map((name) => path.join(folder, name, ADDRESS_FILE));
  const addresses = files.map((file) => fs.readFileSync(file, "utf8").trim());
  return addresses.filter((address) => URL.canParse(address)).map((address) => new URL(".", address).href);
}

/** Where spools lie unless the caller says otherwise. */
export function defaultSpoolFolder({ path, os, process }: NodeModules): string {
  const state = process.env.XDG_STATE_HOME || path.join(os.homedir(), ".local", "state");
  return path.join(state, "hansard", "spool");
}

type Fs = NodeModules["fs"];

const READ_BYTES = 1024 * 1024;
const NEWLINE = 10;

/**
 * A file of lines that wait to be sent: written and read by one process, removed when all have arrived. Every line is written
 * (write(2)) before the capture's promise resolves, and not synced: it survives the death of the process, and a power failure
 * may cost the last seconds.
 */
class SpoolFile implements Queue {
  readonly #node: NodeModules;
  readonly #fs: Fs;
  #fd: number;
  #path: string;
  /** Whether another process wrote it; then its lines are checked. */
  readonly #isAdopted: boolean;
  #bytes: number;
  #sentBytes = 0;
  #size: number;
  #handedOut = { bytes: 0, lines: 0 };
  #isAbandoned = false;

  private constructor(
    node: NodeModules,
    options: { path: string; fd: number; isAdopted: boolean; bytes: number; size: number },
  ) {
    this.#node = node;
    this.#fs = node.fs;
    this.#path = options.path;
    this.#fd = options.fd;
    this.#isAdopted = options.isAdopted;
    this.#bytes = options.bytes;
    this.#size = options.size;
  }

  /** A file of this process's own. */
  static create(node: NodeModules, path: string): SpoolFile {
    const fd = node.fs.openSync(path, "ax+", 0o600);
    return new SpoolFile(node, { path, fd, isAdopted: false, bytes: 0, size: 0 });
  }

  /** A file that another process left behind. */
  static adopt(node: NodeModules, path: string): SpoolFile {
    const { fs } = node;
    const fd = fs.openSync(path, "r+");
    try {
      return new SpoolFile(node, { path, fd, isAdopted: true, ...measure(fs, fd) });
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
    if (this.#isAdopted || this.#sentBytes < this.#bytes || this.whereabouts() !== "here") return;
    // Only this process appends to it, so nothing can have come between.
    this.#fs.ftruncateSync(this.#fd, 0);
    this.#bytes = 0;
    this.#sentBytes = 0;
    this.#size = 0;
  }

  /** Whether the file is still in its place: another process may have adopted it, or a person removed it. */
  whereabouts(): "here" | "taken" | "removed" {
    const { ino, nlink } = this.#fs.fstatSync(this.#fd);
    const isAt = (path: string): boolean => this.#fs.statSync(path, { throwIfNoEntry: false })?.ino === ino;
    if (isAt(this.#path)) return "here";
    if (nlink === 0) return "removed";
    // Who adopts a file leaves it in the folder. A link to it in another place, such as a backup, is nobody who sends it.
    return this.#neighbours().some(isAt) ? "taken" : "removed";
  }

  #neighbours(): readonly string[] {
    const { fs, path } = this.#node;
    const folder = path.dirname(this.#path);
    return fs.existsSync(folder) ? fs.readdirSync(folder).map((name) => path.join(folder, name)) : [];
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
   * Releases a file that another process has taken. Some of it may be on its way to the server now, and the next file may
   * get the same descriptor, so nothing may be left here to send.
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
