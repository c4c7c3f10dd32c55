// From a message that was given to where it was recorded first: the entry that says it, or the answer that was given it before.
// The session before the answer is looked through, as far as a few megabytes reach.
import { roleOf } from "../index/given-texts.js";
import { bodyToEntry, parseBodyText } from "../model/body.js";
import { contentTexts, valueText } from "../model/content.js";
import type { GivenMessage } from "../model/context.js";
import type { Entry, Interaction } from "../model/entry.js";
import { isJsonObject } from "../model/json.js";
import { readRole } from "../model/roles.js";
import type { ReadingParts } from "../search/lists/reader.js";
import type { Answer } from "./answers.js";

const ENTRIES_MAX = 500;
const BYTES_MAX = 4 * 1024 * 1024;

/** The messages, with an entry for each that has none yet and is found. */
export async function linkMessages(
  parts: Pick<ReadingParts, "index" | "log">,
  answer: Answer,
  messages: readonly GivenMessage[],
): Promise<readonly GivenMessage[]> {
  if (answer.session_id === "" || messages.every(({ entry_id }) => entry_id !== undefined)) return messages;
  const idByName = new Map<string, string>();
  for (const entry of await entriesBefore(parts, answer)) {
    // What was given for the first time now was not recorded before.
    const given = entry.kind === "interaction" && entry.id !== answer.id ? namesGiven(entry) : [];
    for (const name of [...namesOf(entry), ...given]) if (name !== undefined) idByName.set(name, entry.id);
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

/** Results of tools, and what else a loop keeps to itself, are recorded with what was given and nowhere else. */
function namesGiven({ context_pack: { messages } }: Interaction): readonly (string | undefined)[] {
  if (!Array.isArray(messages)) return [];
  return messages.filter(isJsonObject).map((message) => nameOf({ ...message, role: roleOf(message) }));
}

/**
 * Who says it, and what: how a provider shapes it does not matter. Calls and results are told by their JSON. Undefined where
 * there is nothing.
 */
function nameOf(message: {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
}): string | undefined {
  const { role, content, tool_calls } = message;
  const said = contentTexts(content).join("\n");
  if (said.trim() !== "") return `${readRole(role)}\n${said}`;
  const others = [content, tool_calls].flatMap((list) => (Array.isArray(list) ? list : []));
  return others.length === 0 ? undefined : `parts of ${readRole(role)}\n${JSON.stringify(others)}`;
}
