// Short forms for sessions whose answers are asked what they were given.
import type { EntryInput } from "../../src/index.js";
import { type MemoryRecorder, memoryRecorder } from "./memory-recorder.js";
import type { SessionEntry } from "./recorded-session.js";

/** Entries of one session, named e1, e2 and so on by their positions. */
export async function recorded(...entries: readonly SessionEntry[]): Promise<MemoryRecorder["recorder"]> {
  const { recorder } = memoryRecorder();
  // One by one: what takes a message back has to find it.
  for (const [at, entry] of entries.entries()) {
    await recorder.append({ id: `e${at + 1}`, session_id: "s", ...entry } as EntryInput);
  }
  return recorder;
}

export const asked = (prompt: string, context_pack: unknown, more: object = {}): SessionEntry => ({
  kind: "interaction",
  prompt,
  response: "ok",
  ...more,
  ...(context_pack === undefined ? {} : { context_pack }),
});
export const says = (role: string, content: unknown): object => ({ role, content });
export const toResult =
  (at: number) =>
  (name: string): object => ({ type: "tool_result", tool_use_id: `${name}${at}`, content: "seen" });
