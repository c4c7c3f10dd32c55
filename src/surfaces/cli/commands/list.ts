// `hansard list`: entries newest first, as a table or as the document of GET /entries or GET /interactions.
import type { EntryList, InteractionList } from "../../../index.js";
import type { Interaction, InteractionSummary, ListedEntry } from "../../../model/entry.js";
import { operations } from "../../../operations/index.js";
import type { AnyOperation } from "../../../operations/operation.js";
import type { Invocation } from "../command.js";
import { WrongUse } from "../failures.js";
import { commandLine } from "../hints.js";
import { attributesOf, flagsGiven, operationCommand } from "../operation-command.js";
import { entryLine, kindColour, shortTime, whoOf } from "../text/entry-text.js";
import { type Column, cutText, renderTable, tellMore } from "../text/table.js";
import { cleanLine, type Pane } from "../text/terminal.js";

const { listEntries, listInteractions } = operations;

type Page = EntryList | InteractionList<Interaction | InteractionSummary>;

export const listCommand = operationCommand<Page>(
  [listEntries, listInteractions],
  (page, out, { invocation }) => pageText(invocation, rowsOf(page), out),
  {
    define: (command) => command.option("--wide", "do not cut ids, and show more of each text"),
    choose,
    tell: (page, { screen }) => tellMore({ shown: rowsOf(page).length, cursor: page.next_cursor, pane: screen.err }),
  },
);

/** Whole interactions are for --json alone. */
function rowsOf(page: Page): readonly ListedEntry[] {
  return "entries" in page ? page.entries : (page.interactions as readonly InteractionSummary[]);
}

/** Memories, chunks and long texts belong to interactions; asking for one of them lists interactions. */
function choose({ options, json }: Invocation): AnyOperation {
  const entries = flagsGiven(options, listEntries);
  const interactions = flagsGiven(options, listInteractions);
  const { kind = "" } = entries;
  if (options.full !== undefined && !json) {
    throw new WrongUse({
      code: "option_misplaced",
      field: "--full",
      message: "--full has no effect without --json",
      hint: "Add --json, or print one interaction in full with `hansard show`.",
    });
  }
  const used = (["memory", "chunk", "full"] as const).find((name) => interactions[name] !== undefined);
  // Interactions have no role and tool, so the filter must not be ignored silently.
  const own = (["role", "tool"] as const).find((name) => (entries[name] ?? "") !== "");
  if (used === undefined) return kind === "interaction" && own === undefined ? listInteractions : listEntries;
  if (own !== undefined) {
    throw new WrongUse({
      code: "option_misplaced",
      field: `--${own}`,
      message: `interactions have no ${own}, and --${used} lists interactions`,
      hint: `Omit --${own} or --${used}.`,
    });
  }
  if (kind === "interaction" || kind === "") return listInteractions;
  throw new WrongUse({
    code: "option_misplaced",
    field: `--${used}`,
    message: `--${used} lists interactions, not entries of kind ${kind}`,
    hint: "Omit --kind, or give --kind interaction.",
  });
}

function pageText(invocation: Invocation, rows: readonly ListedEntry[], out: Pane): string {
  if (rows.length === 0) return emptyText(invocation);
  const width = invocation.options.wide === true ? undefined : out.columns;
  return renderTable({ ...tableOf(invocation, rows), width, colours: out.colours });
}

function emptyText({ options, settings, screen }: Invocation): string {
  const { bold } = screen.out.colours;
  const names = [...attributesOf(listEntries), ...attributesOf(listInteractions)];
  if (names.some((name) => options[name] !== undefined)) return "Nothing recorded matches.\n";
  const example = commandLine('hansard record --prompt "Who keeps the record?" --response "Hansard."', settings);
  return `No entries yet. Record an interaction with\n\n  ${bold(example)}\n`;
}

/** Narrower terminals have room for one label, the session or else the project. */
const ROOMY = 100;
/** And these for none. */
const NARROW = 60;
/** How much of a text is shown if nothing limits the width. */
const TEXT_WIDTH_MAX = 400;

interface ListColumn extends Column {
  readonly text: (entry: ListedEntry) => string;
}

/** A column with the same value in every row, because it was filtered or is empty, is left out. */
function tableOf(invocation: Invocation, rows: readonly ListedEntry[]) {
  const { out } = invocation.screen;
  const { colours } = out;
  const year = rows.some((row) => row.created_at.slice(0, 4) !== new Date().toISOString().slice(0, 4));
  const isFixed = (name: string): boolean => (invocation.options[name] ?? "") !== "";
  const paintKind = (text: string, at: number): string => kindColour(rows[at]?.kind ?? "", colours)(text);
  const isWide = invocation.options.wide === true;
  const label = (name: "project" | "session_id" | "client", title: string): readonly ListColumn[] =>
    isFixed(title) || rows.every((row) => row[name] === "")
      ? []
      : [{ title: title.toUpperCase(), widthMax: 20, widthMin: 8, text: (row) => cleanLine(row[name]) }];
  const labels = [...label("session_id", "session"), ...label("project", "project"), ...label("client", "client")];
  const { columns: room = ROOMY } = isWide ? {} : out;
  const labelsShown = room >= ROOMY ? labels.length : room >= NARROW ? 1 : 0;
  // Messages of one kind still differ by speaker.
  const isOneVoice = isFixed("kind") && rows.every((row) => row.kind !== "message");
  const columns: readonly ListColumn[] = [
    { title: "#", align: "right", paint: (text) => colours.bold(text), text: (row) => String(row.position) },
    { title: "TIME", paint: (text) => colours.dim(text), text: (row) => shortTime(row.created_at, { year }) },
    ...(isWide ? [{ title: "ID", text: (row: ListedEntry) => cleanLine(row.id) }] : []),
    ...(isOneVoice ? [] : [{ title: "WHO", paint: paintKind, text: whoOf }]),
    ...labels.slice(0, labelsShown),
    { title: "WHAT", text: (row) => (isWide ? entryLine(row) : cutText(entryLine(row), TEXT_WIDTH_MAX)) },
  ];
  return { columns, rows: rows.map((row) => columns.map((column) => column.text(row))) };
}
