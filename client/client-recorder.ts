// The recorder of an agent. What it captures is buffered, spooled to disk and delivered to a server exactly once. Nothing that is
// captured ever throws.

import { type Clock, systemClock } from "./clock.js";
import { Connection } from "./connection.js";
import { type CaptureLabels, createContext } from "./default-labels.js";
import { Delivery, type DeliveryOptions } from "./delivery.js";
import type {
  CompletionInput,
  ConsolidationInput,
  DecisionInput,
  EntryEnvelope,
  EntryInput,
  ErrorInput,
  FeedbackInput,
  InteractionInput,
  MessageInput,
  SessionInfoInput,
  ToolCallInput,
} from "./entries.js";
import { newId } from "./ids.js";
import { assertKnown } from "./known-options.js";
import { type NodeModules, node } from "./node.js";
import type { Captured, Counters, Problem } from "./outcomes.js";
import { defaultRetry } from "./retry.js";
import { type Fields, snapshot } from "./snapshot.js";
import { defaultSpoolFolder, Spool } from "./spool.js";

export interface ConnectOptions {
  /** The server's address; `HANSARD_URL`, or `http://127.0.0.1:4747`. */
  readonly url?: string | undefined;
  /** A key of scope capture; `HANSARD_KEY`, unless `HANSARD_URL` names another server. */
  readonly key?: string | undefined;
  /** Labels of everything that is captured, unless an entry brings its own. */
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  readonly user_id?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** The folder for what waits, or false for none; `hansard/spool` in the user's state folder. */
  readonly spool?: string | false | undefined;
  /** What one process spools at most: 256 MiB. Beyond it captures are dropped, and told. */
  readonly spool_bytes_max?: number | undefined;
  /** What waits in memory at most where nothing can be spooled: 16 MiB. */
  readonly memory_bytes_max?: number | undefined;
  /** How long captures are gathered before they are sent: 50 ms. */
  readonly linger_ms?: number | undefined;
  /** How long it waits before it tries again: from 250 ms to 30 s, doubling, with jitter. */
  readonly retry_ms_min?: number | undefined;
  readonly retry_ms_max?: number | undefined;
  /** How often it looks for what processes that are gone left in the spool: every minute. */
  readonly adopt_ms?: number | undefined;
  /** How long an answer may take: 30 s. */
  readonly timeout_ms?: number | undefined;
  /** How long a natural end of the process waits for the server: 1 s. */
  readonly end_ms_max?: number | undefined;
  /** Hears what went wrong, each cause once a minute, and what was lost by it; by default a line on stderr. */
  readonly onProblem?: ((problem: Problem) => void) | undefined;
  /** @internal A test's own time. */
  readonly clock?: Clock | undefined;
}

const MIB = 1024 * 1024;

const optionNames = Object.keys({
  url: 0,
  key: 0,
  project: 0,
  client: 0,
  user_id: 0,
  tags: 0,
  spool: 0,
  spool_bytes_max: 0,
  memory_bytes_max: 0,
  linger_ms: 0,
  retry_ms_min: 0,
  retry_ms_max: 0,
  adopt_ms: 0,
  timeout_ms: 0,
  end_ms_max: 0,
  onProblem: 0,
  clock: 0,
} satisfies { readonly [N in keyof Required<ConnectOptions>]: 0 });

