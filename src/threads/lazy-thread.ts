// A thread that is started by the first call and opens what it needs; one that has stopped, or could not open, is followed
// by another with the next call.
import { Fault } from "../model/fault.js";
import { Thread, type ThreadOptions } from "./calls.js";

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
      // This call's answer is lost; whoever asked knows whether it can be asked again.
      // Another one may have taken its place already.
      const hasStopped = error instanceof Fault && error.code === "thread_stopped";
      if (hasStopped && this.#thread === asked) this.#thread = undefined;
      throw error;
    }
  }

  /** Sends word to a thread that runs; one that was never needed has nothing to hear. */
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
