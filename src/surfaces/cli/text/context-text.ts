// What a model was given, for people: its parts in order, what changed since the previous answer, and what followed.
import { messageParts } from "../../../model/content-parts.js";
import type { Context, GivenMessage, Told } from "../../../model/context.js";
import { type Paragraph, paragraphLines, pieceParagraphs, roleColour } from "./paragraphs.js";
import { countOf, formatCount, jsonText, wrapText } from "./table.js";
import { cleanLine, type Pane } from "./terminal.js";

const INDENT = "  ";
const LINE_WIDTH_MAX = 100;
/** How many lines of each part are shown; --json has all. */
const PART_LINES = 6;

export function contextText(context: Context, pane: Pane): string {
  const { messages, system, tools, pack, previous } = context;
  const added = new Set(previous?.added);
  const extras = Object.entries({ tools, context_pack: pack }).filter(([, value]) => value !== undefined);
  return [
    `${headLines(context, pane).join("\n")}\n`,
    ...extras.map(([name, value]) => partText(name, [{ text: extraText(value), linesMax: PART_LINES }], pane)),
    // Shown as a message is.
    ...(system === undefined ? [] : [messageText({ role: "system", content: system }, "", pane)]),
    ...messages.map((message, at) => messageText(message, added.has(at) ? "added" : "", pane)),
    ...(previous?.removed ?? []).map((message) => messageText(message, "removed", pane)),
    ...followedText(context, pane),
  ].join("\n");
}

export function toldText(told: Told, phrase: string, pane: Pane): string {
  const { bold, dim } = pane.colours;
  const quoted = `'${cleanLine(phrase, 80)}'`;
  const source = told.exact ? "as recorded" : RECONSTRUCTED;
  const lines = [bold(verdictWords(told, quoted)), dim(`For the answer #${told.answer.position}, ${source}.`)];
  const { last_given, first_given, given } = told;
  if (last_given !== undefined) lines.push(`Last given for #${last_given.position} (${last_given.entry_id}).`);
  if (first_given !== undefined && first_given.entry_id !== told.answer.entry_id) {
    lines.push(`First given for #${first_given.position} (${first_given.entry_id}).`);
  }
  if (told.lacks !== undefined && told.verdict !== "given")
    lines.push(`Not recorded: ${told.lacks.map((part) => cleanLine(part)).join(", ")}.`);
  if (told.parent !== undefined) {
    lines.push(
      `In the session that it came from (${cleanLine(told.parent.session_id)}): ${told.parent.verdict.replace("_", " ")}.`,
    );
  }
  const width = widthOf(pane);
  if (told.nearest !== undefined) {
    const { snippet, ratio, role } = told.nearest;
    lines.push("", `Nearest: ${Math.round(ratio * 100)} % of its words, in ${cleanLine(role)}`);
    lines.push(...wrapText(cleanLine(snippet, snippet.length), width).map((line) => `${INDENT}${line}`));
  }
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

const RECONSTRUCTED = "reconstructed: the request itself was not recorded";

function verdictWords({ verdict, why, only_own_words }: Told, quoted: string): string {
  if (verdict === "given" && only_own_words === true) return `Only in the model's own earlier answers: ${quoted}.`;
  if (verdict === "given") return `Given: ${quoted} was in the model's context.`;
  if (verdict === "unknown") return `Unknown: ${quoted} was not found, but not everything that was sent is recorded.`;
  if (verdict === "never") return `Never given: ${quoted} was in the context of no answer of this session.`;
  return `Fell out: ${quoted} was given earlier, but no longer${why === undefined ? "" : ` (${reasons[why]})`}.`;
}

const reasons = {
  clear: "the session was cleared",
  consolidation: "it was consolidated",
  window: "newer messages pushed it out of the history",
  removed: "it was removed",
} satisfies { readonly [why in NonNullable<Told["why"]>]: string };

function headLines(context: Context, { colours }: Pane): readonly string[] {
  const { answer, exact, messages, tokens, tokens_reported, lacks, previous, memories, chunks } = context;
  const how = exact ? "as recorded" : RECONSTRUCTED;
  const used = [...memories.map((id) => `memory ${id}`), ...chunks.map((id) => `chunk ${id}`)].map((one) =>
    cleanLine(one),
  );
  const kept =
    previous === undefined ? "" : `${formatCount(previous.kept)} kept, ${formatCount(previous.added.length)} added`;
  return [
    colours.bold(`Context of answer #${answer.position}`),
    `${countOf(messages.length, "message", "messages")}, ${countOf(tokens, "token", "tokens")}, ${how}.`,
    ...(tokens_reported === undefined ? [] : [`The provider counted ${countOf(tokens_reported, "token", "tokens")}.`]),
    ...(lacks === undefined ? [] : [`Not recorded: ${lacks.map((part) => cleanLine(part)).join(", ")}.`]),
    ...(used.length === 0 ? [] : [`With ${used.join(", ")}.`]),
    ...(previous === undefined
      ? []
      : [`Since ${cleanLine(previous.entry_id)}: ${kept}, ${formatCount(previous.removed.length)} removed.`]),
  ];
}

/** What followed the answer, one line each. */
function followedText({ led_to }: Context, pane: Pane): readonly string[] {
  const { tool_calls, errors, feedback, next } = led_to;
  const lines = [
    ...tool_calls.map(
      ({ position, tool, is_error }) => `#${position} ${is_error ? "failed tool call" : "tool call"}: ${tool}`,
    ),
    ...errors.map(({ position, error }) => `#${position} error: ${error}`),
    ...feedback.map(({ position, ...said }) => `#${position} feedback: ${feedbackWords(said)}`),
    ...(next === undefined ? [] : [`#${next.position} next message: ${next.text}`]),
  ];
  if (lines.length === 0) return [];
  const shown = lines.flatMap((line) => wrapText(cleanLine(line, line.length), widthOf(pane)));
  return [`${pane.colours.bold("What followed")}\n${shown.map((line) => `${INDENT}${line}\n`).join("")}`];
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
  const paragraphs = pieceParagraphs(pieces, { colours: pane.colours, saidLinesMax: PART_LINES });
  const marks = [change, message.entry_id ?? ""].filter((mark) => mark !== "");
  return partText(message.role, paragraphs, pane, marks.join("  "));
}

/** Recorded lines are indented so that none can be mistaken for a role. */
function partText(role: string, paragraphs: readonly Paragraph[], pane: Pane, marks = ""): string {
  const { bold, dim } = pane.colours;
  const head = bold(roleColour(role, pane.colours)(cleanLine(role) || "(no role)"));
  const lines = paragraphLines(paragraphs, widthOf(pane), pane);
  return `${head}${marks === "" ? "" : `  ${dim(cleanLine(marks))}`}\n${lines.map((line) => `${INDENT}${line}`.trimEnd().concat("\n")).join("")}`;
}

function extraText(value: unknown): string {
  return typeof value === "string" ? value : jsonText(value, LINE_WIDTH_MAX);
}

function widthOf({ columns }: Pane): number | undefined {
  return columns === undefined ? undefined : Math.min(columns, LINE_WIDTH_MAX) - INDENT.length;
}
