// Databases of other programs, read without a trace. Each is read by a process of its own, because nobody vouches for the file:
// SQLite cannot be interrupted from outside, and a file may ask for more time and memory than a server can spare.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFile } from "../model/files.js";
import type { DatabaseAnswer, DatabaseRequest } from "./foreign-database-process.js";
import type { TableColumns, TableQuery, TableRow } from "./importer.js";

const MAGIC = Buffer.from("SQLite format 3\0", "latin1");
/** The header's byte for the journal mode: 2 means that there is a WAL. */
const READ_VERSION_AT = 19;
const WAL = 2;

/** How long one answer may take: more for a large file, which may have to be copied or sorted. */
const ANSWER_MS = { min: 20_000, max: 600_000, bytes_per_ms: 10_000 } as const;
/** What the process may use, as far as the system enforces it: memory in KiB, and processor time in seconds. */
const MEMORY_KIB_MAX = 1024 * 1024;
const HEAP_MIB_MAX = 512;
const CPU_S_MAX = 1_800;

export interface Tables {
  readonly tables: TableColumns;
  rows(query: TableQuery): AsyncIterable<ForeignRow>;
  close(): Promise<void>;
}

export interface ForeignRow {
  readonly row: TableRow;
  /** What was left out of it, because it is too long. */
  readonly left_out?: string;
}

/** A database that cannot be read; the message is for users. */
export class UnreadableTables extends Error {}

export function isDatabase(bytes: Uint8Array): boolean {
  return bytes.length >= MAGIC.length && Buffer.compare(Buffer.from(bytes.subarray(0, MAGIC.length)), MAGIC) === 0;
}

export interface OpenTablesOptions {
  /** The file's first bytes. */
  readonly opening: Uint8Array;
  /** Ends the reading at once. */
  readonly signal?: AbortSignal | undefined;
  readonly answer_ms?: number;
  readonly memory_kib?: number;
}

/** One view of the database, as it was when it was opened; a failure comes back as a reason. */
export async function openTables(
  file: string,
  { opening, signal, answer_ms, memory_kib = MEMORY_KIB_MAX }: OpenTablesOptions,
): Promise<Tables | { readonly reason: string }> {
  signal?.throwIfAborted();
  const { min, max, bytes_per_ms } = ANSWER_MS;
  const limitMs =
    answer_ms ?? Math.min(max, min + (statSync(file, { throwIfNoEntry: false })?.size ?? 0) / bytes_per_ms);
  // Reading a database with a WAL makes SQLite create files next to it, unless its owner's are there already.
  const isCopied = opening[READ_VERSION_AT] === WAL && !existsSync(`${file}-shm`);
  const copy_in = isCopied ? await mkdtemp(join(tmpdir(), "hansard-")) : undefined;
  const reader = new DatabaseReader({ limitMs, memory_kib, signal });
  const close = async (): Promise<void> => {
    reader.end();
    if (copy_in !== undefined) await rm(copy_in, { recursive: true, force: true });
  };
  try {
    const { tables } = await reader.ask({ open: file, copy_in });
    return { tables: tables ?? {}, rows: (query) => reader.rows(query), close };
  } catch (error) {
    await close();
    if (error instanceof UnreadableTables) return { reason: error.message };
    throw error;
  }
}

interface Waiting {
  readonly resolve: (answer: DatabaseAnswer) => void;
  readonly reject: (error: unknown) => void;
}

class DatabaseReader {
  readonly #process: ChildProcess;
  readonly #limitMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #waiting = new Map<number, Waiting>();
  readonly #end = (): void => this.end();
  #calls = 0;
  #ended: unknown;

  constructor(limits: { limitMs: number; memory_kib: number; signal: AbortSignal | undefined }) {
    const { limitMs, memory_kib, signal } = limits;
    this.#limitMs = limitMs;
    this.#signal = signal;
    this.#process = startProcess(memory_kib);
    this.#process.on("message", (answer: DatabaseAnswer) => {
      const waiting = this.#waiting.get(answer.call);
      this.#waiting.delete(answer.call);
      if (answer.reason === undefined) waiting?.resolve(answer);
      else waiting?.reject(new UnreadableTables(answer.reason));
    });
    this.#process.on("error", (error) =>
      this.#fail(new UnreadableTables(`its reader did not start: ${error.message}`)),
    );
    this.#process.on("exit", (code, end) => {
      const how = end === null ? `status ${code}` : end;
      this.#fail(
        new UnreadableTables(`the database needs too much memory or time, or is damaged: its reader ended (${how})`),
      );
    });
    process.once("exit", this.#end);
    signal?.addEventListener("abort", this.#end, { once: true });
  }

  /** The rows of a query, as fast as they are taken. */
  async *rows(query: TableQuery): AsyncGenerator<ForeignRow> {
    let { rows = [], cursor } = await this.ask({ query });
    for (;;) {
      yield* rows;
      if (cursor === undefined) return;
      ({ rows = [], cursor } = await this.ask({ cursor }));
    }
  }

  async ask(request: DatabaseRequest): Promise<DatabaseAnswer> {
    this.#calls += 1;
    const call = this.#calls;
    const tooLong = new UnreadableTables(
      `the database cannot be read: there was no answer within ${Math.round(this.#limitMs / 1000)} s`,
    );
    const timer = setTimeout(() => this.#fail(tooLong), this.#limitMs);
    try {
      return await new Promise((resolve, reject) => {
        if (this.#ended !== undefined) throw this.#ended;
        this.#waiting.set(call, { resolve, reject });
        this.#process.send({ ...request, call }, (error) => {
          if (error !== null) this.#fail(new UnreadableTables(`its reader ended: ${error.message}`));
        });
      });
    } finally {
      clearTimeout(timer);
    }
  }

  end(): void {
    this.#fail(this.#signal?.aborted === true ? this.#signal.reason : new UnreadableTables("it was closed"));
  }

  #fail(error: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    process.off("exit", this.#end);
    this.#signal?.removeEventListener("abort", this.#end);
    // Nothing else ends a process that is inside of SQLite.
    this.#process.kill("SIGKILL");
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function startProcess(memory_kib: number): ChildProcess {
  const program = fileURLToPath(packageFile("dist/bundle/foreign-database-process.js"));
  const node = [process.execPath, `--max-old-space-size=${HEAP_MIB_MAX}`, program];
  // A shell sets limits that the system enforces; where it does not know one, the others hold.
  const limits = `ulimit -c 0; ulimit -d ${memory_kib}; ulimit -t ${CPU_S_MAX}; exec "$0" "$@"`;
  const [command, ...args] = process.platform === "win32" ? node : ["/bin/sh", "-c", limits, ...node];
  const { TMPDIR, SystemRoot } = process.env;
  return spawn(command as string, args, {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    // No options for Node, no secrets.
    env: { ...(TMPDIR === undefined ? {} : { TMPDIR }), ...(SystemRoot === undefined ? {} : { SystemRoot }) },
  });
}
