// An export for people, as GitHub shows it: prompts as quotes, answers as Markdown, a call as one line with its output folded.
// Recorded text is data: HTML, images and open fences in it are text, and end with the entry that has them.

import type { Head } from "../log/port.js";
import { contentText, messageParts } from "../model/content-parts.js";
import { applyByKind, type ByKind, type Entry, type EntryOf } from "../model/entry.js";
import { firstWords } from "../model/first-words.js";
import { isJsonObject, type JsonObject } from "../model/json.js";
import { escapeMarkdown } from "../model/markdown-text.js";
import { reinforcedWords, verdictWords } from "../model/memory.js";
import { isFromUser, readRole } from "../model/roles.js";
import { shellCommand } from "../model/shell-command.js";
import { feedbackWords } from "../model/states.js";
import type { SessionSummary } from "../sessions/session-summary.js";
import type { ExportQuery } from "./exports.js";
import { type ExportParts, readable, selectEntries } from "./selection.js";

/** Titles of sessions that take turns in one export are looked up once. */
const TITLES_MAX = 1_000;

export async function* exportMarkdown(
  parts: ExportParts,
  { query, head }: { readonly query: ExportQuery; readonly head: Head },
): AsyncGenerator<string> {
  let session: string | undefined;
  let writer = new SessionWriter();
  const titles = new Map<string, string>();
  for await (const stored of selectEntries(parts, { filter: query.filter, head })) {
    const entry = readable(stored);
    if (entry === undefined) continue;
    if (entry.session_id !== session) {
      const rest = writer.end();
      if (rest !== "") yield rest;
      session = entry.session_id;
      writer = new SessionWriter();
      if (titles.size >= TITLES_MAX) titles.clear();
      let title = titles.get(session);
      if (title === undefined) {
        title = headOf(session, session === "" ? undefined : await parts.sessionSummary(session), parts);
        titles.set(session, title);
      }
      yield title;
    }
    const text = writer.text(parts.mask.entry(entry));
    if (text !== "") yield text;
  }
  const rest = writer.end();
  if (rest !== "") yield rest;
}

function headOf(session_id: string, summary: SessionSummary | undefined, { mask }: ExportParts): string {
  if (session_id === "") return "# Without a session\n\n";
  const title = mask.text(summary?.title ?? "");
  if (summary === undefined || title === "") return `# ${escapeMarkdown(session_id)}\n\n`;
  const { first_at, last_at, turns, failures, project, clients } = summary;
  const facts = [
    `Session ${escapeMarkdown(session_id)}`,
    ...[project, clients.join(", ")].map((label) => escapeMarkdown(mask.text(label))),
    `${minute(first_at)} to ${minute(last_at)} UTC`,
    turns === 0 ? "" : `${turns} ${turns === 1 ? "prompt" : "prompts"}`,
    failures === 0 ? "" : `${failures} ${failures === 1 ? "failure" : "failures"}`,
  ];
  return `# ${escapeMarkdown(title)}\n\n${facts.filter((fact) => fact !== "").join(" · ")}\n\n`;
}

