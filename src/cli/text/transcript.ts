// What was said, for people: contents, calls and results as paragraphs that are wrapped, and cut where they run long.
import { valueText } from "../../model/content.js";
import { isJsonObject } from "../../model/json.js";
import { formatCount, wrapText } from "./table.js";
import { type Colours, cleanText, type Pane } from "./terminal.js";

export interface Paragraph {
  readonly text: string;
  /** How many lines are shown of it; all without one. */
  readonly linesMax?: number;
  readonly paint?: (text: string) => string;
}

/** Long lines are hard to read, however wide the terminal is. */
const LINE_WIDTH_MAX = 100;
/** More of a text than this is not even looked at where only some lines are shown. */
const CHARS_PER_LINE_MAX = 400;
const CALL_LINES = 2;

export function roleColour(role: string, colours: Colours): (text: string) => string {
  if (role === "user") return colours.green;
  if (role === "assistant") return colours.cyan;
  return role === "tool" ? colours.yellow : colours.dim;
}

export function paragraphLines(paragraphs: readonly Paragraph[], columns: number | undefined, pane: Pane): string[] {
  const width = columns === undefined ? undefined : Math.min(columns, LINE_WIDTH_MAX);
  return paragraphs.flatMap(({ text, linesMax = Number.POSITIVE_INFINITY, paint = (line) => line }) => {
    const looked = cleanText(text.slice(0, linesMax * CHARS_PER_LINE_MAX)).replace(/^\n+|\s+$/g, "");
    const lines = wrapText(looked, width);
    if (lines.length <= linesMax && text.length <= linesMax * CHARS_PER_LINE_MAX) return lines.map(paint);
    const cut = `… ${formatCount(text.length)} characters in all`;
    return [...lines.slice(0, linesMax).map(paint), pane.colours.dim(cut)];
  });
}

/** A call as a line: the tool, and what it was given. */
export function callParagraph(call: { readonly name: string; readonly given: unknown }, colours: Colours): Paragraph {
  return { text: `${call.name} ${argumentsText(call.given)}`, linesMax: CALL_LINES, paint: colours.yellow };
}

/** Calls of a recorded message, which may have any shape. */
export function openAiCallParagraphs(calls: readonly unknown[], colours: Colours): readonly Paragraph[] {
  return calls.map((call) => {
    const called = isJsonObject(call) && isJsonObject(call.function) ? call.function : undefined;
    if (called === undefined) return callParagraph({ name: "calls a tool", given: call }, colours);
    return callParagraph({ name: `calls ${valueText(called.name) || "a tool"}`, given: called.arguments }, colours);
  });
}

function argumentsText(given: unknown): string {
  const text = valueText(given);
  return text === "{}" ? "" : text;
}
