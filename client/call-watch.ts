// One model call, from its start to its end. It is created where the call is made, and takes its labels from there.
import type { CaptureLabels, InteractionRecorder } from "./default-labels.js";
import type { InteractionInput } from "./entries.js";
import { fitted } from "./fitted-call.js";
import { newId } from "./ids.js";
import { unref } from "./node.js";
import { reasonOf } from "./server-errors.js";

/** Hears why a call is not recorded. */
export type OnLost = (reason: string) => void;

function warn(reason: string): void {
  console.warn(`hansard: a model call was not recorded: ${reason}`);
}

type Interaction = Omit<InteractionInput, "latency_ms">;
type Seen = () => Interaction | undefined | Promise<Interaction | undefined>;

/** A call that takes longer has its prompt recorded before its answer: its process may die meanwhile. */
const LONG_CALL_MS = 2_000;
/** The end of an answer waits so long for its record. */
const WAIT_MS_MAX = 250;

export class CallWatch {
  /** The id of its interaction. */
  readonly id = newId(Date.now());
  readonly #recorder: InteractionRecorder;
  readonly #onLost: OnLost;
  readonly #startMs = performance.now();
  readonly #created_at = new Date().toISOString();
  // The callback at the end runs outside of that context.
  readonly #labels: CaptureLabels;
  /** Resolves once it was recorded, or cannot be. */
  readonly recorded: Promise<void>;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #settle: () => void = () => undefined;
  #isEnded = false;
  /** Whether its prompt was recorded before its answer. */
  #begun: Promise<boolean> = Promise.resolve(false);
  #first_token_ms: number | undefined;

  /** `asked` is what is known of the call before it is answered. */
  constructor(
    recorder: InteractionRecorder,
    { asked, onLost = warn }: { asked?: Seen; onLost?: OnLost | undefined } = {},
  ) {
    this.#recorder = recorder;
    this.#onLost = onLost;
    this.#labels = { ...recorder.currentLabels };
    this.recorded = new Promise((resolve) => {
      this.#settle = resolve;
    });
    if (asked === undefined || recorder.completeInteraction === undefined) return;
    this.#timer = unref(setTimeout(() => this.#begin(asked), LONG_CALL_MS));
  }

  /** The first token of its answer is there; the first word counts. */
  answering(): void {
    this.#first_token_ms ??= this.#elapsedMs();
  }

  /**
   * The first word counts. What became of the call is asked for once; undefined where it was none. Resolves when it was recorded,
   * or after a moment.
   */
  end(seen: Seen): Promise<void> {
    if (!this.#isEnded) {
      this.#isEnded = true;
      clearTimeout(this.#timer);
      const latency_ms = this.#elapsedMs();
      // A failure to record must not reach the caller, and must not go unnoticed.
      this.#record(seen, latency_ms)
        .catch((error: unknown) => this.#onLost(reasonOf(error)))
        .then(this.#settle, this.#settle);
    }
    return atMost(this.recorded, WAIT_MS_MAX);
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startMs);
  }

  #begin(asked: Seen): void {
    const record = async (): Promise<boolean> => {
      const interaction = await asked();
      if (interaction === undefined) return false;
      await this.#recorder.recordInteraction(this.#whole(interaction, {}));
      return true;
    };
    this.#begun = record().catch(() => false);
  }

  async #record(seen: Seen, latency_ms: number): Promise<void> {
    const interaction = await seen();
    if (interaction === undefined) return;
    const first_token_ms = this.#first_token_ms;
    const whole = this.#whole(interaction, { latency_ms, ...(first_token_ms === undefined ? {} : { first_token_ms }) });
    const { id = this.id, response, model, usage, error, extra = {} } = whole;
    if (!(await this.#begun)) return void (await this.#recorder.recordInteraction(whole));
    const { request: _, ...answered } = extra as { readonly [name: string]: unknown };
    const times = { latency_ms, first_token_ms };
    await this.#recorder.completeInteraction?.(id, { response, model, usage, error, ...times, extra: answered });
  }

  #whole(interaction: Interaction, times: Pick<InteractionInput, "latency_ms" | "first_token_ms">): InteractionInput {
    return fitted({ ...this.#labels, id: this.id, ...interaction, created_at: this.#created_at, ...times });
  }
}

function atMost(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    // This timer keeps the process alive, and the work with it.
    const timer = setTimeout(resolve, ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
