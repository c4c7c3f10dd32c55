// A loop that sends its whole history with every turn, as entries of a log.
import { hash } from "node:crypto";
import type { LogEntry, StoredEntry } from "../../src/log/port.js";
import { newEntry } from "../conformance/suites/log-entries.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";

interface Message {
  readonly role: string;
  readonly content: string;
}

const random = seededRandom(20);

/** Words that are said once. */
export function words(count: number): string {
  return Array.from({ length: count }, () => Math.floor(random() * 2 ** 40).toString(36)).join(" ");
}

export function turn(
  id: string,
  { messages, response = "" }: { messages: readonly Message[]; response?: string },
): LogEntry {
  const prompt = messages.at(-1)?.content ?? "";
  const fields = { id, session_id: "loop", prompt, response, context_pack: { messages }, usage: { input_tokens: 7 } };
  return newEntry(id, { kind: "interaction", body: Buffer.from(JSON.stringify(fields)) });
}

/** A loop that sends its whole history with every turn. */
export function loop(turns: number): { readonly entries: readonly LogEntry[]; readonly texts: readonly string[] } {
  const messages: Message[] = [{ role: "system", content: words(900) }];
  const entries = Array.from({ length: turns }, (_, at) => {
    messages.push({ role: "user", content: words(120 + (at % 40)) });
    const response = words(100 + (at % 30));
    const entry = turn(`turn-${at}`, { messages, response });
    messages.push({ role: "assistant", content: response });
    return entry;
  });
  return { entries, texts: messages.map(({ content }) => content) };
}

export function redaction(id: string, positions: readonly number[]): LogEntry {
  return newEntry(id, {
    kind: "redaction",
    body: Buffer.from(JSON.stringify({ id, positions, reason: "", scope: "entry" })),
  });
}

export function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/** Entries by the digests of their bytes: comparing these byte by byte would take longer than all else. */
export function digested(stored: readonly (StoredEntry | undefined)[]): readonly unknown[] {
  return stored.map((entry) => entry && { ...entry, hash: digest(entry.hash), body: entry.body && digest(entry.body) });
}

export function digest(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}
