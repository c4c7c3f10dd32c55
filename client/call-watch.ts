// One model call, from its start to its end. It is created where the call is made, and takes its labels from there.
import type { CaptureLabels, InteractionRecorder } from "./default-labels.js";
import type { InteractionInput } from "./entries.js";

type Interaction = Omit<InteractionInput, "latency_ms">;

export class CallWatch {
  readonly #recorder: InteractionRecorder;
  readonly #startMs = performance.now();
  readonly #created_at = new Date().toISOString();
  // The callback at the end runs outside of that context.
  readonly #labels: CaptureLabels;
  /** Resolves once it was recorded, or cannot be. */
  readonly recorded: Promise<void>;
  #settle: () => void = () => undefined;
  #isEnded = false;

  constructor(recorder: InteractionRecorder) {
    this.#recorder = recorder;
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
    // A failure to record must not reach the caller.
    this.#record(seen, latency_ms).then(this.#settle, this.#settle);
  }

  async #record(seen: Parameters<CallWatch["end"]>[0], latency_ms: number): Promise<void> {
    const interaction = await seen();
    if (interaction === undefined) return;
    const happened = { created_at: this.#created_at, latency_ms };
    await this.#recorder.recordInteraction({ ...this.#labels, ...interaction, ...happened });
  }
}
