// One run of fault injection: its random choices, the programs it starts, and what they were acknowledged.
import { setTimeout as pause } from "node:timers/promises";
import { itemAt } from "../../src/model/item-at.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { examineStore, type Findings } from "../crash/audit.js";
import { type Acknowledged, type Start, Writer } from "../crash/programs.js";
import type { WriterOptions } from "../crash/writer.js";
import { type ServingCli, serveCli } from "../e2e/cli-run.js";
import type { PostgresServer } from "../support/postgres-server.js";
import { folderOnDisk } from "../support/temporary-folder.js";
import { HttpCallers } from "./http-callers.js";

export type Engine = "sqlite" | "postgres";

const PROGRESS_MS_MAX = 60_000;

/** Makes an empty store: in the folder, or in a database; on a disk also what a database keeps of it. */
export type NewStore = (folder: string, options?: { readonly isDisk: boolean }) => Promise<string>;

/** Everything that acknowledges entries. */
export interface Source {
  readonly acknowledged: readonly (readonly Acknowledged[])[];
  readonly refused: ReadonlySet<string>;
}

export class FireRun {
  readonly engine: Engine;
  readonly folder = folderOnDisk();
  /** The database server of this file; undefined for SQLite. */
  readonly database: PostgresServer | undefined;
  readonly #random: () => number;
  readonly #newStore: NewStore;
  #store: Promise<string> | undefined;
  readonly #sources: Source[] = [];
  #writers = 0;
  #noted = 0;
  /** What a program said that ended by itself. */
  #surprise: string | undefined;

  constructor(options: {
    readonly engine: Engine;
    readonly seed: number;
    readonly database: PostgresServer | undefined;
    readonly newStore: NewStore;
  }) {
    this.engine = options.engine;
    this.database = options.database;
    this.#random = seededRandom(options.seed);
    this.#newStore = options.newStore;
  }

  /** The address of the run's store, which the first that asks makes. */
  store(): Promise<string> {
    this.#store ??= this.#newStore(this.folder);
    return this.#store;
  }

  /** The same with all its files on a disk that is mounted here. */
  storeOn(disk: string): Promise<string> {
    this.#store = this.#newStore(disk, { isDisk: true });
    return this.#store;
  }

  /** The same on a database server of the run's own. */
  storeAt(address: string): void {
    this.#store = Promise.resolve(address);
  }

  get random(): () => number {
    return this.#random;
  }

  int(least: number, most: number): number {
    return least + Math.floor(this.#random() * (most - least + 1));
  }

  pick<T>(list: readonly T[]): T {
    return itemAt(list, Math.floor(this.#random() * list.length));
  }

  chance(share: number): boolean {
    return this.#random() < share;
  }

  /** A moment between two acknowledgements. */
  async moment(msMax = 60): Promise<void> {
    await pause(this.#random() * msMax);
  }

  /** A process that records through the library. */
  writer(options: Partial<WriterOptions> & { readonly data: string }, start: Start = {}): Writer {
    this.#writers += 1;
    const name = `w${this.#writers}`;
    const usual = { name, callers: this.int(1, 12), rounds: 1_000_000, pause_ms: this.int(5, 40) };
    const writer = new Writer({ ...usual, ...options }, start);
    this.#expectLife(writer);
    this.#sources.push({
      get acknowledged() {
        return byCaller(writer.entries);
      },
      get refused() {
        return surelyRefused(writer);
      },
    });
    return writer;
  }

  #expectLife(writer: Writer): void {
    void writer.ended.then(({ status, signal, stderr }) => {
      if (signal !== "SIGKILL") this.#surprise = `a program ended with ${status ?? signal}: ${stderr}`;
    });
  }

  /** Clients of servers, in this process. */
  callers(addresses: () => readonly string[], count = this.int(2, 10)): HttpCallers {
    const callers = new HttpCallers({ addresses, count, seed: this.int(0, 2 ** 30) });
    this.#sources.push(callers);
    return callers;
  }

  /** A process that records through the client SDK. What is in the spool may arrive in any order. */
  agent(client: { readonly url: string; readonly spool: string }, start: Start = {}): Writer {
    this.#writers += 1;
    const options = {
      name: `a${this.#writers}`,
      callers: this.int(1, 6),
      rounds: 1_000_000,
      pause_ms: this.int(1, 20),
    };
    const agent = new Writer({ data: "", client, ...options }, start);
    this.#expectLife(agent);
    this.#sources.push({
      get acknowledged() {
        return agent.entries.map((entry) => [entry]);
      },
      refused: new Set(),
    });
    return agent;
  }

  serve(data: string, env: NodeJS.ProcessEnv = {}, port = 0): Promise<ServingCli> {
    return serveCli({ data, env }, ["--port", String(port)]);
  }

  /** Until the programs have been acknowledged so many entries more. */
  async progress(of: Writer | HttpCallers, entries: number): Promise<void> {
    const wanted = countOf(of) + entries;
    await this.until(() => countOf(of) >= wanted, `${entries} more acknowledgements`);
  }

  async until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = performance.now() + PROGRESS_MS_MAX;
    while (!(await isSo())) {
      if (this.#surprise !== undefined) throw new Error(this.#surprise);
      if (performance.now() > end) throw new Error(`waited in vain for ${what}`);
      await pause(10);
    }
  }

  /** Counts entries that the run compared by itself. */
  note(acknowledged: number): void {
    this.#noted += acknowledged;
  }

  get acknowledgedCount(): number {
    return this.#noted + this.#sources.reduce((sum, { acknowledged }) => sum + acknowledged.flat().length, 0);
  }

  /** Compares what was acknowledged with what is there; every program has ended. */
  async compare(): Promise<Findings> {
    return examineStore(await this.store(), {
      acknowledged: this.#sources.flatMap(({ acknowledged }) => acknowledged),
      refused: new Set(this.#sources.flatMap(({ refused }) => [...refused])),
    });
  }
}

function countOf(of: Writer | HttpCallers): number {
  return of instanceof Writer ? of.entries.length : of.count;
}

/** Ids are `s.<writer>.<caller>.<round>` and `b.<writer>.<caller>.<round>.<size>.<item>`. */
function byCaller(entries: readonly Acknowledged[]): readonly (readonly Acknowledged[])[] {
  const lists = new Map<string, Acknowledged[]>();
  for (const entry of entries) {
    const caller = entry.id.split(".").slice(1, 3).join(".");
    const list = lists.get(caller) ?? [];
    list.push(entry);
    lists.set(caller, list);
  }
  return [...lists.values()];
}

/** A full disk stores nothing. What another fault refused may have been stored before it, so it is sent again with its id. */
function surelyRefused({ refused, acknowledged }: Writer): ReadonlySet<string> {
  const others = new Set(refused.flatMap(({ id, code }) => (code === "disk_full" ? [] : [id])));
  const taken = new Set(acknowledged);
  return new Set(refused.flatMap(({ id }) => (others.has(id) || taken.has(id) ? [] : [id])));
}
