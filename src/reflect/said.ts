// The texts that users said: prompts of interactions and contents of their messages.
import type { Entry } from "../model/entry.js";
import { isJsonObject } from "../model/json.js";
import { readRole } from "../model/roles.js";

export function isFromUser(entry: Entry): boolean {
  return entry.kind === "interaction" || (entry.kind === "message" && readRole(entry.role) === "user");
}

/** Of content parts their texts; what is not text says nothing here. */
export function textsOfUser(entry: Entry): readonly string[] {
  if (entry.kind === "interaction") return [entry.prompt];
  if (entry.kind !== "message" || readRole(entry.role) !== "user") return [];
  return contentTexts(entry.content);
}

export function contentTexts(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part: unknown) => {
    if (typeof part === "string") return [part];
    return isJsonObject(part) && typeof part.text === "string" ? [part.text] : [];
  });
}
