// The labels of everything that is captured while a function runs; across its awaits where the runtime supports that.

import type { InteractionInput } from "./entries.js";
import { node } from "./node.js";
import { snapshot } from "./snapshot.js";

/** Session, labels and what the model was given; an entry's own values come before these. */
export interface Surroundings {
  readonly session_id?: string | undefined;
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  readonly memories_used?: readonly (string | number | boolean)[] | undefined;
  readonly chunks_used?: readonly (string | number | boolean)[] | undefined;
}

export interface Context {
  current(): Surroundings;
  run<T>(surroundings: Surroundings, work: () => T): T;
}

export function createContext(): Context {
  if (node === undefined) return synchronousContext();
  const storage = new node.async_hooks.AsyncLocalStorage<Surroundings>();
  return {
    current: () => storage.getStore() ?? NOTHING,
    run: (surroundings, work) => storage.run(merged(storage.getStore(), surroundings), work),
  };
}

/** Without asynchronous storage it holds until the function returns for the first time. */
function synchronousContext(): Context {
  let present = NOTHING;
  return {
    current: () => present,
    run(surroundings, work) {
      const before = present;
      present = merged(before, surroundings);
      try {
        return work();
      } finally {
        present = before;
      }
    },
  };
}

const NOTHING: Surroundings = {};

function merged(before: Surroundings | undefined, surroundings: Surroundings): Surroundings {
  return { ...before, ...(snapshot(surroundings) as Surroundings) };
}

/** Whatever records interactions: a connected recorder, or one of the library. */
export interface InteractionRecorder {
  recordInteraction(input: InteractionInput): Promise<unknown>;
  /** What holds where the call is made. */
  readonly surroundings?: Surroundings;
}
