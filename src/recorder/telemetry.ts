// OpenTelemetry's part of a recorder: takes spans and log records, derives what they mean, and maps them again.
import type { OnceWriter } from "../log/capture/record-once.js";
import type { NamedLease } from "../model/lease.js";
import type { Rejection } from "../model/rejection.js";
import { type TelemetryAnswer, type TelemetryBody, takeTelemetry } from "../otlp/intake.js";
import {
  type AssemblingOptions,
  type RemapOptions,
  type Remapped,
  remapTraces,
  TraceAssembler,
} from "../otlp/trace-assembler.js";
import type { TraceCalls } from "../otlp/trace-calls.js";

interface TelemetryParts {
  readonly calls: TraceCalls;
  readonly isPressed: () => boolean;
  readonly nowMs: () => number;
  readonly openLease: () => NamedLease | undefined;
  /** Writes for nobody's key: what is derived carries the keys of its spans. */
  readonly writer: OnceWriter;
}

/** Modules are loaded when they are first needed: most stores have no traces. */
export class Telemetry {
  readonly #parts: TelemetryParts;
  #assembler: TraceAssembler | undefined;
  #opening: Promise<void> | undefined;

  constructor(parts: TelemetryParts) {
    this.#parts = parts;
  }

  async take(body: TelemetryBody, writer: OnceWriter): Promise<TelemetryAnswer | Rejection> {
    const answer = await takeTelemetry(body, (entries) => writer.record(entries));
    this.#assembler?.received();
    return answer;
  }

  /** Begins to derive in the background, unless it has begun. */
  async assemble(options: AssemblingOptions): Promise<void> {
    this.#opening ??= this.#open(options);
    await this.#opening;
  }

  /** Call it when the log has grown. */
  grown(): void {
    this.#assembler?.grown();
  }

  async remap(options: RemapOptions): Promise<Remapped> {
    const { calls, writer } = this.#parts;
    return remapTraces({ calls, record: (entries) => writer.record(entries) }, options);
  }

  async close(): Promise<void> {
    await this.#opening;
    await this.#assembler?.close();
  }

  async #open(options: AssemblingOptions): Promise<void> {
    const { writer, openLease, ...parts } = this.#parts;
    const record = writer.record.bind(writer);
    this.#assembler = new TraceAssembler({ ...parts, record, lease: openLease() }, options);
    // Another process may have stopped before it had derived everything.
    this.#assembler.received();
  }
}
