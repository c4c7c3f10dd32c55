// Takes a request's spans or log records: each becomes a raw entry that is on disk before the request is answered.
import type { OnceInput, OnceOutcome } from "../log/capture/record-once.js";
import { Rejection } from "../model/rejection.js";
import { readJson } from "./body/json-body.js";
import { readProtobuf } from "./body/protobuf-body.js";
import { notOtlp, type OnReceived, type Received, type Signal, signalNames } from "./body/signals.js";
import { RawEntries } from "./raw-entries.js";

export interface TelemetryBody {
  readonly signal: Signal;
  readonly form: "json" | "protobuf";
  readonly bytes: Uint8Array;
}

/** How many were not kept, and why; nothing is said of those that came before. */
export interface TelemetryAnswer {
  readonly rejected: number;
  readonly reason: string;
  /** Of the others, how many are new. */
  readonly recorded: number;
}

/** Entries in one append, and appends on their way: memory stays small, and one is prepared while others are written. */
const BATCH_ENTRIES = 256;
const BATCHES_WAITING_MAX = 4;

export async function takeTelemetry(
  { signal, form, bytes }: TelemetryBody,
  record: (entries: readonly OnceInput[]) => Promise<readonly OnceOutcome[]>,
): Promise<TelemetryAnswer | Rejection> {
  const intake = new Intake(record);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const refused = await (form === "json"
    ? readJson(buffer, signal, intake.take)
    : readProtobuf(buffer, signal, intake.take));
  const answer = await intake.finish();
  if (refused !== undefined) return refused;
  // JSON names its signal. In protobuf, log records read as spans without ids, and saying "accepted" would hide the mistake.
  if (form === "protobuf" && answer.rejected > 0 && answer.rejected === intake.count && intake.isForeign) {
    return notOtlp(`none of its ${signalNames[signal].noun} has valid ids. ${answer.reason}`);
  }
  return answer;
}

class Intake {
  count = 0;
  /** Whether every item lacked its ids. */
  isForeign = true;
  readonly #record: (entries: readonly OnceInput[]) => Promise<readonly OnceOutcome[]>;
  readonly #raw = new RawEntries();
  readonly #writing = new Set<Promise<void>>();
  #batch: OnceInput[] = [];
  #rejected = 0;
  #reason = "";
  #recorded = 0;
  #fault: unknown;

  constructor(record: (entries: readonly OnceInput[]) => Promise<readonly OnceOutcome[]>) {
    this.#record = record;
  }

  readonly take: OnReceived = (received: Received) => {
    this.count += 1;
    const entry = this.#raw.toEntry(received);
    if (entry instanceof Rejection) {
      this.#reject(entry);
      return true;
    }
    this.isForeign = false;
    this.#batch.push({ input: entry });
    return this.#batch.length < BATCH_ENTRIES ? true : this.#write();
  };

  /** Waits for what is being written; throws what kept it from being written. */
  async finish(): Promise<TelemetryAnswer> {
    if (this.#batch.length > 0) await this.#write();
    await Promise.all(this.#writing);
    if (this.#fault !== undefined) throw this.#fault;
    return { rejected: this.#rejected, reason: this.#reason, recorded: this.#recorded };
  }

  async #write(): Promise<boolean> {
    const batch = this.#batch;
    this.#batch = [];
    const writing = this.#record(batch)
      .then((outcomes) => {
        for (const outcome of outcomes) {
          if (outcome instanceof Rejection) this.#reject(outcome);
          else if (outcome.is_new) this.#recorded += 1;
        }
      })
      .catch((error: unknown) => {
        this.#fault ??= error;
      })
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
    if (this.#writing.size >= BATCHES_WAITING_MAX) await Promise.race(this.#writing);
    return this.#fault === undefined;
  }

  #reject({ message }: Rejection): void {
    this.#rejected += 1;
    this.#reason ||= message;
  }
}
