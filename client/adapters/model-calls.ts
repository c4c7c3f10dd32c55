// What adapters share: a model call that was seen from outside of its request, as one interaction.
import type { Surroundings } from "../context.js";
import type { InteractionInput } from "../entries.js";
import type { InteractionRecorder } from "../interaction-recorder.js";
import { toPrompt } from "../model-call.js";
import type { Json } from "../providers/provider.js";
import { snapshot } from "../snapshot.js";

export interface SeenCall {
  readonly messages: readonly unknown[];
  readonly tools?: unknown;
  readonly response?: string | undefined;
  readonly model?: string | undefined;
  readonly usage?: Json | undefined;
  readonly error?: string | undefined;
  readonly extra?: Json | undefined;
}

/** Begun where the call is made, so that it knows where it belongs; told once how it ended. */
export class CallWatch {
  readonly #recorder: InteractionRecorder;
  readonly #surroundings: Surroundings;
  readonly #startMs = performance.now();
  readonly #created_at = new Date().toISOString();
  #isEnded = false;

  constructor(recorder: InteractionRecorder) {
    this.#recorder = recorder;
    this.#surroundings = { ...recorder.surroundings };
  }

  end(call: SeenCall): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    // Whatever fails here must not reach whoever made the call.
    this.#record(call, Math.round(performance.now() - this.#startMs)).catch(() => undefined);
  }

  async #record(call: SeenCall, latency_ms: number): Promise<void> {
    const { messages, tools, response = "", extra = {}, ...known } = call;
    const context_pack = { messages, ...(tools === undefined ? {} : { tools }) };
    const happened = { created_at: this.#created_at, latency_ms };
    const interaction = { prompt: toPrompt(messages), response, context_pack, extra, ...known, ...happened };
    // A recorder of the library takes nothing but JSON, and messages may hold bytes and other things.
    await this.#recorder.recordInteraction(snapshot({ ...this.#surroundings, ...interaction }) as InteractionInput);
  }
}
