// The labels of everything that is captured while a function runs; across its awaits where the runtime supports that.

import type { CompletionInput, EntryEnvelope, InteractionInput } from "./entries.js";
import { node } from "./node.js";
import { snapshot } from "./snapshot.js";

/** Session, labels and what the model was given; an entry's own values come before these. */
export interface CaptureLabels {
  readonly session_id?: string | undefined;
  readonly project?: string | undefined;
  readonly client?: string | undefined;
  readonly user_id?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** The entry that all of it is made for. */
  readonly parent_id?: string | undefined;
  readonly memories_used?: readonly (string | number | boolean)[] | undefined;
  readonly chunks_used?: readonly (string | number | boolean)[] | undefined;
}

export interface Context {
  current(): CaptureLabels;
  run<T>(labels: CaptureLabels, work: () => T): T;
}

export function createContext(): Context {
  if (node === undefined) return synchronousContext();
  const storage = new node.async_hooks.AsyncLocalStorage<CaptureLabels>();
  return {
    current: () => storage.getStore() ?? NOTHING,
    run: (labels, work) => storage.run(merged(storage.getStore(), labels), work),
  };
}

/** Without asynchronous storage it holds until the function returns for the first time. */
function synchronousContext(): Context {
  let present = NOTHING;
  return {
    current: () => present,
    run(labels, work) {
      const before = present;
      present = merged(before, labels);
      try {
        return work();
      } finally {
        present = before;
      }
    },
  };
}

const NOTHING: CaptureLabels = {};

function merged(before: CaptureLabels | undefined, labels: CaptureLabels): CaptureLabels {
  return { ...before, ...(snapshot(labels) as CaptureLabels) };
}

/** A tool that was run, as adapters see it. */
interface ToolEntry extends EntryEnvelope {
  readonly kind: "tool_call";
  readonly tool: string;
  readonly args: object;
  /** Text or JSON. */
  readonly result: string;
  readonly is_error: boolean;
  readonly duration_ms: number;
  readonly tool_call_id?: string | undefined;
}

export interface RawEntry extends EntryEnvelope {
  readonly kind: "raw";
  readonly source: string;
  readonly record: object;
}

/** Whatever records interactions: a connected recorder, or one of the library. */
export interface InteractionRecorder {
  recordInteraction(input: InteractionInput): Promise<unknown>;
  /** Without it, a call is recorded only when it has ended. */
  completeInteraction?(interaction_id: string, completion: CompletionInput): Promise<unknown>;
  /** Without it, tools and calls for embeddings are not recorded. */
  append?(entry: ToolEntry | RawEntry): Promise<unknown>;
  /** The labels in effect where the call is made. */
  readonly currentLabels?: CaptureLabels;
}
