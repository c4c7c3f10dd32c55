// The timeline of a session on a terminal: place, time and speaker at the side, and what happened beside them.

import { valueText } from "../../../model/content.js";
import { answeredCalls, messageParts, partText } from "../../../model/content-parts.js";
import type { EntrySummary, ListedEntry } from "../../../model/entry.js";
import { applyByKind, type ByKind, isAltered } from "../../../model/entry.js";
import type { JsonObject } from "../../../model/json.js";
import { readRole } from "../../../model/roles.js";
import { feedbackWords } from "../../../model/states.js";
import { entryLine, kindColour, whoOf } from "./entry-text.js";
import { countOf, formatCount } from "./table.js";
import type { Colours, Pane } from "./terminal.js";
import {
  callParagraph,
  type Paragraph,
  paragraphLines,
  pieceParagraphs,
  RESULT_LINES,
  roleColour,
} from "./transcript.js";

/** What was said is worth more lines than what a tool gave back. */
const SAID_LINES = 8;
/** With less room beside them than this, texts go below. */
const BESIDE_WIDTH_MIN = 30;
const GAP = "  ";

export function timelineText(entries: readonly ListedEntry[], pane: Pane): string {
  const { bold, dim } = pane.colours;
  const positionWidth = Math.max(...entries.map(({ position }) => String(position).length + 1));
  const whoWidth = Math.max(...entries.map((entry) => whoOf(entry).length));
  const timeWidth = timeOf(entries[0]?.created_at ?? "", pane).length;
  const side = positionWidth + timeWidth + whoWidth + 3 * GAP.length;
  const isBeside = pane.columns === undefined || pane.columns - side >= BESIDE_WIDTH_MIN;
  const indent = " ".repeat(isBeside ? side : GAP.length);
  const width = pane.columns === undefined ? undefined : pane.columns - indent.length;
  let day = "";
  let text = "";
  for (const entry of entries) {
    const today = entry.created_at.slice(0, 10);
    if (pane.isTerminal && today !== day) text += `${day === "" ? "" : "\n"}${dim(today)}\n`;
    day = today;
    const place = bold(`#${entry.position}`.padStart(positionWidth));
    const who = colourOf(entry, pane.colours)(whoOf(entry).padEnd(whoWidth));
    const lines = paragraphLines(paragraphsOf(entry, pane.colours), width, pane);
    const [first = "", ...rest] = isBeside ? lines : ["", ...lines];
    text += `${[place, dim(timeOf(entry.created_at, pane)), who, first].join(GAP).trimEnd()}\n`;
    text += rest.map((line) => `${indent}${line}`.trimEnd().concat("\n")).join("");
  }
  return text;
}

/** On a terminal a line of its own says the day; elsewhere every line stands for itself. */
function timeOf(time: string, pane: Pane): string {
  return pane.isTerminal ? time.slice(11, 19) : time.slice(0, 19).replace("T", " ");
}

function colourOf(entry: ListedEntry, colours: Colours): (text: string) => string {
  if (isAltered(entry)) return colours.red;
  return entry.kind === "message" ? roleColour(readRole(entry.role), colours) : kindColour(entry.kind, colours);
}

