// From captured lines to the server: written to the spool first, sent in batches, again and again until they arrive.
import { type Draft, type Line, type Run, toLine } from "./draft.js";
import { unref } from "./node.js";
import type { Captured, Counters, Problem } from "./outcomes.js";
import { MemoryQueue, type Queue } from "./queue.js";
import { type Sender, sendLines } from "./sending.js";
import { type RetryLimits, reasonOf, retryDelay } from "./server-errors.js";
import type { Spool } from "./spool.js";

export interface DeliveryOptions extends Run, RetryLimits {
  readonly sender: Sender;
  /** Undefined where there is no disk to spool to. */
  readonly spool: Spool | undefined;
  readonly memory_bytes_max: number;
  /** How long captures are gathered before they are sent. */
  readonly linger_ms: number;
  /** Other processes end too; their spools are looked for this often. */
  readonly adopt_ms: number;
  readonly onProblem: (problem: Problem) => void;
}

/** The server takes no larger entry. */
const ENTRY_CHARS_MAX = 16 * 1024 * 1024;

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #memory: MemoryQueue;
  #pending: Taken[] = [];
  #timer: { readonly at: number; readonly handle: ReturnType<typeof setTimeout> } | undefined;
  #running: Promise<boolean> | undefined;
  #failures = 0;
  #adoptedAt = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #dropped = 0;
  #isClosed = false;
  /** What lay on disk when it was closed: from then on it is for whoever comes next, and still not lost. */
  #left = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#memory = new MemoryQueue(options.memory_bytes_max);
    this.#schedule(0);
  }

  get counters(): Counters {
    return {
      queued: this.#pending.length + this.#memory.size,
      spooled: this.#isClosed ? this.#left : (this.#options.spool?.size ?? 0),
      sent: this.#sent,
      dropped: this.#dropped,
    };
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves once the entry is in the spool, or in memory where there is none. */
  take(draft: Draft): Promise<Captured> {
    return new Promise((resolve) => {
      if (this.#pending.push({ draft, resolve }) === 1) later(() => this.write());
    });
  }

  /** Writes what was captured since the last turn of the event loop. */
  write(): void {
    const taken = this.#pending;
    if (taken.length === 0) return;
    this.#pending = [];
    const lines = taken.map(({ draft }) => this.#lineOf(draft));
    const kept = new Set(this.#store(lines.filter((line) => this.#isTakeable(line))));
    for (const [at, line] of lines.entries()) {
      taken[at]?.resolve({ id: line.id, status: kept.has(line) ? "queued" : "dropped" });
    }
    if (kept.size > 0 && this.#failures === 0) this.#schedule(this.#options.linger_ms);
  }

  /** Sends what waits; true once all of it has arrived, false as soon as the server did not take it. */
  send(): Promise<boolean> {
    this.write();
    this.#running ??= this.#sendAll().finally(() => {
      this.#running = undefined;
      if (this.#failures > 0) return;
      const isLeft = this.#queues().some(({ size }) => size > 0);
      // Where nothing is left to do, another process may have died and left something.
      if (isLeft) this.#schedule(this.#options.linger_ms);
      else if (this.#options.spool !== undefined) this.#schedule(this.#options.adopt_ms);
    });
    return this.#running;
  }

  /** What has not arrived is left in the spool; what could not be spooled is lost, and told. */
  close(): void {
    this.write();
    const { spool, sender } = this.#options;
    const spooled = spool?.size ?? 0;
    this.#isClosed = true;
    clearTimeout(this.#timer?.handle);
    sender.connection.close();
    const lost = spool?.close() ?? 0;
    this.#left = spooled - lost;
    if (lost > 0) this.drop({ code: "spool_failed", message: "the spool was removed, and is lost", dropped: lost });
    this.#loseMemory();
  }

  /** Nothing is written any more: of what only memory holds this is the last that is heard. */
  end(): void {
    this.write();
    this.#loseMemory();
  }

  drop(problem: Problem): void {
    this.#dropped += problem.dropped;
    // What the program does with it is no reason to disturb the program.
    quietly(() => this.#options.onProblem(problem));
  }

  #loseMemory(): void {
    const dropped = this.#memory.clear();
    if (dropped > 0) this.drop({ code: "client_closed", message: "what waited in memory never arrived", dropped });
  }

  #lineOf(draft: Draft): Line {
    try {
      return toLine(this.#options, draft);
    } catch {
      // Longer than any string may be.
      return { id: String(draft.fields.id ?? ""), text: "" };
    }
  }

  #isTakeable({ text }: Line): boolean {
    if (this.#isClosed) {
      this.drop({ code: "client_closed", message: "the recorder is closed", dropped: 1 });
      return false;
    }
    if (text !== "" && text.length <= ENTRY_CHARS_MAX) return true;
    this.drop({ code: "entry_too_large", message: "an entry is larger than 16 MiB", dropped: 1 });
    return false;
  }

  /** Answers with what was kept. */
  #store(lines: readonly Line[]): readonly Line[] {
    if (lines.length === 0) return lines;
    try {
      this.#settle();
      if (this.#options.spool?.append(lines.map(({ text }) => text)) === true) return lines;
      if (this.#options.spool !== undefined) {
        this.drop({ code: "spool_full", message: "the spool has reached its limit", dropped: lines.length });
        return [];
      }
    } catch (error) {
      const message = `the spool cannot be written: ${reasonOf(error)}`;
      this.drop({ code: "spool_failed", message, dropped: 0 });
    }
    const kept = lines.filter(({ text }) => this.#memory.push(text));
    const lost = lines.length - kept.length;
    if (lost > 0) this.drop({ code: "memory_full", message: "too much waits to be sent", dropped: lost });
    return kept;
  }

  /** The sooner of two times holds. */
  #schedule(afterMs: number): void {
    const at = performance.now() + afterMs;
    if (this.#isClosed || (this.#timer !== undefined && this.#timer.at <= at)) return;
    clearTimeout(this.#timer?.handle);
    const handle = setTimeout(() => {
      this.#timer = undefined;
      void this.send();
    }, afterMs);
    this.#timer = { at, handle: unref(handle) };
  }

  async #sendAll(): Promise<boolean> {
    const { spool } = this.#options;
    const failures = this.#failures;
    let broken: Problem | undefined;
    quietly(() => this.#adopt());
    for (const queue of this.#queues()) {
      try {
        if (await this.#sendQueue(queue)) continue;
        quietly(() => this.#settle());
        quietly(() => spool?.touch(new Date()));
        return false;
      } catch (error) {
        broken = { code: "spool_failed", message: `the spool cannot be read: ${reasonOf(error)}`, dropped: 0 };
      }
    }
    quietly(() => spool?.tidy());
    if (broken === undefined) return true;
    // What arrived from other files makes this one no better.
    this.#failures = failures;
    this.#retry(broken, undefined);
    return false;
  }

  /** Somebody may have tidied up where the spool lies. */
  #settle(): void {
    if (this.#options.spool?.settle() !== true) return;
    const message = "the spool was removed, and what has not arrived was written anew";
    this.drop({ code: "spool_failed", message, dropped: 0 });
  }

  async #sendQueue(queue: Queue): Promise<boolean> {
    for (let batch = queue.peek(); batch !== undefined; batch = queue.peek()) {
      const { lines, corrupt } = batch;
      const sent = await sendLines(this.#options.sender, lines);
      if (this.#isClosed) return false;
      if (sent.outcome === "failed") {
        this.#retry(sent.problem, sent.retryAfterMs);
        return false;
      }
      this.#failures = 0;
      const refused = sent.problems.reduce((sum, { dropped }) => sum + dropped, 0);
      this.#sent += lines.length - refused;
      for (const problem of sent.problems) this.drop(problem);
      if (corrupt.length > 0) this.#tellCorrupt(corrupt);
      queue.drop();
    }
    return true;
  }

  #tellCorrupt(lines: readonly string[]): void {
    quietly(() => this.#options.spool?.keepCorrupt(lines));
    const message = "lines of the spool cannot be read, and were put into corrupt.txt beside it";
    this.drop({ code: "spool_corrupt", message, dropped: lines.length });
  }

  #retry(problem: Problem, retryAfterMs: number | undefined): void {
    // Told once for each time that the server goes away, and not for each attempt.
    if (this.#failures === 0) this.drop(problem);
    this.#schedule(retryDelay(this.#failures, this.#options, retryAfterMs));
    this.#failures += 1;
  }

  #adopt(): void {
    const { spool, adopt_ms } = this.#options;
    if (spool === undefined || performance.now() - this.#adoptedAt < adopt_ms) return;
    this.#adoptedAt = performance.now();
    spool.adopt(new Date());
  }

  #queues(): readonly Queue[] {
    return [...(this.#options.spool?.queues ?? []), this.#memory];
  }
}

/** Nothing of the client's own may come up in the agent. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // There is nobody to tell.
  }
}

interface Taken {
  readonly draft: Draft;
  readonly resolve: (captured: Captured) => void;
}

/** When the agent has done its turn. */
const later = globalThis.setImmediate ?? globalThis.setTimeout;
