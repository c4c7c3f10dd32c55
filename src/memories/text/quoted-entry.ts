// Who said what in an entry, and what a session was given beside what was said in it.
import { contentTexts } from "../../model/content.js";
import type { Entry } from "../../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { readRole } from "../../model/roles.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";

/** An entry as it can be quoted; undefined where it says nothing that anybody could have learned from. */
export function quotedEntry(entry: Entry): QuotedEntry | undefined {
  const said = spokenIn(entry).filter(({ text }) => text !== "");
  if (said.length === 0) return undefined;
  return { entry_id: entry.id, session_id: entry.session_id, project: entry.project, said };
}

/** The texts of an entry, with whose words they are. A summary of what was said before is nobody's. */
export function spokenIn(entry: Entry): readonly Spoken[] {
  switch (entry.kind) {
    case "interaction":
      return [...by("user", entry.prompt), ...answers(entry)];
    case "response":
      return answers(entry);
    case "message":
      return by(readRole(entry.role), ...contentTexts(entry.content));
    case "tool_call":
      return [...by("assistant", ...leavesOf(entry.args)), ...by("tool", ...leavesOf(entry.result))];
    case "error":
      return by("tool", entry.error, entry.context);
    case "decision":
      return by("assistant", entry.decision, entry.rationale);
    case "feedback":
      return by("user", entry.comment);
    default:
      return [];
  }
}

/**
 * The texts that a context pack gave to a session. Its `messages` of users, assistants and tools are the conversation
 * itself: a quote of it was said there, and not given.
 */
export function textsOfPack(pack: JsonObject): readonly string[] {
  const { messages, ...others } = pack;
  const told = Array.isArray(messages)
    ? messages.filter((message) => isJsonObject(message) && readRole(String(message.role)) === "system")
    : [];
  return [...leavesOf(others), ...told.flatMap((message) => contentTexts((message as JsonObject).content))];
}

function answers(entry: { readonly response: string; readonly response_summary: string; readonly error: string }) {
  return [...by("assistant", entry.response, entry.response_summary), ...by("tool", entry.error)];
}

function by(speaker: Speaker, ...texts: readonly string[]): readonly Spoken[] {
  return texts.map((text) => ({ by: speaker, text }));
}

/** Every text and number of a value; an entry's nesting is bounded at the door. */
function leavesOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  return isJsonObject(value) ? Object.values(value).flatMap(leavesOf) : [];
}

// An entry as it can be quoted, with whose words are whose.

/** Whose words a text is. What stands in a system message was said by nobody in the conversation. */
export type Speaker = "user" | "tool" | "assistant" | "system";

export interface Spoken {
  readonly by: Speaker;
  readonly text: string;
}

/** An entry as far as it can be quoted. */
export interface QuotedEntry {
  readonly entry_id: string;
  readonly session_id: string;
  readonly project: string;
  readonly said: readonly Spoken[];
}

// Until where an entry was being said: what a session was given before an answer was there, the answer may repeat.

/** The position of an entry's last words: of the response, where one completed an interaction later. */
export async function saidThrough(entry: Entry, entries: Pick<EntryReader, "getById">): Promise<number> {
  const { response_id } = entry as { readonly response_id?: string };
  const response = response_id === undefined ? undefined : await entries.getById(response_id);
  return response?.position ?? entry.position;
}
