// What recall answers with.
import type { MemoryType } from "../../model/memory.js";

export interface Recalled {
  /** To be handed on to the model, and to `recordInteraction` as it is. */
  readonly context_pack: {
    readonly budget_tokens: number;
    readonly tokens: number;
    readonly memories: readonly { readonly id: string; readonly type: MemoryType; readonly content: string }[];
    readonly text: string;
  };
  readonly memories_used: readonly string[];
}
