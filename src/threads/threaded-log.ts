// The SQLite log as the rest of the program sees it: every call goes to the thread that owns the file.
import type { AppendOutcome, AppendUnit, EntryLog, Head, StoredEntry } from "../ports/entry-log.js";
import { Thread } from "./calls.js";
import { packUnits } from "./packed-units.js";

export class ThreadedLog implements EntryLog {
  readonly engine = "sqlite";
  readonly #thread: Thread;

  private constructor(thread: Thread) {
    this.#thread = thread;
  }

  static async open(options: { readonly path: string; readonly mode: "create" | "write" }): Promise<ThreadedLog> {
    const thread = new Thread({ file: new URL("./log-thread.js", import.meta.url), options });
    try {
      await thread.call("open", undefined);
    } catch (error) {
      await thread.close();
      throw error;
    }
    return new ThreadedLog(thread);
  }

  head(): Promise<Head> {
    return this.#thread.call("head", undefined);
  }

  append(units: readonly AppendUnit[]): Promise<readonly AppendOutcome[]> {
    const packed = packUnits(units);
    return this.#thread.call("append", packed, [packed.bytes.buffer]);
  }

  read(range: {
    readonly after: number;
    readonly limit: number;
    readonly bytes_max?: number;
  }): Promise<readonly StoredEntry[]> {
    return this.#thread.call("read", range);
  }

  get(positions: readonly number[]): Promise<readonly (StoredEntry | undefined)[]> {
    return this.#thread.call("get", positions);
  }

  find(claims: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.#thread.call("find", claims);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
