// From a message that was given to the entry that says it: the session before the answer is looked through, as far as a few
// megabytes reach, and of several that say the same the first is meant.

import { bodyToEntry, parseBodyText } from "../model/body.js";
import { contentTexts, valueText } from "../model/content.js";
import type { GivenMessage } from "../model/context.js";
import type { Entry } from "../model/entry.js";
import { readRole } from "../model/roles.js";
import type { ReadingParts } from "../read/reader.js";
import type { Answer } from "./answers.js";

const ENTRIES_MAX = 500;
const BYTES_MAX = 4 * 1024 * 1024;

/** The messages, with the entry that says it for each that has none yet and is found. */
export async function linkMessages(
  parts: Pick<ReadingParts, "index" | "log">,
  answer: Answer,
  messages: readonly GivenMessage[],
): Promise<readonly GivenMessage[]> {
  if (answer.session_id === "" || messages.every(({ entry_id }) => entry_id !== undefined)) return messages;
  const idByName = new Map<string, string>();
  for (const entry of await entriesBefore(parts, answer)) {
    for (const name of namesOf(entry)) if (name !== undefined) idByName.set(name, entry.id);
  }
  return messages.map((message) => {
    const entry_id = message.entry_id ?? idByName.get(nameOf(message) ?? "");
    return entry_id === undefined ? message : { ...message, entry_id };
  });
}

/** The newest first, the answer itself included: its prompt may be recorded nowhere else. */
async function entriesBefore(
  { index, log }: Pick<ReadingParts, "index" | "log">,
  { session_id, position }: Answer,
): Promise<readonly Entry[]> {
  const kinds = ["message", "tool_call", "interaction"];
  const range = { session_id, order: "desc", after: position + 1, limit: ENTRIES_MAX, kinds } as const;
  const bodies = await log.getBodies(await index.sessionPositions(range), BYTES_MAX);
  return bodies.flatMap((stored) => {
    if (stored?.body === undefined || stored.flaw !== undefined) return [];
    return [bodyToEntry(stored, parseBodyText(stored.position, stored.body))];
  });
}

function namesOf(entry: Entry): readonly (string | undefined)[] {
  if (entry.kind === "message") return [nameOf({ ...entry })];
  if (entry.kind === "tool_call") return [`tool\n${valueText(entry.result)}`];
  if (entry.kind !== "interaction") return [];
  return [`user\n${entry.prompt}`, ...(entry.response === "" ? [] : [`assistant\n${entry.response}`])];
}

/** Who says it, and what: how a provider shapes it does not matter. Undefined where nothing is said. */
function nameOf({ role, content }: { readonly role: string; readonly content?: unknown }): string | undefined {
  const said = contentTexts(content).join("\n");
  return said.trim() === "" ? undefined : `${readRole(role)}\n${said}`;
}
