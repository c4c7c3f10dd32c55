// `hansard search`: hits newest first with their matches marked, as the HTTP document, or as an agent reads them.
import type { SearchHit, SearchPage } from "../../../index.js";
import { limits } from "../../../model/limits.js";
import { operations } from "../../../operations/index.js";
import type { Invocation } from "../command.js";
import { WrongUse } from "../failures.js";
import { operationCommand } from "../operation-command.js";
import { entryLine, kindColour, shortTime, whoOf } from "../text/entry-text.js";
import { markedLine } from "../text/marked-text.js";
import { countOf, fitText, formatCount, tellMore, wrapText } from "../text/table.js";
import { cleanLine, cleanText, type Pane } from "../text/terminal.js";

export const searchCommand = operationCommand<SearchPage | { readonly text: string }>(
  [operations.search, operations.sessionHistory],
  (answer, out, { invocation }) =>
    "text" in answer ? `${cleanText(answer.text)}\n` : pageText(answer, out, invocation),
  {
    define: (command) =>
      command.option("--wide", "do not cut ids").option("--text", "print lines for an agent; the query is one phrase"),
    choose(invocation) {
      if (invocation.options.text !== true) return operations.search;
      refuseBesideText(invocation);
      return operations.sessionHistory;
    },
    tell(answer, { screen }) {
      if ("text" in answer) return;
      tellMore({ shown: answer.results.length, cursor: answer.next_cursor, pane: screen.err });
    },
  },
);

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

function pageText(page: SearchPage, out: Pane, { operands, options }: Invocation): string {
  const isWide = options.wide === true;
  return [
    page.results.length === 0 ? nothingText(operands) : page.results.map((hit) => hitText(hit, out, isWide)).join("\n"),
    page.facets === undefined ? "" : facetsText(page.facets, out),
    elsewhereText(page, out),
    page.notice === undefined ? "" : `\n${out.colours.dim(wrapText(cleanLine(page.notice), out.columns).join("\n"))}\n`,
  ].join("");
}

function nothingText(operands: readonly string[]): string {
  const query = cleanLine(operands.join(" "));
  return query === "" ? "Nothing recorded matches.\n" : `Nothing recorded matches '${query}'.\n`;
}

/** Matches that only `--kind` finds. */
function elsewhereText({ elsewhere = {}, elsewhere_at_least }: SearchPage, { colours, columns }: Pane): string {
  const counts = Object.entries(elsewhere).map(([name, count]) => `${formatCount(count)} with kind:${name}`);
  if (counts.length === 0) return "";
  const text = `Not shown: ${elsewhere_at_least === true ? "at least " : ""}${counts.join(", ")}`;
  return `\n${colours.dim(wrapText(text, columns).join("\n"))}\n`;
}

/** A line that identifies the entry, and below it the text around the match. */
function hitText(hit: SearchHit, pane: Pane, isWide: boolean): string {
  const { bold, dim, inverse } = pane.colours;
  const who = whoOf(hit);
  const session = [hit.session_title ?? "", shortId(hit.session_id), hit.project];
  const known = isWide ? [hit.id, hit.session_id, hit.session_title ?? "", hit.project, hit.client] : session;
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

/** Enough to name a session, where its title stands before it. */
function shortId(session_id: string): string {
  return UUID.test(session_id) ? session_id.slice(0, 8) : session_id;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-/i;
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
  // If not every session is named, all hits may still have been counted.
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
