// `hansard search`: hits newest first with their matches marked, as the HTTP document, or as an agent reads them.
import type { Command } from "commander";
import type { SearchHit, SearchPage } from "../../../index.js";
import { limits } from "../../../model/limits.js";
import { RecorderError } from "../../../model/rejection.js";
import { operations } from "../../../operations/index.js";
import { type CommandModule, examplesText, type Invocation, notePartial, withQuestion } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { defineFlags, flagsGiven } from "../operation-command.js";
import { entryLine, kindColour, shortTime, whoOf } from "../text/entry-text.js";
import { markedLine } from "../text/marked-text.js";
import { countOf, fitText, formatCount, tellMore, wrapText } from "../text/table.js";
import { cleanLine, cleanText, documentText, type Pane } from "../text/terminal.js";

export const searchCommand: CommandModule = {
  define(command: Command): void {
    command.argument("[query...]", 'terms, "a phrase", -without, and filters such as role:user kind:error since:7d');
    defineFlags(command, operations.search)
      .option("--wide", "do not cut ids")
      .option("--text", "print lines for an agent; the query is one phrase")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        examplesText([
          ["entries with both words", "hansard search timeout postgres"],
          ["a phrase, in errors of the last week", "hansard search '\"connection reset\" kind:error since:7d'"],
          ["entries without a word", "hansard search 'timeout -retry'"],
          ["memories, with their status", "hansard search 'port kind:memory'"],
          ["output of the tool session_history", "hansard search deploy --text --role user"],
        ]),
      );
  },

  async run(invocation: Invocation) {
    const query = invocation.operands.join(" ");
    const { out } = invocation.screen;
    if (invocation.options.text === true) {
      refuseBesideText(invocation);
      const filters = flagsGiven(invocation.options, operations.sessionHistory);
      const text = await inRecorder(invocation, (recorder) => recorder.sessionHistory({ ...filters, query }));
      out.write(`${cleanText(text)}\n`);
      return exitStatus.done;
    }
    const asked = flagsGiven(invocation.options, operations.search);
    const page = await inRecorder(invocation, (recorder) => recorder.search(query, asked));
    if (invocation.json) out.write(documentText(page, out));
    else printPage(invocation, page);
    return exitStatus.done;
  },
};

type Work<T> = Parameters<typeof withQuestion<T>>[1];

/** An error about the query names no option: it is an argument. */
async function inRecorder<T>(invocation: Invocation, work: Work<T>): Promise<T> {
  try {
    return await withQuestion(invocation, work);
  } catch (error) {
    if (invocation.json || !(error instanceof RecorderError)) throw error;
    if (error.field !== "q" && error.field !== "query") throw error;
    const { code, message, hint } = error;
    throw new RecorderError({ code, message, ...(hint === undefined ? {} : { hint }) });
  }
}

function refuseBesideText({ options, json }: Invocation): void {
  const misplaced = json ? "--json" : ["cursor", "facets"].map((name) => (options[name] ? `--${name}` : "")).join("");
  if (misplaced === "") return;
  throw new WrongUse({
    code: "option_misplaced",
    field: misplaced,
    message: `${misplaced} cannot be used with --text`,
    hint: "Omit one of them.",
  });
}

function printPage(invocation: Invocation, page: SearchPage): void {
  const { screen, operands } = invocation;
  const { out, err } = screen;
  notePartial(page, invocation);
  if (page.results.length === 0) {
    const query = cleanLine(operands.join(" "));
    out.write(query === "" ? "Nothing recorded matches.\n" : `Nothing recorded matches '${query}'.\n`);
  }
  const isWide = invocation.options.wide === true;
  out.write(page.results.map((hit) => hitText(hit, out, isWide)).join("\n"));
  if (page.facets !== undefined) out.write(facetsText(page.facets, out));
  out.write(elsewhereText(page, out));
  tellMore({ shown: page.results.length, cursor: page.next_cursor, pane: err });
}

/** Matches that only `--kind` shows. */
function elsewhereText({ elsewhere = {}, elsewhere_at_least }: SearchPage, { colours, columns }: Pane): string {
  const counts = Object.entries(elsewhere).map(([name, count]) => `${formatCount(count)} with kind:${name}`);
  if (counts.length === 0) return "";
  const text = `Not shown: ${elsewhere_at_least === true ? "at least " : ""}${counts.join(", ")}`;
  return `\n${colours.dim(wrapText(text, columns).join("\n"))}\n`;
}

/** A line that says which entry it is, and the words around the match below it. */
function hitText(hit: SearchHit, pane: Pane, isWide: boolean): string {
  const { bold, dim, inverse } = pane.colours;
  const who = whoOf(hit);
  const known = isWide ? [hit.id, hit.session_id, hit.project, hit.client] : [hit.session_id, hit.project, hit.client];
  const labels = known.map((label) => cleanLine(label)).filter((one) => one !== "");
  const [place, time] = [`#${hit.position}`, shortTime(hit.created_at, { year: true })];
  const notes = [
    ...(hit.status === undefined ? [] : [hit.status]),
    ...(hit.given === undefined ? [] : [`given ${countOf(hit.given, "time", "times")}`]),
  ];
  const room =
    pane.columns === undefined || isWide ? undefined : pane.columns - [place, time, who, ...notes, ""].join(GAP).length;
  const shownLabels = room === undefined ? labels.join(GAP) : fitText(labels.join(GAP), Math.max(room, 0));
  const head = [bold(place), dim(time), kindColour(hit.kind, pane.colours)(who), ...notes, dim(shownLabels)];
  const line = head.slice(0, shownLabels === "" ? -1 : undefined).join(GAP);
  const shown = hit.snippet === "" ? { text: entryLine(hit), paint: (text: string) => text } : markedLine(hit, inverse);
  const width = pane.columns === undefined ? undefined : Math.min(pane.columns, LINE_WIDTH_MAX) - INDENT.length;
  const lines = wrapText(shown.text, width).map((one) => `${INDENT}${one}`.trimEnd());
  return `${line}\n${shown.paint(lines.join("\n"))}\n`;
}

const INDENT = "    ";
const GAP = "  ";
const LINE_WIDTH_MAX = 100;
const FACET_INDENT = 10;
const FACETS_SHOWN = 10;

function facetsText(facets: NonNullable<SearchPage["facets"]>, { colours, columns }: Pane): string {
  const width = columns === undefined ? undefined : columns - FACET_INDENT;
  const line = (title: string, counts: readonly (readonly [string, number])[]): string => {
    const named = counts
      .slice(0, FACETS_SHOWN)
      .map(([name, count]) => `${cleanLine(name) || "(none)"} ${formatCount(count)}`);
    const text = [...named, ...(counts.length > FACETS_SHOWN ? ["…"] : [])].join(", ");
    const lines = wrapText(text, width).join(`\n${" ".repeat(FACET_INDENT)}`);
    return counts.length === 0 ? "" : `${colours.bold(title.padEnd(FACET_INDENT - 1))} ${lines}\n`;
  };
  // Where not every session is named, all hits may have been counted all the same.
  const isCut = !facets.complete && facets.counted === limits.facet_hits;
  return [
    `\n${isCut ? "Of the newest " : ""}${formatCount(facets.counted)} found\n`,
    line(
      "kinds",
      facets.kinds.map(({ kind, count }) => [kind, count]),
    ),
    line(
      "projects",
      facets.projects.map(({ project, count }) => [project, count]),
    ),
    line(
      "sessions",
      facets.sessions.map(({ session_id, count }) => [session_id, count]),
    ),
  ].join("");
}
