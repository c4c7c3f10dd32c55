// What Codex puts before its model: rules, the environment, skills, and the output of commands that the user ran.
import type { JsonObject } from "../../model/json.js";
import type { Injection } from "../../model/roles.js";
import { hashedId } from "../identity.js";
import { blockTexts, objectAt } from "../transcript/fields.js";

/** The beginnings of what Codex puts before the model, by what they are. */
const injectionsByOpening = [
  ["file", /^(?:# AGENTS\.md|<user_instructions)/],
  ["environment", /^<environment_context\b/],
  ["output", /^<user_shell_command\b/],
  ["reminder", /^<(?:user_action|turn_aborted|subagent_notification)\b/],
  ["other", /^<(?:skill|permissions|collaboration_mode|apps_instructions|skills_instructions|plugins_instructions)\b/],
] as const;

export const USER_COMMAND = /^\s*<user_shell_command>\s*<command>([\s\S]*?)<\/command>\s*<result>([\s\S]*?)<\/result>/;

export function injectionOf(text: string): Injection {
  const words = text.trimStart();
  return injectionsByOpening.find(([, opening]) => opening.test(words))?.[0] ?? "other";
}

/** Newer versions label each part; parts of older ones are recognised by their beginning. */
export function isInjected(item: JsonObject, text: string): boolean {
  if (item.role === "developer") return true;
  const { content_item_kinds: kinds } = objectAt(item, "internal_chat_message_metadata_passthrough");
  const named = Array.isArray(kinds) ? kinds.filter((kind) => typeof kind === "string" && kind.includes(".")) : [];
  if (named.length > 0) return !named.some((kind) => String(kind).startsWith("user."));
  const words = text.trimStart();
  return injectionsByOpening.some(([, opening]) => opening.test(words));
}

export function givenKey({ role, content }: JsonObject): string {
  return partId([role === "developer" ? "developer" : "user", blockTexts(content)]);
}

export function isSummaryItem(item: JsonObject, summary: string): boolean {
  return summary !== "" && blockTexts(item.content).trim() === summary.trim();
}

/** An id for a text or a value. */
export function partId(parts: readonly unknown[]): string {
  return hashedId("", parts).slice(1, 17);
}
