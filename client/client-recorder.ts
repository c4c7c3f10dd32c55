// The recorder of an agent: captures, and hands on what it captured to whatever delivers it. It never throws.

import { watchEnd } from "./agent-end.js";
import { createContext, type Surroundings } from "./context.js";
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
import type { Captured, Counters } from "./outcomes.js";
import { type Fields, snapshot } from "./snapshot.js";

type Labels = Pick<Surroundings, "project" | "client">;

/** @internal */
export interface ClientRecorderOptions extends DeliveryOptions {
  readonly labels: Labels;
  /** How long a natural end of the process waits for the server. */
  readonly end_ms_max: number;
}

const FLUSH_MS = 5_000;
const FLUSH_RETRY_MS = 100;

export class ClientRecorder {
  /** The name of this run, which every entry carries beside its number. */
  readonly client_run: string;
  readonly #labels: Labels;
  readonly #delivery: Delivery;
  readonly #context = createContext();
  readonly #stopWatching: () => void;
  #seq = 0;
  #closing: Promise<Counters> | undefined;

  /** @internal */
  constructor({ end_ms_max, ...delivery }: ClientRecorderOptions) {
    this.client_run = delivery.client_run;
    this.#labels = delivery.labels;
    this.#delivery = new Delivery(delivery);
    this.#stopWatching = watchEnd(this.#delivery, end_ms_max);
  }

  /** What waits, what has arrived, and what was lost. */
  get counters(): Counters {
    return this.#delivery.counters;
  }

  /** What holds where this is asked: what `within` was given, on top of the recorder's own labels. */
  get surroundings(): Surroundings {
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
  within<T>(surroundings: Surroundings, work: () => T): T {
    return this.#context.run(surroundings, work);
  }

  /**
   * Waits until what was captured has arrived, or `timeout_ms` are over. Where no time is given and the server is away, it
   * does not wait for it: what is in the spool arrives later.
   */
  async flush(options: { readonly timeout_ms?: number } = {}): Promise<Counters> {
    const { timeout_ms = FLUSH_MS } = options;
    const isPatient = options.timeout_ms !== undefined;
    const end = performance.now() + timeout_ms;
    // Sending itself keeps no process alive, so that waiting for it has to.
    let tired = (): void => undefined;
    const isOver = new Promise<boolean>((resolve) => {
      tired = () => resolve(true);
    });
    const timer = setTimeout(tired, timeout_ms);
    try {
      while (!this.#delivery.isClosed && performance.now() < end) {
        const isSent = await Promise.race([this.#delivery.send(), isOver]);
        const { queued, spooled } = this.counters;
        if ((isSent && queued + spooled === 0) || (!isSent && !isPatient && queued === 0)) break;
        if (!isSent) await Promise.race([new Promise((resolve) => setTimeout(resolve, FLUSH_RETRY_MS)), isOver]);
      }
    } finally {
      clearTimeout(timer);
    }
    return this.counters;
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

  /** All that an agent waits for: a copy. What becomes of it is done when the agent has done its turn. */
  #capture(
    kind: string | undefined,
    input: object,
    session: Surroundings = NOWHERE,
    own: object = NOTHING,
  ): Promise<Captured> {
    const at_ms = Date.now();
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

/** A list that cannot be read is one thing that cannot. */
function listOf<T>(input: T | readonly T[]): readonly T[] {
  try {
    return Array.isArray(input) ? [...input] : [input as T];
  } catch {
    return [input as T];
  }
}

const NOWHERE: Surroundings = {};
const NOTHING = {};

/** `own` is what the call itself says, beside what it was given. */
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

  /** Starts history anew; everything before stays in the log. */
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
