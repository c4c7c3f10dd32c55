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

/** A role as programs name it. */
export type GivenRole = Role | keyof typeof readAs;

/** Every role a message may be recorded with. */
export const roles: readonly string[] = [...readRoles, ...Object.keys(readAs)];

export function isRole(value: unknown): boolean {
  return (roles as readonly unknown[]).includes(value);
}

export function readRole(role: string): Role {
  return Object.hasOwn(readAs, role) ? readAs[role as keyof typeof readAs] : (role as Role);
}

/**
 * What programs put into a conversation, besides what was said: the expansion of a slash command, the summary of a
 * compaction, a reminder, the environment, a hook's output, a file, the output of a user's command.
 */
export const injections = ["command", "summary", "reminder", "environment", "hook", "file", "output", "other"] as const;
export type Injection = (typeof injections)[number];

/** An empty text says that nothing was injected. */
export function isInjection(value: unknown): boolean {
  return value === "" || (injections as readonly unknown[]).includes(value);
}

/** Whether a program put the message into the conversation. The model was given it, but no user said it. */
export function isInjected(entry: { readonly kind: string }): boolean {
  return entry.kind === "message" && ((entry as { readonly injected?: unknown }).injected ?? "") !== "";
}

/** Who a message is shown to be from: its role, or that nobody said it. */
export function speakerOf(message: { readonly role: string; readonly injected: string }): Role | "injected" {
  return message.injected === "" ? readRole(message.role) : "injected";
}

/** Whether it is a user's message or the prompt of an interaction, with which a conversation turn begins. */
export function isFromUser(entry: Entry): entry is EntryOf<"interaction"> | EntryOf<"message"> {
  if (entry.kind === "interaction") return true;
  if (entry.kind !== "message" || readRole(entry.role) !== "user") return false;
  return !isInjected(entry) && !holdsOnlyResults(entry.content);
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