function minute(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

interface Call {
  readonly name: string;
  readonly given: unknown;
}

/** Calls that wait for their result; of more than these, the oldest are written without. */
const WAITING_MAX = 200;

/** The entries of one session in order. */
class SessionWriter {
  /** Calls of messages by their ids: they are written with their results. */
  readonly #waiting = new Map<string, Call>();
  #prompts = 0;

  /** What is left at the end: calls without a result. */
  end(): string {
    const left = [...this.#waiting.values()].map((call) => callLine(call, { note: "no result" }));
    this.#waiting.clear();
    return left.join("");
  }

  text(entry: Entry): string {
    switch (entry.kind) {
      case "message":
        return this.#message(entry);
      case "interaction":
        return this.#interaction(entry);
      case "tool_call": {
        const call = { name: entry.tool, given: entry.args };
        this.#waiting.delete(entry.tool_call_id);
        return callLine(call, { note: entry.is_error === true ? "failed" : "", output: entry.result });
      }
      case "error":
      case "response":
      case "decision":
      case "consolidation":
      case "clear":
        return this.end() + (applyByKind(linesByKind, entry) ?? "");
      default:
        return applyByKind(linesByKind, entry) ?? "";
    }
  }

  #message(entry: EntryOf<"message">): string {
    const role = readRole(entry.role);
    if (entry.injected !== "") return folded(`Added by the program: ${entry.injected}`, contentText(entry.content));
    if (role === "tool") return this.#result(entry);
    const isAsked: boolean = isFromUser(entry);
    if (isAsked) return this.end() + this.#prompt(entry.created_at, contentText(entry.content), entry.name);
    if (role === "user") return folded("Tool results", contentText(entry.content));
    if (role === "system") return folded("System prompt", contentText(entry.content));
    const before = this.end();
    const blocks: string[] = [];
    for (const part of messageParts({ content: entry.content, extra: entry.extra })) {
      if (part.is === "thought") blocks.push(folded("Thinking", part.text));
      else if (part.is === "call") blocks.push(callLine(part, {}));
      else if (part.is === "result") blocks.push(folded("Tool result", part.text));
      else if (part.text.trim() !== "") blocks.push(`${safeMarkdown(part.text)}\n\n`);
    }
    for (const call of entry.tool_calls) this.#await(call);
    return before + blocks.join("");
  }

  #interaction({ created_at, prompt, response, error, extra }: EntryOf<"interaction">): string {
    const calls = isJsonObject(extra) && Array.isArray(extra.tool_calls) ? extra.tool_calls.filter(isJsonObject) : [];
    const asked = this.end() + this.#prompt(created_at, prompt, "");
    const answered = response.trim() === "" ? "" : `${safeMarkdown(response)}\n\n`;
    const failed = error === "" ? "" : errorLine("Failed", error);
    return asked + answered + calls.map((call) => callLine(calledIn(call), {})).join("") + failed;
  }

  #prompt(created_at: string, text: string, name: string): string {
    this.#prompts += 1;
    const from = name === "" ? "" : ` · ${escapeMarkdown(name)}`;
    const quote = safeMarkdown(text)
      .split("\n")
      .map((line) => (line === "" ? ">" : `> ${line}`))
      .join("\n");
    return `## ${this.#prompts} · ${minute(created_at)} UTC${from}\n\n${quote}\n\n`;
  }

  #await(call: JsonObject): void {
    const id = typeof call.id === "string" ? call.id : `#${this.#waiting.size}`;
    this.#waiting.set(id, calledIn(call));
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= WAITING_MAX) break;
      this.#waiting.delete(oldest);
    }
  }

  #result({ tool_call_id, name, content }: EntryOf<"message">): string {
    const call = this.#waiting.get(tool_call_id) ?? { name: name || "Tool result", given: undefined };
    this.#waiting.delete(tool_call_id);
    return callLine(call, { output: contentText(content) });
  }
}

function calledIn(call: JsonObject): Call {
  const [part] = messageParts({ content: "", tool_calls: [call] });
  return part?.is === "call" ? part : { name: "a tool", given: call };
}

/** Kinds that take a line of their own; the others are bookkeeping, which the log's own format has. */
const linesByKind: ByKind<Entry, string> = {
  response: ({ response, error }) =>
    (response.trim() === "" ? "" : `${safeMarkdown(response)}\n\n`) + (error === "" ? "" : errorLine("Failed", error)),
  error: ({ error, context }) =>
    errorLine("Error", error || context) + (error === "" ? "" : folded("Context", context)),
  decision: ({ decision, rationale }) =>
    `**Decision:** ${inLine(decision)}${rationale === "" ? "" : `  \nBecause: ${inLine(rationale)}`}\n\n`,
  consolidation: ({ summary }) => `---\n\n*The context was compacted here.*\n\n${folded("Summary", summary)}`,
  clear: () => "---\n\n*The context was cleared here.*\n\n",
  withdrawal: ({ withdraws }) => `*Message #${withdraws} was withdrawn.*\n\n`,
  feedback: (entry) => `*Feedback on ${escapeMarkdown(entry.entry_id)}: ${inLine(feedbackWords(entry))}*\n\n`,
  session_info: () => "",
  raw: () => "",
  audit: () => "",
  redaction: () => "",
  interaction: () => "",
  message: () => "",
  tool_call: () => "",
  memory_proposed: ({ type, source, content }) =>
    `*Memory proposed (${type}, by ${escapeMarkdown(source)}):* ${inLine(content)}\n\n`,
  memory_edited: ({ content }) => (content === "" ? "" : `*Memory reworded:* ${inLine(content)}\n\n`),
  memory_promoted: (entry) => `*Memory promoted: ${inLine(verdictWords(entry))}*\n\n`,
  memory_rejected: (entry) => `*Memory rejected: ${inLine(verdictWords(entry))}*\n\n`,
  memory_superseded: (entry) => `*Memory superseded: ${inLine(verdictWords(entry))}*\n\n`,
  memory_reinforced: (entry) => `*Memories: ${inLine(reinforcedWords(entry))}*\n\n`,
};