const paragraphsByKind: ByKind<EntrySummary, readonly Paragraph[], [colours: Colours]> = {
  interaction: (entry, colours) => [said(entry.prompt), answer(entry, colours)],
  response: (entry, colours) => [
    { text: `answers ${entry.interaction_id}`, linesMax: 1, paint: colours.dim },
    answer(entry, colours),
  ],
  message: (entry, colours) => [
    ...pieceParagraphs(messageParts(entry), {
      colours,
      saidLinesMax: readRole(entry.role) === "tool" ? RESULT_LINES : SAID_LINES,
    }),
    ...confidence(entry, colours),
  ],
  tool_call: (entry, colours) => {
    const took = entry.duration_ms === undefined ? "" : ` (${formatCount(entry.duration_ms)} ms)`;
    const mark = entry.is_error === true ? "failed: " : "";
    const result: Paragraph = { text: `→ ${mark}${valueText(entry.result)}`, linesMax: RESULT_LINES };
    return [
      callParagraph({ name: `${entry.tool}${took}`, given: entry.args }, colours),
      entry.is_error === true ? { ...result, paint: colours.red } : result,
    ];
  },
  error: (entry, { red, dim }) => [
    { ...said(entry.error), paint: red },
    { text: entry.context, linesMax: RESULT_LINES, paint: dim },
  ],
  decision: (entry, colours) => [
    said(entry.decision),
    ...(entry.rationale === "" ? [] : [{ text: `because: ${entry.rationale}`, linesMax: 3, paint: colours.dim }]),
    ...confidence(entry, colours),
  ],
  consolidation: (entry, { dim }) => [
    { text: `history starts after #${entry.through}`, paint: dim },
    said(entry.summary),
  ],
  clear: (_, { dim }) => [{ text: "history starts anew after this", paint: dim }],
  withdrawal: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  feedback: (entry, { dim }) => [{ text: `on ${entry.entry_id}`, linesMax: 1, paint: dim }, said(feedbackWords(entry))],
  // What is known of the session stands above the timeline; here it is enough to see what was new.
  session_info: (entry, { dim }) => [
    { text: entry.title, linesMax: 1 },
    { text: entry.title === "" ? facts(entry.metadata) : "", linesMax: 1, paint: dim },
    { text: entry.parent && `from ${entry.parent}`, linesMax: 1, paint: dim },
  ],
  // What a program noted for itself is no part of the conversation, and there is much of it.
  raw: (entry, { dim }) => [{ text: entryLine(entry), linesMax: 1, paint: dim }],
  audit: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  redaction: (entry, { dim }) => [{ text: entryLine(entry), linesMax: RESULT_LINES, paint: dim }],
  memory_proposed: (entry) => [said(entryLine(entry))],
  memory_edited: (entry, { dim }) => [{ text: entryLine(entry), linesMax: RESULT_LINES, paint: dim }],
  memory_promoted: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  memory_rejected: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  memory_superseded: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
  memory_reinforced: (entry, { dim }) => [{ text: entryLine(entry), paint: dim }],
};

function paragraphsOf(entry: ListedEntry, colours: Colours): readonly Paragraph[] {
  if (isAltered(entry)) return [{ text: entryLine(entry), linesMax: 1, paint: colours.red }];
  const paragraphs = applyByKind(paragraphsByKind, entry, colours) ?? [];
  return paragraphs.filter(({ text }) => text.trim() !== "");
}

function said(text: string): Paragraph {
  return { text, linesMax: SAID_LINES };
}

/** What was answered, as far as the row carries it, else what is known of it. */
function answer(
  entry: {
    readonly response_chars: number;
    readonly response_summary: string;
    readonly response_excerpt?: string;
    readonly error: string;
    readonly extra?: JsonObject | undefined;
  },
  { dim, red }: Colours,
): Paragraph {
  const { response_chars, response_summary, response_excerpt = "", error } = entry;
  if (error !== "") return { text: `failed: ${error}`, linesMax: SAID_LINES, paint: red };
  if (response_excerpt.trim() !== "")
    return { text: `→ ${response_excerpt}`, linesMax: SAID_LINES, chars: response_chars };
  if (response_summary !== "") return { text: `→ ${response_summary}`, linesMax: SAID_LINES };
  const calls = response_chars === 0 ? answeredCalls(entry.extra ?? {}).map(partText) : [];
  if (calls.length > 0) return { text: `→ ${calls.join("\n")}`, linesMax: RESULT_LINES };
  return {
    text: response_chars === 0 ? "(no response)" : `→ ${countOf(response_chars, "character", "characters")}`,
    paint: dim,
  };
}

function confidence(entry: { readonly confidence?: number }, { dim }: Colours): readonly Paragraph[] {
  return entry.confidence === undefined ? [] : [{ text: `confidence ${entry.confidence}`, paint: dim }];
}

function facts(metadata: object): string {
  return Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata);
}
