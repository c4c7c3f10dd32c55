// The entry that every capture benchmark writes: an interaction whose JSON has about 4 KB.
import type { InteractionInput } from "../src/index.js";

const SENTENCE = "The agent asked for the weather in Lisbon, compared three sources and answered in two lines. ";

export function sampleInteraction(number: number): InteractionInput & { readonly kind: "interaction" } {
  return {
    kind: "interaction",
    prompt: `${number}: ${SENTENCE.repeat(12)}`,
    response: SENTENCE.repeat(24),
    project: "bench",
    session_id: `session-${number % 100}`,
    client: "bench",
    memories_used: ["m-1", "m-2"],
    chunks_used: ["c-1", "c-2", "c-3"],
    context_pack: { budget: 3000, parts: [SENTENCE, SENTENCE] },
    model: "example-1",
    usage: { input_tokens: 812, output_tokens: 371 },
    latency_ms: 1840,
  };
}
