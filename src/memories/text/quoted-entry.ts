// Who said what in an entry, and what its context pack gave to the session.
import { contentTexts } from "../../model/content.js";
import type { Entry } from "../../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.js";
import { isInjected, readRole } from "../../model/roles.js";
import type { EntryReader } from "../../search/lists/entry-reader.js";

/** An entry as it can be quoted; undefined where it says nothing that anybody could have learned from. */
export function quotedEntry(entry: Entry): QuotedEntry | undefined {
  const said = spokenIn(entry).filter(({ text }) => text !== "");
  if (said.length === 0) return undefined;
  return { entry_id: entry.id, session_id: entry.session_id, project: entry.project, said };
}

/** The texts of an entry with their speakers. A summary has none. */
export function spokenIn(entry: Entry): readonly Spoken[] {
  switch (entry.kind) {
    case "interaction":
      return [...by("user", entry.prompt), ...answers(entry)];
    case "response":
      return answers(entry);
    case "message":
      // Nobody in the conversation said what was injected.
      return isInjected(entry) ? [] : by(readRole(entry.role), ...contentTexts(entry.content));
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
 * The texts that a context pack gave to a session. Its `messages` of users, assistants and tools are the conversation itself,
 * which was said and not given.
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

/** Every text and number of a value; capture bounds the nesting. */
function leavesOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  return isJsonObject(value) ? Object.values(value).flatMap(leavesOf) : [];
}

/** Who said a text; `system` for what no speaker of the conversation said. */
export type Speaker = "user" | "tool" | "assistant" | "system";

export interface Spoken {
  readonly by: Speaker;
  readonly text: string;
}

/** What can be quoted from an entry. */
export interface QuotedEntry {
  readonly entry_id: string;
  readonly session_id: string;
  readonly project: string;
  readonly said: readonly Spoken[];
}

/** The position of an entry's last words: that of the response that completed an interaction. What was given up to there counts. */
export async function saidThrough(entry: Entry, entries: Pick<EntryReader, "getById">): Promise<number> {
  const { response_id } = entry as { readonly response_id?: string };
  const response = response_id === undefined ? undefined : await entries.getById(response_id);
  return response?.position ?? entry.position;
}
