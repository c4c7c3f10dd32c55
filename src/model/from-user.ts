// What users say: the prompt of an interaction, or a message of theirs.
import { type Content, contentTexts } from "./content.js";
import type { Entry, EntryOf } from "./entry.js";
import { isJsonObject } from "./json.js";
import { readRole } from "./roles.js";

/** Whether a user says it, or another program in the user's name. A turn begins with it. */
export function isFromUser(entry: Entry): entry is EntryOf<"interaction"> | EntryOf<"message"> {
  if (entry.kind === "interaction") return true;
  return entry.kind === "message" && readRole(entry.role) === "user" && !holdsOnlyResults(entry.content);
}

/** Anthropic's form carries the results of tools in the user's name. */
function holdsOnlyResults(content: Content): boolean {
  if (typeof content === "string" || content === null || content.length === 0) return false;
  return content.every((part) => isJsonObject(part) && part.type === "tool_result");
}

export function textsOfUser(entry: Entry): readonly string[] {
  if (!isFromUser(entry)) return [];
  return entry.kind === "interaction" ? [entry.prompt] : contentTexts(entry.content);
}
