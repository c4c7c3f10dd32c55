// What adapters share: a model call that was seen from outside of its request, as one interaction.
import type { InteractionInput } from "../entries.js";
import { toPrompt } from "../model-call.js";
import type { Json } from "../providers/provider.js";
import { snapshot } from "../snapshot.js";

export interface SeenCall {
  readonly messages: readonly unknown[];
  readonly system?: unknown;
  readonly tools?: unknown;
  readonly response?: string | undefined;
  readonly model?: string | undefined;
  readonly usage?: Json | undefined;
  readonly error?: string | undefined;
  readonly extra?: Json | undefined;
}

/** A recorder of the library takes nothing but JSON, and messages may hold bytes and other things. */
export function seenInteraction(call: SeenCall): InteractionInput {
  const { messages, system, tools, response = "", extra = {}, ...known } = call;
  const context_pack = { messages, system, tools };
  return snapshot({ prompt: toPrompt(messages), response, context_pack, extra, ...known }) as InteractionInput;
}
