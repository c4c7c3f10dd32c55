// What users say: the prompt of an interaction, or a message of theirs.
import { contentTexts } from "./content.js";
import type { Entry, EntryOf } from "./entry.js";
import { readRole } from "./roles.js";

/** Whether a user says it, or another program in the user's name. A turn begins with it. */
export function isFromUser(entry: Entry): entry is EntryOf<"interaction"> | EntryOf<"message"> {
  return entry.kind === "interaction" || (entry.kind === "message" && readRole(entry.role) === "user");
}

export function textsOfUser(entry: Entry): readonly string[] {
  if (!isFromUser(entry)) return [];
  return entry.kind === "interaction" ? [entry.prompt] : contentTexts(entry.content);
}
