// The recorder of an agent: captures, and hands on what it captured to whatever delivers it. It never throws.
import { createContext, type Surroundings } from "./context.js";
import { type Counters, Delivery, type DeliveryOptions, watchEnd } from "./delivery.js";
import type {
  CompletionInput,
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
import { entryText, type Fields } from "./entry-text.js";
import { newId } from "./ids.js";

/** That an entry was captured; it arrives at the server by itself. */
export interface Captured {
  readonly id: string;
  readonly status: "queued" | "dropped";
}

export interface ClientRecorderOptions extends DeliveryOptions {
  readonly client_run: string;
  readonly labels: Pick<Surroundings, "project" | "client">;
  /** How long a natural end of the process waits for the server. */
  readonly end_ms_max: number;
}

const FLUSH_MS = 5_000;
const FLUSH_RETRY_MS = 100;

export class ClientRecorder {
  /** The name of this run, which every entry carries beside its number. */
  readonly client_run: string;
  readonly #labels: ClientRecorderOptions["labels"];
  readonly #delivery: Delivery;
  readonly #context = createContext();
  readonly #stopWatching: () => void;
  #seq = 0;
  #closing: Promise<Counters> | undefined;

  constructor({ client_run, labels, end_ms_max, ...delivery }: ClientRecorderOptions) {
    this.client_run = client_run;
    this.#labels = labels;
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
    const inputs = Array.isArray(input) ? input : [input];
    return Promise.all(inputs.map((one) => this.#capture(one)));
  }

  /** Captures one round-trip with a model. */
  recordInteraction(input: InteractionInput): Promise<Captured> {
    return this.#capture({ ...input, kind: "interaction" });
  }

  /** Adds the response to an interaction that was captured before it was there. */
  completeInteraction(interaction_id: string, completion: CompletionInput): Promise<Captured> {
    return this.#capture({ ...completion, kind: "response", interaction_id });
  }

  feedback(input: FeedbackInput): Promise<Captured> {
    return this.#capture({ ...input, kind: "feedback" });
  }

  /** One session; labels are those of everything that is captured through it. */
  session(id: string, labels: ClientRecorderOptions["labels"] = {}): ClientSession {
    return new ClientSession((entry) => this.#capture(entry), { ...labels, session_id: id });
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
      while (performance.now() < end) {
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
    this.#closing ??= this.flush(options).then((counters) => {
      this.#stopWatching();
      this.#delivery.close();
      return counters;
    });
    return this.#closing;
  }

  #capture(input: Fields): Promise<Captured> {
    const now = Date.now();
    const id = typeof input?.id === "string" ? input.id : newId(now);
    if (typeof input !== "object" || input === null) {
      this.#delivery.drop({ code: "field_invalid", message: "an entry must be an object", dropped: 1 });
      return Promise.resolve({ id, status: "dropped" });
    }
    const entry = this.#entryOf(input, id, now);
    // What is text alone cannot change any more, and is written as JSON when the agent has done its turn.
    const isText = Object.values(entry).every((value) => typeof value !== "object" || value === null);
    return this.#delivery.take(isText ? entry : entryText(entry)).then(() => ({ id, status: "queued" }));
  }

  #entryOf(input: Fields, id: string, now: number): Fields {
    this.#seq += 1;
    const { client_run } = this;
    const entry: { [name: string]: unknown } = {
      ...{ client_run, client_seq: this.#seq, created_at: new Date(now).toISOString() },
    };
    const { kind } = input;
    // A response and feedback inherit their labels from what they are about.
    if (kind !== "response" && kind !== "feedback") {
      put(entry, this.#labels);
      put(entry, this.#context.current());
    }
    // What the model was given is an interaction's.
    if (kind !== "interaction") {
      delete entry.memories_used;
      delete entry.chunks_used;
    }
    put(entry, input);
    entry.id = id;
    return entry;
  }
}

/** One session of an agent. */
export class ClientSession {
  readonly #capture: (entry: Fields) => Promise<Captured>;
  readonly #labels: Surroundings & { readonly session_id: string };

  constructor(capture: (entry: Fields) => Promise<Captured>, labels: Surroundings & { readonly session_id: string }) {
    this.#capture = capture;
    this.#labels = labels;
  }

  get id(): string {
    return this.#labels.session_id;
  }

  message(message: MessageInput): Promise<Captured> {
    return this.#in("message", message);
  }

  /** A tool that was run, with its whole result. */
  toolCall(call: ToolCallInput): Promise<Captured> {
    return this.#in("tool_call", call);
  }

  error(error: ErrorInput): Promise<Captured> {
    return this.#in("error", error);
  }

  decision(decision: DecisionInput): Promise<Captured> {
    return this.#in("decision", decision);
  }

  /** One round-trip with a model in this session. */
  interaction(interaction: InteractionInput): Promise<Captured> {
    return this.#in("interaction", interaction);
  }

  /** What is known about the session as a whole. */
  info(info: SessionInfoInput): Promise<Captured> {
    return this.#in("session_info", info);
  }

  /** Starts history anew; everything before stays in the log. */
  clear(envelope: EntryEnvelope = {}): Promise<Captured> {
    return this.#in("clear", envelope);
  }

  /** Takes a message back, by its position. */
  withdraw(position: number, envelope: EntryEnvelope = {}): Promise<Captured> {
    return this.#in("withdrawal", { ...envelope, withdraws: position });
  }

  #in(kind: string, entry: object): Promise<Captured> {
    const labelled: { [name: string]: unknown } = {};
    put(labelled, this.#labels);
    put(labelled, entry);
    return this.#capture({ ...labelled, kind, session_id: this.id });
  }
}

/** What is undefined was not given, and does not hide what holds by default. */
function put(entry: { [name: string]: unknown }, fields: object): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    // A key called __proto__ is a key like any other.
    if (name !== "__proto__") entry[name] = value;
    else Object.defineProperty(entry, name, { value, enumerable: true, writable: true, configurable: true });
  }
}
