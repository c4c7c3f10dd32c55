// What waits to be sent. A queue hands out its oldest lines and lets go of them once they have arrived.

export interface Batch {
  readonly lines: readonly string[];
  /** Lines that could not be read back, which are let go of with the rest. */
  readonly corrupt: readonly string[];
}

export interface Queue {
  /** How many lines wait. */
  readonly size: number;
  /** The oldest lines, as many as fit into a request; undefined where none waits. */
  peek(): Batch | undefined;
  /** Lets go of the batch that was handed out last. */
  drop(): void;
}

export const BATCH_LINES_MAX = 500;
const BATCH_CHARS_MAX = 1024 * 1024;

/** Where there is no disk, or none that can be written: a bounded number of lines, gone with the process. */
export class MemoryQueue implements Queue {
  readonly #charsMax: number;
  readonly #lines: string[] = [];
  #chars = 0;
  #handedOut = 0;

  constructor(charsMax: number) {
    this.#charsMax = charsMax;
  }

  get size(): number {
    return this.#lines.length;
  }

  /** False where there is no room for it. */
  push(line: string): boolean {
    if (this.#chars + line.length > this.#charsMax) return false;
    this.#lines.push(line);
    this.#chars += line.length;
    return true;
  }

  peek(): Batch | undefined {
    let chars = 0;
    const end = this.#lines.findIndex((line, at) => {
      chars += line.length;
      return at === BATCH_LINES_MAX || (at > 0 && chars > BATCH_CHARS_MAX);
    });
    const lines = this.#lines.slice(0, end === -1 ? undefined : end);
    this.#handedOut = lines.length;
    return lines.length === 0 ? undefined : { lines, corrupt: [] };
  }

  /** Lets go of everything; answers with how much that was. */
  clear(): number {
    this.#chars = 0;
    this.#handedOut = 0;
    return this.#lines.splice(0).length;
  }

  drop(): void {
    for (const line of this.#lines.splice(0, this.#handedOut)) this.#chars -= line.length;
    this.#handedOut = 0;
  }
}
