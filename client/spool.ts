// The folder of spool files of one server: each process writes a file of its own, and takes over those of dead ones.
import type { NodeModules } from "./node.js";
import type { Queue } from "./queue.js";
import { SpoolFile } from "./spool-file.js";

/** A process that has not touched its file for so long is taken for dead, whoever has its number now. */
const STALE_MS = 10 * 60_000;
/** Lines that cannot be sent are kept here for a person to look at. */
const CORRUPT_FILE = "corrupt.txt";

export interface SpoolOptions {
  /** The folder for all servers. */
  readonly folder: string;
  /** What is spooled for one server goes to no other. */
  readonly address: string;
  readonly client_run: string;
  readonly bytes_max: number;
}

interface Adopted {
  readonly path: string;
  readonly file: SpoolFile;
}

export class Spool {
  readonly #node: NodeModules;
  readonly #folder: string;
  readonly #run: string;
  readonly #bytesMax: number;
  readonly #host: string;
  #own: SpoolFile | undefined;
  #files = 0;
  #adopted: readonly Adopted[] = [];

  /** Throws where the folder cannot be made. */
  constructor(node: NodeModules, { folder, address, client_run, bytes_max }: SpoolOptions) {
    const digest = (text: string): string => node.crypto.createHash("sha256").update(text).digest("hex");
    this.#node = node;
    this.#folder = node.path.join(folder, digest(address).slice(0, 16));
    this.#host = digest(node.os.hostname()).slice(0, 8);
    this.#run = client_run;
    this.#bytesMax = bytes_max;
    node.fs.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** How many lines wait on disk. */
  get size(): number {
    return this.queues.reduce((sum, { size }) => sum + size, 0);
  }

  /** What others left comes first, since it is older. */
  get queues(): readonly Queue[] {
    return this.#all();
  }

  /** Throws where the disk is full or the folder is gone; false where the stated limit is reached. */
  append(lines: readonly string[]): boolean {
    if (this.#own?.isInPlace() === false) {
      // Whoever took it sends what is in it.
      this.#own.abandon();
      this.#own = undefined;
    }
    this.#own ??= SpoolFile.create(this.#node.fs, this.#newPath());
    if (this.#own.bytes > this.#bytesMax) return false;
    this.#own.append(lines);
    return true;
  }

  /** Takes over the files of processes that are gone. Of two that try, one succeeds. */
  adopt(now: Date): void {
    const { fs } = this.#node;
    for (const name of fs.readdirSync(this.#folder).filter((one) => this.#isAdoptable(one, now))) {
      const path = this.#newPath();
      try {
        fs.renameSync(this.#pathOf(name), path);
        this.#adopted = [...this.#adopted, { path, file: SpoolFile.adopt(fs, path) }];
      } catch {
        // Another process was faster, or it cannot be read; then it stays for somebody who can.
      }
    }
  }

  /** Removes adopted files of which all has arrived. */
  tidy(): void {
    for (const { file, path } of this.#adopted) {
      if (file.size === 0) file.close(path);
    }
    this.#adopted = this.#adopted.filter(({ file }) => file.size > 0);
  }

  /** Says that this process is alive. */
  touch(now: Date): void {
    for (const file of this.#all()) file.touch(now);
  }

  keepCorrupt(lines: readonly string[]): void {
    this.#node.fs.appendFileSync(this.#pathOf(CORRUPT_FILE), `${lines.join("\n")}\n`, { mode: 0o600 });
  }

  /** What has not arrived is left for whoever comes next. */
  close(): void {
    for (const file of this.#all()) file.close(this.#pathOf(`closed-0-${this.#run}.${this.#files++}.ndjson`));
    this.#own = undefined;
    this.#adopted = [];
  }

  #all(): readonly SpoolFile[] {
    return [...this.#adopted.map(({ file }) => file), ...(this.#own === undefined ? [] : [this.#own])];
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

  #newPath(): string {
    return this.#pathOf(`${this.#host}-${this.#node.process.pid}-${this.#run}.${this.#files++}.ndjson`);
  }

  #pathOf(name: string): string {
    return this.#node.path.join(this.#folder, name);
  }
}

/** Where spools lie unless the caller says otherwise. */
export function defaultSpoolFolder({ path, os, process }: NodeModules): string {
  const state = process.env.XDG_STATE_HOME || path.join(os.homedir(), ".local", "state");
  return path.join(state, "hansard", "spool");
}