const LINE_WORDS = 2_000;
const CALL_WORDS = 120;

/** Recorded text on one line. */
function inLine(text: string): string {
  return escapeMarkdown(firstWords(text, LINE_WORDS));
}

function errorLine(word: string, text: string): string {
  const line = firstWords(text, CALL_WORDS);
  return `**${word}:** ${escapeMarkdown(line)}\n\n${line === text.trim() ? "" : folded("In full", text)}`;
}

/** The argument that says most, on one line: a command, a path, a query. */
const TELLING = [
  "file_path",
  "path",
  "filePath",
  "absolute_path",
  "notebook_path",
  "pattern",
  "query",
  "url",
  "description",
];

function callLine({ name, given }: Call, { note = "", output }: { note?: string; output?: unknown }): string {
  const args = typeof given === "string" ? (parsed(given) ?? given) : given;
  const told = isJsonObject(args) ? TELLING.map((one) => args[one]).find((one) => typeof one === "string") : undefined;
  const about = shellCommand(args) ?? told ?? (args === undefined || isEmpty(args) ? "" : asText(args));
  const title = `${firstWords(name, 64)}${about === "" ? "" : " "}`;
  const code = about === "" ? "" : `<code>${escapeHtml(firstWords(String(about), CALL_WORDS))}</code>`;
  const line = `${escapeHtml(title)}${code}${note === "" ? "" : ` — <b>${note}</b>`}`;
  const text = output === undefined || output === "" ? "" : asText(output);
  return text === "" ? `<p>${line}</p>\n\n` : details(line, text);
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEmpty(value: unknown): boolean {
  return value === "" || value === null || (typeof value === "object" && Object.keys(value).length === 0);
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function folded(title: string, text: string): string {
  return text.trim() === "" ? "" : details(escapeHtml(title), text);
}

function details(summary: string, text: string): string {
  return `<details><summary>${summary}</summary>\n\n${fenced(text)}\n\n</details>\n\n`;
}

/** The fence is longer than any run of backticks inside: recorded text cannot end it. */
function fenced(text: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "").toWellFormed()}\n${fence}`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").toWellFormed();
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
/** Code within a line. */
const SPAN = /(`+)(?!`)[^\n]*?[^`\n]\1(?!`)/g;

/** Markdown as it was written, but without HTML and images, and with its fences closed. */
function safeMarkdown(text: string): string {
  let fence = "";
  const lines = text
    .replaceAll("\r\n", "\n")
    .trim()
    .toWellFormed()
    .split("\n")
    .map((line) => {
      const [, mark = "", info = ""] = FENCE.exec(line) ?? [];
      if (fence !== "") {
        if (mark.startsWith(fence) && info.trim() === "") fence = "";
        return line;
      }
      if (mark !== "" && !(mark.startsWith("`") && info.includes("`"))) {
        fence = mark;
        return line;
      }
      return withoutHtml(line);
    });
  return fence === "" ? lines.join("\n") : `${lines.join("\n")}\n${fence}`;
}

function withoutHtml(line: string): string {
  let text = "";
  let end = 0;
  for (const span of line.matchAll(SPAN)) {
    text += escapedText(line.slice(end, span.index)) + span[0];
    end = span.index + span[0].length;
  }
  return text + escapedText(line.slice(end));
}

/** Headings of an answer go below those of the prompts. */
function escapedText(text: string): string {
  return text
    .replace(/^( {0,3})(#{1,4})(?= )/, "$1##$2")
    .replaceAll("<", "&lt;")
    .replaceAll("![", "\\![");
}
