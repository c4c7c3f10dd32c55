// What the soak does to a server: a steady stream of captures, readers, followers and erasures, and what was acknowledged.
import { once } from "node:events";
import { Agent, get, type IncomingMessage, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { EntryInput } from "../../src/index.js";
import { Corpus, idOf } from "../sample-data.js";

const BATCH = 10;
const TICK_MS = 10;
const RETRY_MS = 100;
const LATE_MS_MAX = 250;
const LOOK_MS = 100;
/** Beyond it nothing more is sent until an answer has come: the machine does not bear the rate. */
const WAITING_MAX = 100;
const SESSION_ENTRIES = 200;
/** With ids and labels an entry has about 500 bytes. */
const CONTENT_BYTES = 180;

type Made = Extract<EntryInput, { readonly kind: "message" }> & { readonly id: string; readonly session_id: string };

export class Load {
  /** The server's address; another one after a restart. */
  address: string;
  /** Milliseconds since the last look, by what was asked. */
  readonly latencies = { capture: [] as number[], search: [] as number[] };
  /** What must never happen; each problem once. */
  readonly problems = new Set<string>();
  readonly counts = { requests: 0, retries: 0, searches: 0, forgets: 0, tailed: 0, refused: 0 };
  /** Position of each entry by its number; 0 while it is not acknowledged. */
  readonly positions: Uint32Array;
  readonly forgottenSessions = new Set<number>();
  readonly #corpus = new Corpus();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #random: () => number;
  #next = 0;
  #waiting = 0;
  #acknowledged = 0;
  #isOver = false;

  constructor(options: { readonly address: string; readonly entriesMax: number; readonly random: () => number }) {
    this.address = options.address;
    this.positions = new Uint32Array(options.entriesMax);
    this.#random = options.random;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** The number of entries that were made, acknowledged or not. */
  get made(): number {
    return this.#next;
  }

  end(): void {
    this.#isOver = true;
  }

  close(): void {
    this.#agent.destroy();
  }

  entry(number: number): Made {
    const { role, content } = this.#corpus.entry(number, CONTENT_BYTES);
    const session_id = sessionOf(number);
    return { kind: "message", id: `soak-${number}`, role: role as "user", content, session_id, project: "soak" };
  }

  /** Entries at this rate, in batches, at times that do not depend on how fast the server answers. */
  async capture(entriesPerSecond: number): Promise<void> {
    const batchesPerTick = (entriesPerSecond * TICK_MS) / 1_000 / BATCH;
    const sending = new Set<Promise<void>>();
    let scheduled = performance.now();
    let due = 0;
    while (!this.#isOver) {
      scheduled += TICK_MS;
      await pause(Math.max(0, scheduled - performance.now()));
      // Where this process itself does not get the processor, its lateness is not the server's; what is left out shows in the rate.
      if (performance.now() > scheduled + LATE_MS_MAX) scheduled = performance.now();
      for (due += batchesPerTick; due >= 1; due -= 1) {
        if (this.#waiting >= WAITING_MAX || this.#next + BATCH > this.positions.length) continue;
        const sent = this.#sendBatch(this.#next, scheduled).finally(() => sending.delete(sent));
        sending.add(sent);
        this.#next += BATCH;
      }
    }
    await Promise.all(sending);
  }

  async #sendBatch(first: number, scheduled: number): Promise<void> {
    const lines = Array.from({ length: BATCH }, (_, at) => JSON.stringify(this.entry(first + at)));
    this.#waiting += 1;
    for (let attempt = 0; ; attempt += 1) {
      const answer = await this.#ask("/entries", lines.join("\n"), "application/x-ndjson").catch(() => undefined);
      this.counts.requests += 1;
      if (answer?.status === 201 || answer?.status === 200) {
        const { entries } = JSON.parse(answer.text) as { readonly entries: readonly { readonly position: number }[] };
        for (const [at, { position }] of entries.entries()) this.positions[first + at] = position;
        this.#acknowledged += entries.length;
        // One that waited for a restart says nothing about the server.
        if (attempt === 0) this.latencies.capture.push(performance.now() - scheduled);
        break;
      }
      if (answer !== undefined && answer.status < 500) this.problems.add(`capture: ${answer.status} ${answer.text}`);
      this.counts.retries += 1;
      await pause(RETRY_MS);
    }
    this.#waiting -= 1;
  }

  /** What people and agents ask, at a steady pace. */
  async read(requestsPerSecond: number): Promise<void> {
    while (!this.#isOver) {
      await pause((1_000 / requestsPerSecond) * (0.5 + this.#random()));
      const number = Math.floor(this.#random() * Math.max(1, this.#acknowledged - SESSION_ENTRIES));
      const paths = [
        `/search?q=${idOf(number)}`,
        "/search?q=timeout%20function",
        `/search?q=error&session_id=${sessionOf(number)}`,
        `/sessions/${sessionOf(number)}/history`,
        "/sessions?limit=20",
        `/entries/soak-${number}`,
      ];
      const path = paths[Math.floor(this.#random() * paths.length)] as string;
      const start = performance.now();
      const answer = await this.#ask(path).catch(() => undefined);
      if (answer === undefined) continue;
      this.counts.searches += 1;
      if (answer.status === 200) this.latencies.search.push(performance.now() - start);
      else if (answer.status >= 500) this.counts.refused += 1;
      else this.problems.add(`${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    }
  }

  /** Follows the log from its start, over all restarts: every position once, in order. */
  async follow(): Promise<void> {
    let last = 0;
    while (!this.#isOver || last < Math.max(...this.#lastPositions())) {
      await this.#tail(`/tail?after=${last}`, (position) => {
        if (position !== last + 1) this.problems.add(`tail: position ${position} follows ${last}`);
        last = position;
        this.counts.tailed += 1;
        return this.#isOver && last >= Math.max(...this.#lastPositions());
      }).catch(() => undefined);
      await pause(RETRY_MS);
    }
  }

  /** Followers that come and go. */
  async followBriefly(seconds: number): Promise<void> {
    while (!this.#isOver) {
      const until = performance.now() + seconds * 1_000;
      await this.#tail("/tail", () => this.#isOver || performance.now() > until).catch(() => undefined);
      await pause(RETRY_MS);
    }
  }

  async #tail(path: string, isEnough: (position: number) => boolean): Promise<void> {
    const asking = get(this.address + path, { agent: false });
    const [response] = (await once(asking, "response")) as [IncomingMessage];
    let rest = "";
    try {
      for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() as string;
        for (const line of lines) if (line.startsWith("id: ") && isEnough(Number(line.slice(4)))) return;
      }
    } finally {
      asking.destroy();
    }
  }

  /** Erases a session that is complete, every so many seconds. */
  async forget(everySeconds: number): Promise<void> {
    for (let wait = everySeconds * 1_000; !this.#isOver; wait -= LOOK_MS) {
      await pause(LOOK_MS);
      const complete = Math.floor(this.#acknowledged / SESSION_ENTRIES) - 10;
      if (wait > 0 || complete < 1) continue;
      wait = everySeconds * 1_000;
      const session = Math.floor(this.#random() * complete);
      if (this.forgottenSessions.has(session)) continue;
      this.forgottenSessions.add(session);
      const body = JSON.stringify({ session_id: sessionOf(session * SESSION_ENTRIES), reason: "soak" });
      const answer = await this.#ask("/forget", body).catch(() => undefined);
      if (answer?.status === 200) this.counts.forgets += 1;
      else if (answer !== undefined && answer.status < 500)
        this.problems.add(`forget: ${answer.status} ${answer.text}`);
      // Without an answer it may have happened or not; the comparison at the end allows both.
    }
  }

  async health(): Promise<{ readonly position: number; readonly indexed_through: number } | undefined> {
    const answer = await this.#ask("/health").catch(() => undefined);
    return answer === undefined ? undefined : JSON.parse(answer.text);
  }

  /** Reads the whole log and compares it with what was acknowledged. */
  async compare(): Promise<{
    readonly lost: number;
    readonly doubled: number;
    readonly changed: number;
    readonly moved: number;
  }> {
    const found = new Uint8Array(this.positions.length);
    const result = { lost: 0, doubled: 0, changed: 0, moved: 0 };
    const asking = get(`${this.address}/export`, { agent: false });
    const [response] = (await once(asking, "response")) as [IncomingMessage];
    let rest = "";
    const look = (line: string): void => {
      const stored = JSON.parse(line) as Partial<Made> & { readonly position?: number; readonly erased?: boolean };
      if (stored.id?.startsWith("soak-") !== true || stored.erased === true) return;
      const number = Number(stored.id.slice("soak-".length));
      if (found[number] === 1) result.doubled += 1;
      found[number] = 1;
      const { content, role, session_id } = this.entry(number);
      if (stored.content !== content || stored.role !== role || stored.session_id !== session_id) result.changed += 1;
      if (this.positions[number] !== 0 && this.positions[number] !== stored.position) result.moved += 1;
    };
    for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() as string;
      for (const line of lines) look(line);
    }
    if (rest !== "") look(rest);
    for (const [number, position] of this.positions.entries()) {
      const isForgotten = this.forgottenSessions.has(Math.floor(number / SESSION_ENTRIES));
      if (position !== 0 && found[number] === 0 && !isForgotten) result.lost += 1;
    }
    return result;
  }

  #lastPositions(): readonly number[] {
    return [0, ...this.positions.subarray(Math.max(0, this.#next - WAITING_MAX * BATCH), this.#next)];
  }

  async #ask(
    path: string,
    body?: string,
    type = "application/json",
  ): Promise<{ readonly status: number; readonly text: string }> {
    const asking = request(this.address + path, {
      agent: this.#agent,
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "content-type": type },
      timeout: 60_000,
    });
    asking.on("timeout", () => asking.destroy(new Error("timeout")));
    asking.end(body);
    const [response] = (await once(asking, "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of response.setEncoding("utf8") as AsyncIterable<string>) text += chunk;
    return { status: response.statusCode ?? 0, text };
  }
}

function sessionOf(number: number): string {
  return `soak-session-${Math.floor(number / SESSION_ENTRIES)}`;
}
