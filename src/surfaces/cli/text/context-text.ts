// What a model was given, for people: the parts in their order, and what had changed since the answer before.

import { messageParts } from "../../../model/content-parts.js";
import type { Context, GivenMessage, Told } from "../../../model/context.js";
import { jsonText } from "./json-text.js";
import { countOf, formatCount, wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";
import { type Paragraph, paragraphLines, pieceParagraphs, roleColour } from "./transcript.js";

const INDENT = "  ";
const LINE_WIDTH_MAX = 100;
/** Of each part so many lines are shown; the document has all of it. */
const SAID_LINES = 6;
const BESIDE_LINES = 6;

export function contextText(context: Context, pane: Pane): string {
  const { messages, system, tools, pack, previous } = context;
  const added = new Set(previous?.added);
  const beside = Object.entries({ tools, context_pack: pack }).filter(([, value]) => value !== undefined);
  return [
    `${headLines(context, pane).join("\n")}\n`,
    ...beside.map(([name, value]) => partText(name, [{ text: besideText(value), linesMax: BESIDE_LINES }], pane)),
    // Its parts are told as those of a message are.
    ...(system === undefined ? [] : [messageText({ role: "system", content: system }, "", pane)]),
    ...messages.map((message, at) => messageText(message, added.has(at) ? "added" : "", pane)),
    ...(previous?.removed ?? []).map((message) => messageText(message, "removed", pane)),
    ...ledToText(context, pane),
  ].join("\n");
}

export function toldText(told: Told, phrase: string, pane: Pane): string {
  const { bold, dim } = pane.colours;
  const quoted = `'${cleanLine(phrase, 80)}'`;
  const source = told.exact ? "by what was recorded" : "by what the session held: nobody recorded what was sent";
  const lines = [bold(`${verdictWords(told, quoted)}`), dim(`Asked of #${told.answer.position}, ${source}.`)];
  const { last_given, first_given, given } = told;
  if (last_given !== undefined) lines.push(`Last given for #${last_given.position} (${last_given.entry_id}).`);
  if (first_given !== undefined && first_given.entry_id !== told.answer.entry_id) {
    lines.push(`First given for #${first_given.position} (${first_given.entry_id}).`);
  }
  const width = widthOf(pane);
  for (const { role, snippet, tokens_from_end, entry_id } of given) {
    const place = [
      `${countOf(tokens_from_end, "token", "tokens")} from the end`,
      ...(entry_id === undefined ? [] : [entry_id]),
    ];
    lines.push("", `${roleColour(role, pane.colours)(cleanLine(role) || "(no role)")}  ${dim(place.join("  "))}`);
    lines.push(...wrapText(cleanLine(snippet, snippet.length), width).map((line) => `${INDENT}${line}`));
  }
  return `${lines.join("\n")}\n`;
}

function verdictWords({ verdict, why }: Told, quoted: string): string {
  if (verdict === "given") return `Given: ${quoted} lay before the model.`;
  if (verdict === "never") return `Never given: no answer of the session had ${quoted} before it.`;
  return `Fell out: ${quoted} was given earlier, and no longer${why === undefined ? "" : ` (${reasons[why]})`}.`;
}

const reasons = {
  clear: "the session was cleared",
  consolidation: "it was consolidated",
  window: "more had followed than history shows",
  removed: "it was taken out",
} satisfies { readonly [why in NonNullable<Told["why"]>]: string };

function headLines(context: Context, { colours }: Pane): readonly string[] {
  const { answer, exact, messages, tokens, previous, memories, chunks } = context;
  const how = exact ? "as it was recorded" : "by what the session held: nobody recorded what was sent";
  const used = [...memories.map((id) => `memory ${id}`), ...chunks.map((id) => `chunk ${id}`)].map((one) =>
    cleanLine(one),
  );
  const kept =
    previous === undefined ? "" : `${formatCount(previous.kept)} kept, ${formatCount(previous.added.length)} added`;
  return [
    colours.bold(`What was given for #${answer.position}`),
    `${countOf(messages.length, "message", "messages")}, ${countOf(tokens, "token", "tokens")}, ${how}.`,
    ...(used.length === 0 ? [] : [`With ${used.join(", ")}.`]),
    ...(previous === undefined
      ? []
      : [`Since ${cleanLine(previous.entry_id)}: ${kept}, ${formatCount(previous.removed.length)} removed.`]),
  ];
}

/** What came of the answer, a line each. */
function ledToText({ led_to }: Context, pane: Pane): readonly string[] {
  const { tool_calls, errors, feedback, next } = led_to;
  const lines = [
    ...tool_calls.map(
      ({ position, tool, is_error }) => `#${position} ${is_error ? "failed call of" : "call of"} ${tool}`,
    ),
    ...errors.map(({ position, error }) => `#${position} error: ${error}`),
    ...feedback.map(({ position, ...said }) => `#${position} feedback: ${feedbackWords(said)}`),
    ...(next === undefined ? [] : [`#${next.position} then: ${next.text}`]),
  ];
  if (lines.length === 0) return [];
  const shown = lines.flatMap((line) => wrapText(cleanLine(line, line.length), widthOf(pane)));
  return [`${pane.colours.bold("It led to")}\n${shown.map((line) => `${INDENT}${line}\n`).join("")}`];
}

function feedbackWords({
  score,
  label,
  comment,
}: Pick<Context["led_to"]["feedback"][number], "score" | "label" | "comment">) {
  return [score ?? "", label, comment].filter((word) => word !== "").join(", ");
}

function messageText(message: GivenMessage, change: "added" | "removed" | "", pane: Pane): string {
  const { content = null, tool_calls } = message;
  const calls = Array.isArray(tool_calls) ? tool_calls : [];
  const pieces = messageParts({ content, tool_calls: calls });
  const paragraphs = pieceParagraphs(pieces, { colours: pane.colours, saidLinesMax: SAID_LINES });
  const marks = [change, message.entry_id ?? ""].filter((mark) => mark !== "");
  return partText(message.role, paragraphs, pane, marks.join("  "));
}

/** Recorded lines are indented, so that none of them can pass for a speaker. */
function partText(role: string, paragraphs: readonly Paragraph[], pane: Pane, marks = ""): string {
  const { bold, dim } = pane.colours;
  const head = bold(roleColour(role, pane.colours)(cleanLine(role) || "(no role)"));
  const lines = paragraphLines(paragraphs, widthOf(pane), pane);
  return `${head}${marks === "" ? "" : `  ${dim(cleanLine(marks))}`}\n${lines.map((line) => `${INDENT}${line}`.trimEnd().concat("\n")).join("")}`;
}

function besideText(value: unknown): string {
  return typeof value === "string" ? value : jsonText(value, LINE_WIDTH_MAX);
}

function widthOf({ columns }: Pane): number | undefined {
  return columns === undefined ? undefined : Math.min(columns, LINE_WIDTH_MAX) - INDENT.length;
}
