// Roles as views read them, since providers and older programs use other names for some; and which messages are a
// user's.
import { type Content, contentTexts } from "./content.js";
import type { Entry, EntryOf } from "./entry.js";
import { isJsonObject } from "./json.js";

/** The roles that views know. */
export const readRoles = ["user", "assistant", "system", "tool"] as const;
export type Role = (typeof readRoles)[number];

/** Roles that views show under another name; the record keeps the original. */
const readAs = { developer: "system", function: "tool", model: "assistant", timmy: "assistant" } as const satisfies {
  readonly [name: string]: Role;
};

/** Every role a message may be recorded with. */
export const roles: readonly string[] = [...readRoles, ...Object.keys(readAs)];

export function isRole(value: unknown): boolean {
  return (roles as readonly unknown[]).includes(value);
}

export function readRole(role: string): Role {
  return Object.hasOwn(readAs, role) ? readAs[role as keyof typeof readAs] : (role as Role);
}

/** Whether it is a user's message or the prompt of an interaction, with which a conversation turn begins. */
export function isFromUser(entry: Entry): entry is EntryOf<"interaction"> | EntryOf<"message"> {
  if (entry.kind === "interaction") return true;
  return entry.kind === "message" && readRole(entry.role) === "user" && !holdsOnlyResults(entry.content);
}

/** Anthropic sends tool results as user messages. */
function holdsOnlyResults(content: Content): boolean {
  if (typeof content === "string" || content === null || content.length === 0) return false;
  return content.every((part) => isJsonObject(part) && part.type === "tool_result");
}

export function textsOfUser(entry: Entry): readonly string[] {
  if (!isFromUser(entry)) return [];
  return entry.kind === "interaction" ? [entry.prompt] : contentTexts(entry.content);
}
