// Worker threads: numbered calls with one answer each, faults carried across, and threads started on first use.
import { getPriority, setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { closedFault, Fault, type FaultCode } from "../model/fault.js";
import { packageFile } from "../model/files.js";
import { RecorderError, type RejectionDetails } from "../model/rejection.js";
import type { AnswerForm, Reading } from "../reading/call-table.js";
import type { RebuildOptions } from "../reading/rebuild.js";
import type { TailRange, TailRead, TailSource } from "../reading/tail/read-tail.js";
import type { PriceFile } from "../usage/price-file.js";

export interface ThreadRequest {
  readonly call: number;
  readonly method: string;
  readonly argument: unknown;
}

export type ThreadAnswer =
  | { readonly call: number; readonly result: unknown }
  | { readonly call: number; readonly failure: Failure };

/** An error on its way across threads; a fault keeps its code and hint. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly stack: string;
  /** Set for what the caller can fix. */
  readonly rejection?: RejectionDetails;
}

export function toFailure(error: unknown): Failure {
  const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
  if (error instanceof RecorderError) return { code: "", message, hint: "", stack, rejection: { ...error, message } };
  if (error instanceof Fault) return { code: error.code, message, hint: error.hint, stack };
  return { code: "", message, hint: "", stack };
}

function fromFailure(failure: Failure): Error {
  if (failure.rejection !== undefined) return new RecorderError(failure.rejection);
  if (failure.code !== "") return new Fault(failure.code as FaultCode, failure.message, { hint: failure.hint });
  const error = new Error(failure.message);
  error.stack = failure.stack;
  return error;
}

const SETTLING_MS = 20;

/**
 * Call it last in any thread that ran for a while. A thread that ends while V8 still compiles its code may deadlock
 * with the compiler, and hang the program (nodejs/node issue 54918). A pause in the event loop lets both finish.
 */
export function settled(): Promise<void> {
  return sleep(SETTLING_MS);
}

export interface ThreadOptions {
  readonly file: URL;
  readonly options: object;
  /** For threads that allocate much at once: a larger young generation spares the other threads garbage collection. */
  readonly young_mb?: number;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (reason: unknown) => void;
}

/** Copying this much is faster than transferring it. */
const COPIED_BYTES_MAX = 64 * 1024;

/** Buffers to transfer instead of copying: large ones that the bytes fill alone. They are gone from here afterwards. */
export function givenAway({ buffer, byteLength }: Uint8Array): readonly ArrayBuffer[] {
  const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isAlone && byteLength > COPIED_BYTES_MAX ? [buffer] : [];
}

/**
 * Without a limit V8 lets the garbage of large entries grow to gigabytes before it collects it. What a thread needs at once is
 * bounded by the limits of requests and histories.
 */
const OLD_MB = 448;