/** Throws only where the address is none or an option is unknown; nothing that is captured ever does. */
export function connectRecorder(options: ConnectOptions | string = {}): ClientRecorder {
  const given = typeof options === "string" ? { url: options } : options;
  assertKnown("connectRecorder", given, optionNames);
  const env = node?.process.env ?? {};
  const address = given.url ?? (env.HANSARD_URL || undefined) ?? "http://127.0.0.1:4747";
  const url = entriesAddress(address);
  const clock = given.clock ?? systemClock;
  const client_run = newId(clock.nowMs());
  const onProblem = given.onProblem ?? warnOnStderr;
  const key = (given.key ?? environmentKey(env, url)) || undefined;
  const { project, client, user_id, tags } = given;
  const base = url.href.slice(0, -"/entries".length);
  const connection = new Connection({ address: base, key, keeps_process_alive: false, sockets_max: 1 });
  return new ClientRecorder({
    client_run,
    labels: snapshot({ project, client, user_id, tags }) as Labels,
    sender: { connection, timeout_ms: given.timeout_ms ?? 30_000 },
    spool: openSpool({ ...given, onProblem }, { address: url.href, client_run }),
    memory_bytes_max: given.memory_bytes_max ?? 16 * MIB,
    linger_ms: given.linger_ms ?? 50,
    retry_ms_min: given.retry_ms_min ?? defaultRetry.retry_ms_min,
    retry_ms_max: given.retry_ms_max ?? defaultRetry.retry_ms_max,
    adopt_ms: given.adopt_ms ?? 60_000,
    end_ms_max: given.end_ms_max ?? 1_000,
    clock,
    onProblem,
  });
}

/** `HANSARD_KEY` belongs to `HANSARD_URL`; where that is not set, to any address that the program gives. */
function environmentKey(env: { readonly [name: string]: string | undefined }, url: URL): string | undefined {
  const { HANSARD_KEY, HANSARD_URL = "" } = env;
  return HANSARD_URL === "" || entriesAddress(HANSARD_URL).href === url.href ? HANSARD_KEY : undefined;
}

function entriesAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`url is not the address of a server: ${address}; give for example http://127.0.0.1:4747`);
  }
  return new URL("entries", url.href.endsWith("/") ? url : `${url.href}/`);
}

/** Without a folder the entries wait in memory. */
function openSpool(
  { spool, spool_bytes_max, onProblem }: ConnectOptions & { readonly onProblem: (problem: Problem) => void },
  owner: { readonly address: string; readonly client_run: string },
): Spool | undefined {
  if (node === undefined || spool === false) return undefined;
  try {
    const folder = spool ?? defaultSpoolFolder(node);
    return new Spool(node, { ...owner, folder, bytes_max: spool_bytes_max ?? 256 * MIB });
  } catch (error) {
    const message = `the spool cannot be used: ${error instanceof Error ? error.message : error}`;
    onProblem({ code: "spool_failed", message, dropped: 0 });
    return undefined;
  }
}

function warnOnStderr({ code, message, dropped, times = 1 }: Problem): void {
  const lost = dropped === 0 ? " (nothing is lost: captured entries wait and are sent again)" : ` (${dropped} lost)`;
  const repeated = times === 1 ? "" : `, ${times} times`;
  console.warn(`hansard: ${code}: ${message}${repeated}${lost}`);
}

type Labels = Omit<CaptureLabels, "session_id" | "memories_used" | "chunks_used">;

export interface ClientRecorderOptions extends DeliveryOptions {
  readonly labels: Labels;
  /** How long a natural end of the process waits for the server. */
  readonly end_ms_max: number;
}

const FLUSH_MS = 5_000;
const FLUSH_RETRY_MS = 100;

export class ClientRecorder {
  /** The name of this run; every entry carries it, with its number. */
  readonly client_run: string;
  readonly #labels: Labels;
  readonly #delivery: Delivery;
  readonly #clock: Clock;
  readonly #context = createContext();
  readonly #stopWatching: () => void;
  #seq = 0;
  #closing: Promise<Counters> | undefined;

  /** @internal */
  constructor({ end_ms_max, ...delivery }: ClientRecorderOptions) {
    this.client_run = delivery.client_run;
    this.#labels = delivery.labels;
    this.#delivery = new Delivery(delivery);
    this.#clock = delivery.clock;
    this.#stopWatching = watchEnd(this.#delivery, { clock: delivery.clock, end_ms_max });
  }

  /** What waits, what has arrived, and what was lost. */
  get counters(): Counters {
    return this.#delivery.counters;
  }

