// The texts that users said: prompts of interactions and contents of their messages.
import { contentTexts } from "../model/content.js";
import type { Entry } from "../model/entry.js";
import { readRole } from "../model/roles.js";

export function isFromUser(entry: Entry): boolean {
  return entry.kind === "interaction" || (entry.kind === "message" && readRole(entry.role) === "user");
}

export function textsOfUser(entry: Entry): readonly string[] {
  if (entry.kind === "interaction") return [entry.prompt];
  if (entry.kind !== "message" || readRole(entry.role) !== "user") return [];
  return contentTexts(entry.content);
}
