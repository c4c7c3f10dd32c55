// `hansard list`: entries newest first, as a table or as the document of GET /entries or GET /interactions.
import type { Command } from "commander";
import type { EntryList, InteractionList, Recorder } from "../../../index.js";
import type { Interaction, InteractionSummary, ListedEntry } from "../../../model/entry.js";
import { operations } from "../../../operations/index.js";
import { type CommandModule, examplesText, type Invocation, notePartial, withQuestion } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { commandLine } from "../hints.js";
import { attributesOf, defineFlags, flagsGiven } from "../operation-command.js";
import { entryLine, kindColour, shortTime, whoOf } from "../text/entry-text.js";
import { type Column, cutText, renderTable, tellMore } from "../text/table.js";
import { cleanLine, documentText } from "../text/terminal.js";

const { listEntries, listInteractions } = operations;

export const listCommand: CommandModule = {
  define(command: Command): void {
    defineFlags(command, listEntries, listInteractions)
      .option("--wide", "do not cut ids, and show more of each text")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        examplesText([
          ["the newest entries of all kinds", "hansard list"],
          ["today's errors of one project", "hansard list --kind error --project web --since 24h"],
          ["which interactions used a memory", "hansard list --memory m-17 --json"],
        ]),
      );
  },

  async run(invocation: Invocation) {
    const page = await withQuestion(invocation, (recorder) => readPage(recorder, invocation.options));
    const { out } = invocation.screen;
    notePartial(page, invocation);
    if (invocation.json) out.write(documentText(page, out));
    // Whole ones are for --json alone.
    else
      printPage(
        invocation,
        "entries" in page ? page.entries : (page.interactions as readonly InteractionSummary[]),
        page.next_cursor,
      );
    return exitStatus.done;
  },
};

/** Memories, chunks and long texts are an interaction's; asking for one of them asks for interactions. */
async function readPage(
  recorder: Recorder,
  options: Invocation["options"],
): Promise<EntryList | InteractionList<Interaction | InteractionSummary>> {
  const entries = flagsGiven(options, listEntries);
  const interactions = flagsGiven(options, listInteractions);
  const { kind = "" } = entries;
  if (options.full !== undefined && options.json !== true) {
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
  if (used === undefined) {
    const isOfInteractions = kind === "interaction" && own === undefined;
    return isOfInteractions ? recorder.listInteractions(interactions) : recorder.listEntries(entries);
  }
  if (own !== undefined) {
    throw new WrongUse({
      code: "option_misplaced",
      field: `--${own}`,
      message: `interactions have no ${own}, and --${used} lists interactions`,
      hint: `Omit --${own} or --${used}.`,
    });
  }
  if (kind === "interaction" || kind === "") return recorder.listInteractions(interactions);
  throw new WrongUse({
    code: "option_misplaced",
    field: `--${used}`,
    message: `--${used} lists interactions, not entries of kind ${kind}`,
    hint: "Omit --kind, or give --kind interaction.",
  });
}

function printPage(invocation: Invocation, rows: readonly ListedEntry[], cursor: string | null): void {
  const { out, err } = invocation.screen;
  if (rows.length === 0) {
    out.write(emptyText(invocation));
    return;
  }
  const width = invocation.options.wide === true ? undefined : out.columns;
  out.write(renderTable({ ...tableOf(invocation, rows), width, colours: out.colours }));
  tellMore({ shown: rows.length, cursor, pane: err });
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
/** So much of a text is worth a line where nothing has to fit. */
const TEXT_WIDTH_MAX = 400;

interface ListColumn extends Column {
  readonly text: (entry: ListedEntry) => string;
}

/** A column that says the same in every row, because it was asked for or is empty, leaves its room to the text. */
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
  // Messages of one kind still differ by who speaks.
  const isOneVoice = isFixed("kind") && rows.every((row) => row.kind !== "message");
  const columns: readonly ListColumn[] = [
    { title: "#", align: "right", paint: (text) => colours.bold(text), text: (row) => String(row.position) },
    { title: "TIME (UTC)", paint: (text) => colours.dim(text), text: (row) => shortTime(row.created_at, { year }) },
    ...(isWide ? [{ title: "ID", text: (row: ListedEntry) => cleanLine(row.id) }] : []),
    ...(isOneVoice ? [] : [{ title: "WHO", paint: paintKind, text: whoOf }]),
    ...labels.slice(0, labelsShown),
    { title: "WHAT", text: (row) => (isWide ? entryLine(row) : cutText(entryLine(row), TEXT_WIDTH_MAX)) },
  ];
  return { columns, rows: rows.map((row) => columns.map((column) => column.text(row))) };
}
