// What an entry says to reflection: the texts of users, what was answered, and what failed.
import { contentTexts, valueText } from "../model/content.js";
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

/** Why it failed, of an error or of an interaction without an answer; undefined of everything else. */
export function failureOf(entry: Entry): string | undefined {
  if (entry.kind === "error") return entry.error.trim() === "" ? entry.context : entry.error;
  return entry.kind === "interaction" && entry.error !== "" ? entry.error : undefined;
}

/** What somebody can have an opinion on: the answer where there is one. */
export function textOfAnswer(entry: Entry): string {
  switch (entry.kind) {
    case "interaction":
      return entry.response || entry.response_summary || entry.error || entry.prompt;
    case "message":
      return contentTexts(entry.content).join(" ");
    case "tool_call":
      return `${entry.tool} → ${valueText(entry.result)}`;
    case "error":
      return entry.error;
    case "decision":
      return entry.decision;
    default:
      return "";
  }
}