  /** The labels in effect here: those given to `within`, on top of the recorder's own. */
  get currentLabels(): CaptureLabels {
    return { ...this.#labels, ...this.#context.current() };
  }

  /** Captures one entry or several. The promise resolves once they are in the spool. */
  append(input: EntryInput | readonly EntryInput[]): Promise<readonly Captured[]> {
    return Promise.all(listOf(input).map((one) => this.#capture(undefined, one)));
  }

  /** Captures one round-trip with a model. */
  recordInteraction(input: InteractionInput): Promise<Captured> {
    return this.#capture("interaction", input);
  }

  /** Adds the response to an interaction that was captured before it was there. */
  completeInteraction(interaction_id: string, completion: CompletionInput): Promise<Captured> {
    return this.#capture("response", completion, NOWHERE, { interaction_id });
  }

  feedback(input: FeedbackInput): Promise<Captured> {
    return this.#capture("feedback", input);
  }

  /** One session; labels are those of everything that is captured through it. */
  session(id: string, labels: Labels = {}): ClientSession {
    const known = { ...(snapshot(labels) as Labels), session_id: id };
    return new ClientSession((kind, input, own) => this.#capture(kind, input, known, own), id);
  }

  /** Runs a function whose captures, those of `recordingFetch` included, belong to this session and carry these labels. */
  within<T>(labels: CaptureLabels, work: () => T): T {
    return this.#context.run(labels, work);
  }

  /**
   * Waits until everything captured has arrived, or until `timeout_ms` have passed. Without a timeout it does not wait for a
   * server that is away: what is in the spool arrives later.
   */
  async flush(options: { readonly timeout_ms?: number } = {}): Promise<Counters> {
    const { timeout_ms = FLUSH_MS } = options;
    const hasTimeout = options.timeout_ms !== undefined;
    const end = this.#clock.elapsedMs() + timeout_ms;
    // Sending does not keep the process alive, so this timer does.
    let onTimeout = (): void => undefined;
    const isOver = new Promise<boolean>((resolve) => {
      onTimeout = () => resolve(true);
    });
    const timer = this.#clock.setTimer(onTimeout, timeout_ms);
    try {
      while (!this.#delivery.isClosed && this.#clock.elapsedMs() < end) {
        const isSent = await Promise.race([this.#delivery.send(), isOver]);
        const { queued, spooled } = this.counters;
        if ((isSent && queued + spooled === 0) || (!isSent && !hasTimeout && queued === 0)) break;
        if (!isSent) await Promise.race([this.#pause(FLUSH_RETRY_MS), isOver]);
      }
    } finally {
      timer.cancel();
    }
    return this.counters;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.setTimer(resolve, ms));
  }

  /** Flushes, and leaves what did not arrive in the spool. */
  close(options: { readonly timeout_ms?: number } = {}): Promise<Counters> {
    this.#closing ??= this.flush(options).then(() => {
      this.#stopWatching();
      this.#delivery.close();
      return this.counters;
    });
    return this.#closing;
  }

  /** An agent waits for a copy alone; the rest is done in a later turn of the event loop. */
  #capture(
    kind: string | undefined,
    input: object,
    session: CaptureLabels = NOWHERE,
    own: object = NOTHING,
  ): Promise<Captured> {
    const at_ms = this.#clock.nowMs();
    const given = snapshot(input);
    if (typeof given !== "object" || given === null) {
      this.#delivery.drop({ code: "field_invalid", message: "an entry must be an object", dropped: 1 });
      return Promise.resolve({ id: newId(at_ms), status: "dropped" });
    }
    this.#seq += 1;
    const context = this.#context.current();
    const fields = own === NOTHING ? (given as Fields) : { ...given, ...own };
    return this.#delivery.take({ seq: this.#seq, at_ms, kind, fields, session, context });
  }
}

/** A list that cannot be read counts as one input. */
function listOf<T>(input: T | readonly T[]): readonly T[] {
  try {
    return Array.isArray(input) ? [...input] : [input as T];
  } catch {
    return [input as T];
  }
}

const NOWHERE: CaptureLabels = {};
const NOTHING = {};

/** `own` has the fields that the method itself sets. */
type Capture = (kind: string, input: object, own?: object) => Promise<Captured>;

/** One session of an agent. */
export class ClientSession {
  readonly id: string;
  readonly #capture: Capture;

  /** @internal */
  constructor(capture: Capture, id: string) {
    this.id = id;
    this.#capture = capture;
  }

  message(message: MessageInput): Promise<Captured> {
    return this.#capture("message", message);
  }

  /** A tool that was run, with its whole result. */
  toolCall(call: ToolCallInput): Promise<Captured> {
    return this.#capture("tool_call", call);
  }

  error(error: ErrorInput): Promise<Captured> {
    return this.#capture("error", error);
  }

  decision(decision: DecisionInput): Promise<Captured> {
    return this.#capture("decision", decision);
  }

  /** One round-trip with a model in this session. */
  interaction(interaction: InteractionInput): Promise<Captured> {
    return this.#capture("interaction", interaction);
  }

  /** What is known about the session as a whole. */
  info(info: SessionInfoInput): Promise<Captured> {
    return this.#capture("session_info", info);
  }

  /** Starts a new history; everything before stays in the log. */
  clear(envelope: EntryEnvelope = {}): Promise<Captured> {
    return this.#capture("clear", envelope);
  }

  /** History begins after this position of the session from now on, and has the summary in place of what came before. */
  consolidate(through: number, options: ConsolidationInput = {}): Promise<Captured> {
    return this.#capture("consolidation", options, { through });
  }

  /** Takes a message back, by its position. */
  withdraw(position: number, envelope: EntryEnvelope = {}): Promise<Captured> {
    return this.#capture("withdrawal", envelope, { withdraws: position });
  }
}

/**
 * Keeps what was captured when the process ends: a natural end waits a moment for the server, every other one leaves it in
 * the spool. Answers with how to stop watching.
 */
function watchEnd(
  delivery: Delivery,
  { clock, end_ms_max }: Pick<ClientRecorderOptions, "clock" | "end_ms_max">,
): () => void {
  if (node === undefined) return () => undefined;
  const { process } = node;
  const onExit = (): void => delivery.end();
  let hasTried = false;
  const onBeforeExit = (): void => {
    const { queued, spooled } = delivery.counters;
    if (hasTried || queued + spooled === 0) return;
    hasTried = true;
    // Only this timer keeps the process from ending.
    const end = clock.setTimer(() => undefined, end_ms_max);
    void delivery.send().finally(() => end.cancel());
  };
  const stops = signals.map((signal) => onSignal(process, signal, onExit));
  process.on("exit", onExit);
  process.on("beforeExit", onBeforeExit);
  return () => {
    for (const stop of stops) stop();
    process.off("exit", onExit);
    process.off("beforeExit", onBeforeExit);
  };
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const OURS: unique symbol = Symbol.for("hansard-client");

/** A signal ends the process as it would without a recorder, unless the program itself listens for it. */
function onSignal(process: NodeModules["process"], signal: (typeof signals)[number], end: () => void): () => void {
  const listener = (): void => {
    const listeners = process.listeners(signal) as readonly Listener[];
    if (!listeners.every((one) => OURS in one)) return;
    // Other clients of this process listen too, and would run too late.
    for (const one of listeners) {
      process.off(signal, one);
      const end = one[OURS];
      // An older client in the same process has `true` here.
      if (typeof end === "function") end();
    }
    process.kill(process.pid, signal);
  };
  process.on(signal, Object.assign(listener, { [OURS]: end }));
  return () => process.off(signal, listener);
}

type Listener = NodeJS.SignalsListener & { readonly [OURS]?: (() => void) | true };
