// An export for people: entries in order as Markdown, recorded text in fences, where it is text and nothing else.
import type { Entry } from "../model/entry.js";
import { readRole } from "../model/roles.js";
import type { Head } from "../ports/entry-log.js";
import type { ExportQuery } from "./export-query.js";
import { type ExportParts, readable, selectEntries } from "./selection.js";

export async function* exportMarkdown(
  parts: ExportParts,
  { query, head }: { readonly query: ExportQuery; readonly head: Head },
): AsyncGenerator<string> {
  let session: string | undefined;
  for await (const stored of selectEntries(parts, { filter: query.filter, head })) {
    const entry = readable(stored);
    if (entry === undefined) continue;
    if (entry.session_id !== session) {
      session = entry.session_id;
      yield `# ${session === "" ? "Without a session" : inline(session)}\n\n`;
    }
    yield entryText(parts.mask.entry(entry));
  }
}

function entryText(entry: Entry): string {
  const time = entry.created_at.slice(0, 19).replace("T", " ");
  const blocks = partsOf(entry).filter(([, value]) => !isEmpty(value));
  const text = blocks.map(([label, value]) => `${label === "" ? "" : `${label}:\n\n`}${fenced(value)}\n`).join("\n");
  return `## #${entry.position} ${inline(titleOf(entry))} · ${time} UTC\n\n${text}${text === "" ? "" : "\n"}`;
}

function titleOf(entry: Entry): string {
  switch (entry.kind) {
    case "message":
      return entry.name === "" ? readRole(entry.role) : `${readRole(entry.role)} (${entry.name})`;
    case "tool_call":
      return `tool ${entry.tool}${entry.is_error === true ? " failed" : ""}`;
    case "consolidation":
      return `consolidated through #${entry.through}`;
    case "session_info":
      return entry.title === "" ? "about the session" : `about the session: ${entry.title}`;
    default:
      return entry.kind;
  }
}

type Part = readonly [label: string, value: unknown];

function partsOf(entry: Entry): readonly Part[] {
  switch (entry.kind) {
    case "interaction":
      return [
        ["Prompt", entry.prompt],
        ["Response", entry.response],
      ];
    case "response":
      return [["Response", entry.response]];
    case "message":
      return [
        ["", contentText(entry.content)],
        ["Calls", entry.tool_calls],
      ];
    case "tool_call":
      return [
        ["Arguments", entry.args],
        ["Result", entry.result],
      ];
    case "error":
      return [
        ["", entry.error],
        ["Context", entry.context],
      ];
    case "decision":
      return [
        ["", entry.decision],
        ["Rationale", entry.rationale],
      ];
    case "consolidation":
      return [["Summary", entry.summary]];
    case "session_info":
      return [["Metadata", entry.metadata]];
    case "raw":
      return [[entry.source, entry.record]];
    case "clear":
      return [];
    default:
      // Kinds that the log writes itself have no text of their own yet.
      return [];
  }
}

function contentText(content: string | readonly unknown[]): unknown {
  if (typeof content === "string") return content;
  const texts = content.map((part) => (typeof part === "string" ? part : (part as { readonly text?: unknown }).text));
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : content;
}

function isEmpty(value: unknown): boolean {
  return value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

/** The fence is longer than any run of backticks inside, so that recorded text cannot end it. */
function fenced(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${typeof value === "string" ? "" : "json"}\n${text.toWellFormed()}\n${fence}`;
}

/** Names on a heading are text too: what Markdown and HTML would read is escaped. */
function inline(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/[\\`*_{}[\]()#+!<>&|~]/g, (char) => `\\${char}`)
    .toWellFormed();
}