export class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;
  #ended: Fault | undefined;

  constructor(options: ThreadOptions) {
    this.#worker = new Worker(options.file, {
      workerData: options.options,
      // Some flags of the program, such as --input-type, would keep a thread from starting.
      execArgv: [],
      resourceLimits: {
        maxOldGenerationSizeMb: OLD_MB,
        ...(options.young_mb === undefined ? {} : { maxYoungGenerationSizeMb: options.young_mb }),
      },
    });
    this.#worker.on("message", (answer: ThreadAnswer) => this.#settle(answer));
    this.#worker.on("error", (error) => this.#end(stopped(error)));
    this.#worker.on("exit", () => this.#end(stopped(undefined)));
    // An idle thread does not keep the program alive; one with pending calls does.
    this.#worker.unref();
  }

  call<T>(method: string, argument: unknown): Promise<T> {
    return this.callWith<T>((call) => ({ call, method, argument }) satisfies ThreadRequest);
  }

  /** A call whose message the caller builds, from the number that its answer will carry. */
  callWith<T>(makeMessage: (call: number) => unknown, given: readonly ArrayBuffer[] = []): Promise<T> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise<T>((resolve, reject) => {
      // The number has four bytes; an answer arrives long before it wraps.
      this.#calls = (this.#calls % 0xffff_fffe) + 1;
      const call = this.#calls;
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(call, { resolve: resolve as (result: unknown) => void, reject });
      this.#worker.postMessage(makeMessage(call), given);
    });
  }

  /** Sends a message without waiting for an answer. */
  tell(method: string, argument: unknown): void {
    if (this.#ended !== undefined) return;
    this.#worker.postMessage({ call: 0, method, argument } satisfies ThreadRequest);
  }

  async close(): Promise<void> {
    if (this.#ended === undefined) await this.call("close", undefined);
    this.#ended ??= closedFault();
    await this.#worker.terminate();
  }

  #settle(answer: ThreadAnswer): void {
    const waiting = this.#waiting.get(answer.call);
    if (waiting === undefined) return;
    this.#waiting.delete(answer.call);
    if (this.#waiting.size === 0) this.#worker.unref();
    if ("failure" in answer) waiting.reject(fromFailure(answer.failure));
    else waiting.resolve(answer.result);
  }

  #end(fault: Fault): void {
    this.#ended ??= fault;
    for (const waiting of this.#waiting.values()) waiting.reject(this.#ended);
    this.#waiting.clear();
  }
}

function stopped(cause: unknown): Fault {
  return new Fault("thread_stopped", "a thread of the recorder has stopped", {
    hint: "Open the recorder again; what was acknowledged is stored.",
    cause,
  });
}

export class LazyThread {
  readonly #options: ThreadOptions;
  #thread: Promise<Thread> | undefined;
  #opened: Thread | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  async call<T>(makeCall: (thread: Thread) => Promise<T>): Promise<T> {
    this.#thread ??= this.#start();
    const asked = this.#thread;
    const thread = await asked;
    try {
      return await makeCall(thread);
    } catch (error) {
      // This call's answer is lost; the caller knows whether it can be repeated. Another thread may have taken its
      // place.
      const hasStopped = error instanceof Fault && error.code === "thread_stopped";
      if (hasStopped && this.#thread === asked) this.#thread = undefined;
      throw error;
    }
  }

  /** Sends a message if the thread is running. */
  tell(method: string): void {
    this.#opened?.tell(method, undefined);
  }

  get isOpen(): boolean {
    return this.#opened !== undefined;
  }

  async close(): Promise<void> {
    const thread = await this.#thread?.catch(() => undefined);
    await thread?.close();
  }

  async #start(): Promise<Thread> {
    const thread = new Thread(this.#options);
    try {
      await thread.call("open", undefined);
      this.#opened = thread;
      return thread;
    } catch (error) {
      this.#thread = undefined;
      await thread.close();
      throw error;
    }
  }
}

export function threadFile(name: "checkpoint" | "log" | "purge" | "read" | "tail"): URL {
  return packageFile(`dist/bundle/${name}-thread.js`);
}

const NICENESS = 10;

/** Lowers the calling thread's priority, so capture goes first. */
export function giveWay(): void {
  // On Linux a thread has its own priority; elsewhere this would affect the whole program. A lower priority is kept:
  // only privileged programs may raise it.
  if (process.platform === "linux") setPriority(Math.max(getPriority(), NICENESS));
}

// Reads and tails in their own threads, started on first use, so neither ever holds up capture.

/** A message costs more than an entry's share of a commit, so one is sent for many. */
const GATHER_MS = 50;
/** Bodies are read by the thousand and soon dropped; V8 would collect them with threads that capture needs. */
const YOUNG_MB = 96;

export interface ReadThreadOptions {
  /** The address of the store whose log is read. */
  readonly data: string;
  /** The store with the index, if it is another one. */
  readonly index?: string | undefined;
  /** Values that the user registered to be masked. */
  readonly mask?: readonly string[] | undefined;
  /** Where it is noted that an altered body was read. */
  readonly altered: BigInt64Array;
  readonly rebuild?: Partial<RebuildOptions> | undefined;
  /** Replaces the built-in prices. */
  readonly prices?: PriceFile | undefined;
}

/** What is asked of the thread. */
export interface Asked {
  readonly name: string;
  readonly query: unknown;
  readonly form: AnswerForm | undefined;
}

export class ThreadedReading implements Reading {
  readonly #thread: LazyThread;
  #telling: NodeJS.Timeout | undefined;

  constructor(options: ReadThreadOptions) {
    this.#thread = new LazyThread({
      file: threadFile("read"),
      options,
      young_mb: YOUNG_MB,
    });
  }

  ask(name: string, query: unknown, form?: AnswerForm): Promise<unknown> {
    return this.#thread.call((thread) => thread.call("ask", { name, query, form } satisfies Asked));
  }

  grown(): void {
    if (!this.#thread.isOpen || this.#telling !== undefined) return;
    this.#telling = setTimeout(() => {
      this.#telling = undefined;
      this.#thread.tell("grown");
    }, GATHER_MS).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.#telling);
    await this.#thread.close();
  }
}

export interface TailThreadOptions {
  /** The address of the store whose log is followed. */
  readonly data: string;
  /** Values that the user registered to be masked. */
  readonly mask?: readonly string[] | undefined;
  /** Where it is noted that an altered body was read. */
  readonly altered: BigInt64Array;
}

export class ThreadedTailSource implements TailSource {
  readonly #thread: LazyThread;

  constructor(options: TailThreadOptions) {
    this.#thread = new LazyThread({ file: threadFile("tail"), options });
  }

  /** A tail continues after its position and loses nothing, even if the thread has stopped. */
  read(range: TailRange): Promise<TailRead> {
    return this.#thread.call((thread) => thread.call("read", range));
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
