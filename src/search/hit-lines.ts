// Search as an agent reads it: a line for each hit, short, newest first.

import { valueText } from "../model/content.js";
import { messageText } from "../model/content-parts.js";
import type { AlteredEntry, Entry } from "../model/entry.js";
import { ALTERED_WORDS, applyByKind, type ByKind, isAltered } from "../model/entry.js";
import type { MemoryStatus } from "../model/memory.js";
import { reinforcedWords, verdictWords } from "../model/memory.js";
import { firstCodePoints } from "../model/normalise.js";
import { speakerOf } from "../model/roles.js";
import { feedbackWords } from "../model/states.js";

const TEXT_CHARS = 200;
const RESULT_CHARS = 100;

export function sessionHistoryText(query: string, lines: readonly string[]): string {
  if (lines.length === 0) return nothingFoundText(query);
  return [`${lines.length} found for '${onOneLine(query)}', newest first:`, ...lines].join("\n");
}

export function nothingFoundText(query: string): string {
  return `Nothing recorded matches '${onOneLine(query)}'.`;
}

/** With the present status of the memory that the entry is about, where it is about one. */
export function sessionHistoryLine(entry: Entry | AlteredEntry, status?: MemoryStatus): string {
  const session = entry.session_id === "" ? "" : ` (${entry.session_id})`;
  const text = isAltered(entry)
    ? `${entry.kind}: ${ALTERED_WORDS}`
    : (applyByKind(textByKind, entry) ?? `${entry.kind}: `);
  const now = status === undefined ? "" : ` [${status}]`;
  return `[${entry.created_at.slice(0, 19)}] ${text}${now}${session}`;
}

const textByKind: ByKind<Entry, string> = {
  interaction: (entry) => `Q: ${shorten(entry.prompt)} A: ${shorten(entry.response || failedText(entry))}`,
  response: (entry) => `response: ${shorten(entry.response || entry.response_summary || failedText(entry))}`,
  message: (entry) => `${speakerOf(entry)}: ${shorten(messageText(entry))}`,
  tool_call: (entry) => `tool:${onOneLine(entry.tool)} → ${shorten(valueText(entry.result), RESULT_CHARS)}`,
  error: (entry) => `ERROR: ${shorten(entry.error)}`,
  decision: (entry) => `DECIDED: ${shorten(entry.decision)}`,
  consolidation: (entry) => `consolidation: ${shorten(entry.summary)}`,
  clear: () => "clear: ",
  withdrawal: (entry) => `withdrawal: #${entry.withdraws}`,
  feedback: (entry) => `feedback: ${shorten(feedbackWords(entry))}`,
  session_info: (entry) => `session_info: ${shorten(entry.title || valueText(entry.metadata))}`,
  raw: (entry) => `raw: ${shorten(valueText(entry.record))}`,
  audit: (entry) => `audit: ${shorten(`${entry.action} by ${entry.actor} ${entry.target}`.trimEnd())}`,
  redaction: (entry) => `redaction: ${shorten(entry.reason)}`,
  memory_proposed: (entry) => `memory_proposed: ${shorten(entry.content)}`,
  memory_edited: (entry) => `memory_edited: ${shorten(entry.content || `evidence for ${entry.memory_id}`)}`,
  memory_promoted: (entry) => `memory_promoted: ${shorten(verdictWords(entry))}`,
  memory_rejected: (entry) => `memory_rejected: ${shorten(verdictWords(entry))}`,
  memory_superseded: (entry) => `memory_superseded: ${shorten(verdictWords(entry))}`,
  memory_reinforced: (entry) => `memory_reinforced: ${shorten(reinforcedWords(entry))}`,
};

/** A call that failed has no answer, but a reason. */
function failedText({ error }: { readonly error: string }): string {
  return error === "" ? "" : `failed: ${error}`;
}

/** The first code points, so no character is cut in two. */
function shorten(text: string, charsMax = TEXT_CHARS): string {
  // A code point has at most two units, and a line break of two becomes one space.
  const line = onOneLine(text.slice(0, charsMax * 4));
  return line.length <= charsMax ? line : firstCodePoints(line, charsMax);
}

function onOneLine(text: string): string {
  return text.replaceAll(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/g, " ");
}
