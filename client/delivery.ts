// Delivery of captured entries: each becomes a line of JSON, is written to the spool, and is sent in batches until it arrives.

import type { Clock } from "./clock.js";
import type { Connection, WholeAnswer } from "./connection.js";
import type { CaptureLabels } from "./default-labels.js";
import { newId } from "./ids.js";
import type { Captured, Counters, Problem } from "./outcomes.js";
import { ProblemReports } from "./problem-reports.js";
import { MemoryQueue, type Queue } from "./queue.js";
import { type RetryLimits, retryDelay } from "./retry.js";
import { failureOf, jsonObjectIn, reasonOf, toConnectionError } from "./server-errors.js";
import { type Fields, OWN } from "./snapshot.js";
import type { Spool } from "./spool.js";

export interface DeliveryOptions extends Run, RetryLimits {
  readonly sender: Sender;
  /** Undefined where there is no disk to spool to. */
  readonly spool: Spool | undefined;
  readonly memory_bytes_max: number;
  /** How long captures are gathered before they are sent. */
  readonly linger_ms: number;
  /** How often to look for the spools of processes that have ended. */
  readonly adopt_ms: number;
  readonly onProblem: (problem: Problem) => void;
  readonly clock: Clock;
}

/** The server takes no larger entry. */
const ENTRY_CHARS_MAX = 16 * 1024 * 1024;

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #memory: MemoryQueue;
  readonly #reports: ProblemReports;
  #pending: Taken[] = [];
  #timer: { readonly at: number; cancel(): void } | undefined;
  #running: Promise<boolean> | undefined;
  #failures = 0;
  #adoptedAt = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #dropped = 0;
  #isClosed = false;
  /** How many lines were on disk when it was closed; the next process delivers them. */
  #left = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#memory = new MemoryQueue(options.memory_bytes_max);
    // An error in the program's own handler must not reach the program.
    this.#reports = new ProblemReports(options.clock, (problem) => quietly(() => options.onProblem(problem)));
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

  /** What has not arrived is left in the spool; what could not be spooled is lost, and reported. */
  close(): void {
    this.write();
    const { spool, sender } = this.#options;
    const spooled = spool?.size ?? 0;
    this.#isClosed = true;
    this.#timer?.cancel();
    sender.connection.close();
    const lost = spool?.close() ?? 0;
    this.#left = spooled - lost;
    if (lost > 0) this.drop({ code: "spool_failed", message: "the spool was removed, and is lost", dropped: lost });
    this.#loseMemory();
    this.#reports.flush();
  }

  /** The process ends: what only memory holds is lost, and reported. */
  end(): void {
    this.write();
    this.#loseMemory();
    this.#reports.flush();
  }

  drop(problem: Problem): void {
    this.#dropped += problem.dropped;
    this.#reports.add(problem);
  }

  #loseMemory(): void {
    const dropped = this.#memory.clear();
    if (dropped > 0) this.drop({ code: "client_closed", message: "entries waiting in memory were lost", dropped });
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
    if (lost > 0) this.drop({ code: "memory_full", message: "the send queue is full", dropped: lost });
    return kept;
  }

  /** The sooner of two times holds. */
  #schedule(afterMs: number): void {
    const { clock } = this.#options;
    const at = clock.elapsedMs() + afterMs;
    if (this.#isClosed || (this.#timer !== undefined && this.#timer.at <= at)) return;
    this.#timer?.cancel();
    const send = (): void => {
      this.#timer = undefined;
      void this.send();
    };
    const { cancel } = clock.setTimer(send, afterMs, true);
    this.#timer = { at, cancel };
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
        quietly(() => spool?.touch(new Date(this.#options.clock.nowMs())));
        return false;
      } catch (error) {
        broken = { code: "spool_failed", message: `the spool cannot be read: ${reasonOf(error)}`, dropped: 0 };
      }
    }
    quietly(() => spool?.tidy());
    if (broken === undefined) return true;
    // A success with other files does not count for this one.
    this.#failures = failures;
    this.#retry(broken, undefined);
    return false;
  }

  /** The spool's folder may have been removed. */
  #settle(): void {
    if (this.#options.spool?.settle() !== true) return;
    const message = "the spool was removed; entries that have not arrived were written again";
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
      if (corrupt.length > 0) this.#reportCorrupt(corrupt);
      queue.drop();
    }
    return true;
  }

  #reportCorrupt(lines: readonly string[]): void {
    quietly(() => this.#options.spool?.keepCorrupt(lines));
    const message = "unreadable lines of the spool were moved to corrupt.txt next to it";
    this.drop({ code: "spool_corrupt", message, dropped: lines.length });
  }

  #retry(problem: Problem, retryAfterMs: number | undefined): void {
    // Reported once each time the server goes away, not for each attempt.
    if (this.#failures === 0) this.drop(problem);
    this.#schedule(retryDelay(this.#failures, this.#options, retryAfterMs));
    this.#failures += 1;
  }

  #adopt(): void {
    const { spool, adopt_ms, clock } = this.#options;
    if (spool === undefined || clock.elapsedMs() - this.#adoptedAt < adopt_ms) return;
    this.#adoptedAt = clock.elapsedMs();
    spool.adopt(new Date(clock.nowMs()));
  }

  #queues(): readonly Queue[] {
    return [...(this.#options.spool?.queues ?? []), this.#memory];
  }
}

/** No error of the client may reach the agent. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // Nobody to report it to.
  }
}

interface Taken {
  readonly draft: Draft;
  readonly resolve: (captured: Captured) => void;
}

/** After the current turn of the event loop. */
const later = globalThis.setImmediate ?? globalThis.setTimeout;

