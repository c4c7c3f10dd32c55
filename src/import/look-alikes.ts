// Sessions of tools that no importer reads, and that resemble those of others: read as those, half of them would be lost.
import { isJsonObject } from "../model/json.js";
import type { Opening } from "./importer.js";
import { objectAt, textAt } from "./transcript/fields.js";

const tools: readonly { readonly name: string; readonly matches: (opening: Opening) => boolean }[] = [
  {
    // Copilot CLI's events, a second time and without results, of sessions that are documents in chatSessions.
    name: "VS Code Copilot Chat, in the form of a transcript; its document in the folder chatSessions is read, and this file",
    matches: ({ records }) =>
      records.some((record) => record.type === "session.start" && "vscodeVersion" in objectAt(record, "data")),
  },
  {
    // Anthropic's messages, with results of a form of their own.
    name: "Amp",
    matches: ({ document }) =>
      isJsonObject(document) &&
      Array.isArray(document.messages) &&
      textAt(document, "id")?.startsWith("T-") === true &&
      "created" in document,
  },
];

/** The tool that a source is of, where no importer reads it. */
export function lookAlikeOf(opening: Opening): string | undefined {
  return tools.find(({ matches }) => matches(opening))?.name;
}
