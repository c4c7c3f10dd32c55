// What holds of every imported transcript: its history is legal in both forms, and its tokens are counted once.
import { expect } from "vitest";
import type { Entry, Recorder } from "../../src/index.js";
import { anthropicFaults, openAiFaults } from "../properties/legality.js";

interface HistoryMessage {
  readonly role: string;
}

/** Looks at the whole history in both forms, and gives it in OpenAI's. */
export async function expectLegalHistory(recorder: Recorder, session_id: string): Promise<readonly HistoryMessage[]> {
  const session = recorder.session(session_id);
  const messages = await session.history({ max_messages: 1_000_000 });
  expect({ session_id, faults: openAiFaults(messages, { mayPend: false }) }).toEqual({ session_id, faults: [] });
  const anthropic = await session.history({ max_messages: 1_000_000, format: "anthropic" });
  expect({ session_id, faults: anthropicFaults(anthropic, { mayPend: false }) }).toEqual({ session_id, faults: [] });
  return messages;
}

/** The sums of all usage that messages carry. */
export function tokensOf(entries: readonly Entry[]): { readonly [name: string]: number } {
  const sums: { [name: string]: number } = {};
  for (const { extra } of entries) {
    for (const [name, count] of Object.entries((extra as { usage?: { [name: string]: number } }).usage ?? {})) {
      sums[name] = (sums[name] ?? 0) + count;
    }
  }
  return sums;
}