/** An entry until the agent has finished its turn of the event loop. */
interface Draft {
  readonly seq: number;
  readonly at_ms: number;
  /** Where the caller said so by the function it called; else the fields say it. */
  readonly kind: string | undefined;
  /** A copy of what the caller gave. */
  readonly fields: Fields;
  /** What it is part of, where it was captured through a session. */
  readonly session: CaptureLabels;
  /** What held where it was captured. */
  readonly context: CaptureLabels;
}

interface Line {
  readonly id: string;
  readonly text: string;
}

interface Run {
  readonly client_run: string;
  readonly labels: CaptureLabels;
}

function toLine({ client_run, labels }: Run, draft: Draft): Line {
  const { seq, at_ms, fields, session, context } = draft;
  const id = typeof fields.id === "string" ? fields.id : newId(at_ms);
  const entry: { [name: string]: unknown } = {
    client_run,
    client_seq: seq,
    created_at: new Date(at_ms).toISOString(),
  };
  const kind = draft.kind ?? fields.kind;
  // A response and feedback inherit their labels from what they are about.
  if (kind !== "response" && kind !== "feedback") {
    put(entry, labels);
    put(entry, context);
  }
  // What the model was given is an interaction's.
  if (kind !== "interaction") {
    delete entry.memories_used;
    delete entry.chunks_used;
  }
  put(entry, session);
  put(entry, fields);
  put(entry, { kind, session_id: session.session_id, id });
  return { id, text: JSON.stringify(entry) };
}

/** What is undefined was not given, and does not hide what holds by default. */
function put(entry: { [name: string]: unknown }, fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    // A key called __proto__ is a key like any other.
    if (name !== "__proto__") entry[name] = value;
    else Object.defineProperty(entry, name, { ...OWN, value });
  }
}

/** What becomes of a batch: it arrived, or it is to be sent again. */
type Outcome =
  | { readonly outcome: "arrived"; readonly problems: readonly Problem[] }
  | { readonly outcome: "failed"; readonly problem: Problem; readonly retryAfterMs: number | undefined };

interface Sender {
  readonly connection: Connection;
  readonly timeout_ms: number;
}

/** Entries that the server will never take are left out, and the others are sent again without them. */
async function sendLines(sender: Sender, given: readonly string[]): Promise<Outcome> {
  const problems: Problem[] = [];
  let lines = given;
  while (lines.length > 0) {
    let answer: WholeAnswer;
    try {
      answer = await post(sender, lines);
    } catch (error) {
      const problem = { code: "server_away", message: toConnectionError(error).message, dropped: 0 };
      return { outcome: "failed", problem, retryAfterMs: undefined };
    }
    if (isReceipt(answer, lines)) return { outcome: "arrived", problems };
    const refusal = refusalOf(answer, lines.length);
    if (refusal === "halve") {
      const half = Math.ceil(lines.length / 2);
      const first = await sendLines(sender, lines.slice(0, half));
      if (first.outcome === "failed") return first;
      problems.push(...first.problems);
      lines = lines.slice(half);
    } else if (refusal === undefined) {
      return { outcome: "failed", problem: { ...problemIn(answer), dropped: 0 }, retryAfterMs: answer.retry_after_ms };
    } else {
      problems.push({ ...refusal.problem, dropped: 1 });
      lines = lines.filter((_, at) => at !== refusal.index);
    }
  }
  return { outcome: "arrived", problems };
}

function post({ connection, timeout_ms }: Sender, lines: readonly string[]): Promise<WholeAnswer> {
  const body = { type: "application/x-ndjson", text: lines.join("\n") };
  return connection.ask({ path: "/entries", body, timeout_ms });
}

/**
 * Whatever else answers with 200 on that port has recorded nothing, and neither has a server whose answer names other entries
 * than those it was sent. The lines were written here, so an id is found in one without parsing it again.
 */
function isReceipt({ status, text }: WholeAnswer, lines: readonly string[]): boolean {
  const { entries } = status === 201 || status === 200 ? jsonObjectIn(text) : {};
  if (!Array.isArray(entries) || entries.length !== lines.length) return false;
  return lines.every((line, at) => {
    const { id } = (entries[at] ?? {}) as { readonly id?: unknown };
    return typeof id === "string" && line.includes(`"id":${JSON.stringify(id)}`);
  });
}

/** Statuses that are about an entry, and not about the server or the key. */
const ABOUT_ENTRIES = new Set([400, 404, 409, 413]);

/**
 * What refuses an entry for good. A proxy in front of the server that finds a body too large (413) would never take it, nor
 * anything that waits behind it.
 */
function refusalOf(
  answer: WholeAnswer,
  count: number,
): { readonly index: number; readonly problem: Omit<Problem, "dropped"> } | "halve" | undefined {
  const failure = failureOf(answer);
  const { code = "", index = -1 } = failure.side === "stranger" ? {} : failure.error;
  const isRefused = failure.side === "caller" && ABOUT_ENTRIES.has(answer.status) && code !== "route_not_found";
  if (!isRefused && !(failure.side === "stranger" && answer.status === 413)) return undefined;
  const problem = problemIn(answer);
  // A server that names an entry that was not sent would be sent the same again and again.
  if (Number.isInteger(index) && index >= 0 && index < count) return { index, problem };
  return count === 1 ? { index: 0, problem } : "halve";
}

/** In the server's own words, where it is a Hansard server. */
function problemIn(answer: WholeAnswer): Omit<Problem, "dropped"> {
  const failure = failureOf(answer);
  if (failure.side !== "stranger") return { code: failure.error.code, message: failure.error.message };
  return { code: answer.status === 413 ? "body_too_large" : "server_away", message: failure.message };
}
