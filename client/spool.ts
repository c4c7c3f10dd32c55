// The folder of spool files of one server: each process writes a file of its own, and takes over those of dead ones.
import type { NodeModules } from "./node.js";
import type { Queue } from "./queue.js";
import { SpoolFile } from "./spool-file.js";

/** A process that has not touched its file for so long is taken for dead, whoever has its number now. */
const STALE_MS = 10 * 60_000;
/** Lines that cannot be sent are kept here for a person to look at. */
const CORRUPT_FILE = "corrupt.txt";
/** Which server a folder is for, for whoever delivers what agents left that do not come back. */
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
    this.#own ??= SpoolFile.create(this.#node.fs, this.#newPath());
    if (this.#own.bytes > this.#bytesMax) return false;
    this.#own.append(lines);
    return true;
  }

  /** Writes anew what somebody removed; true where that was needed. Throws where the disk does, and then it is still held. */
  settle(): boolean {
    let isMoved = false;
    for (const file of this.#all()) {
      const where = file.whereabouts();
      if (where === "removed" && file.size > 0) {
        this.#makeFolder();
        file.moveTo(this.#newPath());
        isMoved = true;
      } else if (where !== "here") {
        // Whoever took it sends what is in it.
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
        this.#adopted = [...this.#adopted, SpoolFile.adopt(fs, path)];
      } catch {
        // Another process was faster, or it cannot be read; then it stays for somebody who can.
      }
    }
  }

  /** Removes adopted files of which all has arrived. */
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

  /** What has not arrived is left for whoever comes next; answers with how many lines could not be. */
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
      // A disk that is full now is no reason to do without a spool, nor to leave in memory what lies in it.
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
