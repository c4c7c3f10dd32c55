// What calls are recorded with.
import type { Surroundings } from "./context.js";
import type { InteractionInput } from "./entries.js";

/** Whatever records interactions: a connected recorder, or one of the library. */
export interface InteractionRecorder {
  recordInteraction(input: InteractionInput): Promise<unknown>;
  /** What holds where the call is made. */
  readonly surroundings?: Surroundings;
}
