// One model call, from its start to its end. It is created where the call is made, and takes its labels from there.
import type { CaptureLabels, InteractionRecorder } from "./default-labels.js";
import type { InteractionInput } from "./entries.js";
import { fitted } from "./fitted-call.js";
import { reasonOf } from "./server-errors.js";

/** Hears why a call is not recorded. */
export type OnLost = (reason: string) => void;

function warn(reason: string): void {
  console.warn(`hansard: a model call was not recorded: ${reason}`);
}

type Interaction = Omit<InteractionInput, "latency_ms">;

export class CallWatch {
  readonly #recorder: InteractionRecorder;
  readonly #onLost: OnLost;
  readonly #startMs = performance.now();
  readonly #created_at = new Date().toISOString();
  // The callback at the end runs outside of that context.
  readonly #labels: CaptureLabels;
  /** Resolves once it was recorded, or cannot be. */
  readonly recorded: Promise<void>;
  #settle: () => void = () => undefined;
  #isEnded = false;

  constructor(recorder: InteractionRecorder, onLost: OnLost = warn) {
    this.#recorder = recorder;
    this.#onLost = onLost;
    this.#labels = { ...recorder.currentLabels };
    this.recorded = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** The first word counts. What became of the call is asked for once; undefined where it was none. */
  end(seen: () => Interaction | undefined | Promise<Interaction | undefined>): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const latency_ms = Math.round(performance.now() - this.#startMs);
    // A failure to record must not reach the caller, and must not go unnoticed.
    this.#record(seen, latency_ms)
      .catch((error: unknown) => this.#onLost(reasonOf(error)))
      .then(this.#settle, this.#settle);
  }

  async #record(seen: Parameters<CallWatch["end"]>[0], latency_ms: number): Promise<void> {
    const interaction = await seen();
    if (interaction === undefined) return;
    const happened = { created_at: this.#created_at, latency_ms };
    await this.#recorder.recordInteraction(fitted({ ...this.#labels, ...interaction, ...happened }));
  }
}
