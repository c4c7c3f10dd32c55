// An export for people: entries in order as Markdown, recorded text in fences, where it is text and nothing else.

import type { Head } from "../log/port.js";
import { messageText } from "../model/content-parts.js";
import { applyByKind, type ByKind, type Entry } from "../model/entry.js";
import { escapeMarkdown } from "../model/markdown-text.js";
import { reinforcedWords, verdictWords } from "../model/memory.js";
import { readRole } from "../model/roles.js";
import type { ExportQuery } from "./exports.js";
import { type ExportParts, readable, selectEntries } from "./selection.js";

export async function* exportMarkdown(
  parts: ExportParts,
  { query, head }: { readonly query: ExportQuery; readonly head: Head },
): AsyncGenerator<string> {
  let session: string | undefined;
  const title = await titleOf(parts, query.filter.session_id ?? "");
  for await (const stored of selectEntries(parts, { filter: query.filter, head })) {
    const entry = readable(stored);
    if (entry === undefined) continue;
    if (entry.session_id !== session) {
      session = entry.session_id;
      yield `# ${session === "" ? "Without a session" : escapeMarkdown(title || session)}\n\n`;
      if (title !== "") yield `Session ${escapeMarkdown(session)}\n\n`;
    }
    yield entryText(parts.mask.entry(entry));
  }
}

/** Of one session; in the export of many they may take turns with every entry, and stand there by their ids. */
async function titleOf(parts: ExportParts, session_id: string): Promise<string> {
  const summary = session_id === "" ? undefined : await parts.sessionSummary(session_id);
  return parts.mask.text(summary?.title ?? "");
}

function entryText(entry: Entry): string {
  const time = entry.created_at.slice(0, 19).replace("T", " ");
  const { title = entry.kind, parts } = applyByKind(textsByKind, entry) ?? { parts: [] };
  const blocks = parts.filter(([, value]) => !isEmpty(value));
  const text = blocks
    .map(([label, value]) => `${label === "" ? "" : `${escapeMarkdown(label)}:\n\n`}${fenced(value)}\n`)
    .join("\n");
  return `## #${entry.position} ${escapeMarkdown(title)} · ${time} UTC\n\n${text}${text === "" ? "" : "\n"}`;
}

type Part = readonly [label: string, value: unknown];

/** The heading of an entry, and the text below it. */
const textsByKind: ByKind<Entry, { readonly title?: string; readonly parts: readonly Part[] }> = {
  interaction: ({ prompt, response, error }) => ({
    parts: [
      ["Prompt", prompt],
      ["Response", response],
      ["Failed", error],
    ],
  }),
  response: ({ response, error }) => ({
    parts: [
      ["Response", response],
      ["Failed", error],
    ],
  }),
  // Arguments follow the call's name on one line; the tool call's own entry has them in full.
  message: ({ role, name, injected, ...message }) => ({
    title: [readRole(role), name && `(${name})`, injected && `(injected ${injected})`].filter(Boolean).join(" "),
    parts: [["", messageText(message)]],
  }),
  tool_call: ({ tool, is_error, args, result }) => ({
    title: `tool ${tool}${is_error === true ? " failed" : ""}`,
    parts: [
      ["Arguments", args],
      ["Result", result],
    ],
  }),
  error: ({ error, context }) => ({
    parts: [
      ["", error],
      ["Context", context],
    ],
  }),
  decision: ({ decision, rationale }) => ({
    parts: [
      ["", decision],
      ["Rationale", rationale],
    ],
  }),
  consolidation: ({ through, summary }) => ({
    title: `consolidated through #${through}`,
    parts: [["Summary", summary]],
  }),
  clear: () => ({ parts: [] }),
  withdrawal: ({ withdraws }) => ({ title: `withdrawn: #${withdraws}`, parts: [] }),
  feedback: ({ entry_id, score, label, comment }) => ({
    title: `feedback on ${entry_id}${score === undefined ? "" : `: ${score}`}`,
    parts: [
      ["Label", label],
      ["Comment", comment],
    ],
  }),
  // Entries outside the conversation take one line, which readers can skip.
  session_info: ({ title, metadata }) => ({
    title: title === "" ? "about the session" : `about the session: ${title}`,
    parts: [["", isEmpty(metadata) ? "" : JSON.stringify(metadata)]],
  }),
  raw: ({ source, record }) => ({ title: `raw, ${source}`, parts: [["", JSON.stringify(record)]] }),
  audit: () => ({ parts: [] }),
  redaction: () => ({ parts: [] }),
  memory_proposed: ({ type, source, content }) => ({
    title: `memory proposed: ${type}, by ${source}`,
    parts: [["", content]],
  }),
  memory_edited: ({ memory_id, content, evidence }) => ({
    title: `memory ${memory_id}: ${content === "" ? "evidence" : "another wording"}`,
    parts: [
      ["", content],
      ["Evidence", evidence],
    ],
  }),
  memory_promoted: (entry) => ({ title: `memory promoted: ${verdictWords(entry)}`, parts: [] }),
  memory_rejected: (entry) => ({ title: `memory rejected: ${verdictWords(entry)}`, parts: [] }),
  memory_superseded: (entry) => ({ title: `memory superseded: ${verdictWords(entry)}`, parts: [] }),
  memory_reinforced: (entry) => ({ title: `memories: ${reinforcedWords(entry)}`, parts: [] }),
};

function isEmpty(value: unknown): boolean {
  return value === "" || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

/** The fence is longer than any run of backticks inside: recorded text cannot end it. */
function fenced(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${typeof value === "string" ? "" : "json"}\n${text.toWellFormed()}\n${fence}`;
}
