// `hansard show`: one entry in full, as text or as JSON.
import { type ContentPart, messageParts } from "../../../model/content-parts.js";
import type { Entry, ErasedEntry, FieldName } from "../../../model/entry.js";
import { operations } from "../../../operations/index.js";
import type { Invocation } from "../command.js";
import { commandLine } from "../hints.js";
import { operationCommand } from "../operation-command.js";
import { kindColour } from "../text/entry-text.js";
import { paragraphLines, pieceParagraphs } from "../text/paragraphs.js";
import { type Fact, factsText, formatCount, jsonText, wrapText } from "../text/table.js";
import { cleanText, type Pane } from "../text/terminal.js";

/** Fields with a section of their own; other fields are facts of one line each. */
const SECTIONS: ReadonlySet<string> = new Set<FieldName>([
  ...(["prompt", "response", "response_summary", "content", "result", "error", "context"] as const),
  ...(["decision", "rationale", "summary"] as const),
]);
const ENVELOPE = [
  ...["position", "id", "kind", "created_at", "recorded_at", "recorded_by", "session_id", "project", "client", "hash"],
  ...["user_id", "tags", "parent_id"],
];
const INDENT = "  ";
const LINE_WIDTH_MAX = 100;

export const showCommand = operationCommand<Entry | ErasedEntry>([operations.getEntry], async (entry, pane, shown) => {
  const { session_id } = entry;
  const session = session_id === "" ? undefined : await shown.recorder.session(session_id).summary();
  return entryText(entry, { pane, settings: shown.invocation.settings, title: session?.title ?? "" });
});

function entryText(
  entry: Entry | ErasedEntry,
  { pane, settings, title }: { readonly pane: Pane; readonly settings: Invocation["settings"]; readonly title: string },
): string {
  const { bold, dim } = pane.colours;
  const ofSession = ([name, value]: Facts[number]): Facts[number] =>
    name === "session_id" && title !== "" ? [name, `${String(value)} (${title})`] : [name, value];
  const head = `${bold(kindColour(entry.kind, pane.colours)(entry.kind))} ${bold(`#${entry.position}`)}\n`;
  const own = Object.entries(entry).filter(([name, value]) => !ENVELOPE.includes(name) && !isEmpty(value));
  if ("erased" in entry)
    return `${head}${factsText(toFacts(envelopeFacts(entry)), pane)}\n${dim("The body was erased.")}\n`;
  const facts = own.filter(([name, value]) => isFact(name, value));
  const sections = own.filter(([name, value]) => !isFact(name, value));
  const isOpen = entry.kind === "interaction" && entry.response === "";
  return [
    head,
    factsText(toFacts([...envelopeFacts(entry).map(ofSession), ...facts, ["hash", entry.hash]]), pane),
    ...sections.map(([name, value]) => sectionText(name, value, pane)),
    isOpen ? noWords(entry, { pane, settings }) : "",
  ].join("");
}

type Facts = readonly (readonly [name: string, value: unknown])[];

function envelopeFacts(entry: Entry | ErasedEntry): Facts {
  const { id, created_at, recorded_by, session_id, project, client, user_id, parent_id } = entry;
  const recorded_at = entry.recorded_at === created_at ? "" : entry.recorded_at;
  const facts = {
    id,
    created_at,
    recorded_at,
    recorded_by,
    session_id,
    project,
    client,
    user_id,
    tags: entry.tags.join(", "),
    parent_id,
  };
  return Object.entries(facts).filter(([, text]) => text !== "");
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function isFact(name: string, value: unknown): boolean {
  if (typeof value === "string") return !SECTIONS.has(name);
  return typeof value !== "object" || (Array.isArray(value) && value.every((item) => typeof item !== "object"));
}

function factText(name: string, value: unknown): string {
  if (name === "positions" && Array.isArray(value)) return rangesText(value as readonly number[]);
  if (Array.isArray(value)) return value.join(", ");
  if (name === "latency_ms" || name === "duration_ms") return `${formatCount(Number(value))} ms`;
  return String(value);
}

/** Positions as ranges: `3, 7 to 12`. */
function rangesText(positions: readonly number[]): string {
  const ranges: { readonly from: number; through: number }[] = [];
  for (const position of positions) {
    const last = ranges.at(-1);
    if (last !== undefined && position === last.through + 1) last.through = position;
    else ranges.push({ from: position, through: position });
  }
  return ranges.map(({ from, through }) => (from === through ? `${from}` : `${from} to ${through}`)).join(", ");
}

function toFacts(facts: Facts): readonly Fact[] {
  return facts.map(([name, value]) => [titleOf(name), factText(name, value)]);
}

/** Recorded lines are indented: none can be mistaken for a heading. */
function sectionText(name: string, value: unknown, pane: Pane): string {
  const width = Math.min(pane.columns ?? LINE_WIDTH_MAX, LINE_WIDTH_MAX) - INDENT.length;
  const pieces = piecesOfField(name, value);
  if (pieces !== undefined) {
    const all = Number.POSITIVE_INFINITY;
    const whole = { colours: pane.colours, saidLinesMax: all, callLinesMax: all, resultLinesMax: all };
    return headed(
      name,
      paragraphLines(pieceParagraphs(pieces, whole), pane.isTerminal ? width : undefined, pane),
      pane,
    );
  }
  const text = typeof value === "string" ? value.replace(/\n+$/, "") : jsonText(value, width);
  const lines = wrapText(cleanText(text), pane.isTerminal ? width : undefined);
  return headed(name, lines, pane);
}

function headed(name: string, lines: readonly string[], pane: Pane): string {
  return `\n${pane.colours.bold(titleOf(name))}\n${lines.map((line) => `${INDENT}${line}`.trimEnd()).join("\n")}\n`;
}

/** The parts of messages and calls, shown as in a transcript; `--json` has them as they were recorded. */
function piecesOfField(name: string, value: unknown): readonly ContentPart[] | undefined {
  if (typeof value !== "object") return undefined;
  if (name === "content") return messageParts({ content: value });
  return (name === "tool_calls" || name === "response") && Array.isArray(value)
    ? messageParts({ content: "", tool_calls: value })
    : undefined;
}

/** The response of an interaction without text: its tool calls, or that there is none yet. */
function noWords(
  { id, extra, error }: Extract<Entry, { readonly kind: "interaction" }>,
  shown: { readonly pane: Pane; readonly settings: Invocation["settings"] },
): string {
  const calls = Array.isArray(extra?.tool_calls) ? extra.tool_calls : [];
  if (calls.length > 0) return sectionText("response", calls, shown.pane);
  return error === "" ? missingResponse(id, shown) : "";
}

function missingResponse(
  id: string,
  { pane, settings }: { readonly pane: Pane; readonly settings: Invocation["settings"] },
): string {
  const { bold, dim } = pane.colours;
  const lines = [
    "None yet. Complete it with",
    "hansard record --kind response --response TEXT \\",
    commandLine(`  --interaction-id ${id}`, settings),
  ];
  return `\n${bold("Response")}\n${lines.map((line) => `${INDENT}${dim(line)}\n`).join("")}`;
}

/** The title of a field, without units and without the `_id` of a session. */
function titleOf(name: string): string {
  const words = name.replace(/_(at|ms|used)$|(?<=^session)_id$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
