// What an entry says to reflection: what was answered, and what failed.
import { contentTexts, valueText } from "../model/content.js";
import type { Entry } from "../model/entry.js";

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
