// `hansard list`: entries newest first, as a table or as the document of GET /entries or GET /interactions.
import type { Command } from "commander";
import type { EntryList, InteractionList, Recorder } from "../../index.js";
import type { EntrySummary } from "../../model/entry.js";
import { type CommandModule, examplesText, type Invocation, notePartial, withRecorder } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { defineQuestion, optionNamesOf, readQuestion } from "../question-options.js";
import { entryLine, kindColour, shortTime } from "../text/entry-text.js";
import { type Column, renderTable } from "../text/table.js";
import { cleanLine, documentText } from "../text/terminal.js";

export const listCommand: CommandModule = {
  define(command: Command): void {
    defineQuestion(command, "entries", "interactions")
      .option("--json", "print the HTTP document")
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
    const page = await withRecorder({ settings: invocation.settings, create: false }, (recorder) =>
      readPage(recorder, invocation.options),
    );
    const { out } = invocation.screen;
    notePartial(page, invocation);
    if (invocation.json) out.write(documentText(page, out));
    else printPage(invocation, "entries" in page ? page.entries : page.interactions, page.next_cursor);
    return exitStatus.done;
  },
};

/** Memories and chunks are an interaction's; asking for one asks for interactions. */
async function readPage(recorder: Recorder, options: Invocation["options"]): Promise<EntryList | InteractionList> {
  const entries = readQuestion(options, "entries");
  const interactions = readQuestion(options, "interactions");
  const { kind = "" } = entries;
  const used = (["memory", "chunk"] as const).find((name) => interactions[name] !== undefined);
  // What only entries can be asked for; whoever asks for it must not be answered as if they had not.
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
      hint: `Leave --${own} or --${used} out.`,
    });
  }
  if (kind === "interaction" || kind === "") return recorder.listInteractions(interactions);
  throw new WrongUse({
    code: "option_misplaced",
    field: `--${used}`,
    message: `entries of kind ${kind} use no memories or chunks`,
    hint: "Leave --kind out, or give --kind interaction.",
  });
}

function printPage(invocation: Invocation, rows: readonly EntrySummary[], cursor: string | null): void {
  const { out, err } = invocation.screen;
  if (rows.length === 0) {
    out.write(emptyText(invocation));
    return;
  }
  out.write(renderTable({ ...tableOf(invocation, rows), width: out.columns, colours: out.colours }));
  if (cursor === null) return;
  const { dim } = err.colours;
  err.write(`${dim(`${rows.length} shown, there are more; for the next add`)}\n--cursor ${cursor}\n`);
}

function emptyText({ options, screen }: Invocation): string {
  const { bold } = screen.out.colours;
  const names = [...optionNamesOf("entries"), ...optionNamesOf("interactions")];
  if (names.some((name) => options[name] !== undefined)) return "Nothing recorded matches.\n";
  const example = 'hansard record --prompt "What is a Hansard?" --response "The record of a parliament."';
  return `Nothing recorded yet. Record a first interaction with\n\n  ${bold(example)}\n`;
}

/** Narrower terminals have no room for the client. */
const WIDE = 110;

interface ListColumn extends Column {
  readonly text: (entry: EntrySummary) => string;
}

/** A column that says the same in every row, because it was asked for or is empty, leaves its room to the text. */
function tableOf(invocation: Invocation, rows: readonly EntrySummary[]) {
  const { out } = invocation.screen;
  const { colours } = out;
  const year = rows.some((row) => row.created_at.slice(0, 4) !== new Date().toISOString().slice(0, 4));
  const isFixed = (name: string): boolean => (invocation.options[name] ?? "") !== "";
  const paintKind = (text: string, at: number): string => kindColour(rows[at]?.kind ?? "", colours)(text);
  const label = (name: "project" | "session_id" | "client", title: string): readonly ListColumn[] =>
    isFixed(title) || rows.every((row) => row[name] === "")
      ? []
      : [{ title: title.toUpperCase(), widthMax: 20, widthMin: 8, text: (row) => cleanLine(row[name]) }];
  const columns: readonly ListColumn[] = [
    { title: "#", align: "right", paint: (text) => colours.bold(text), text: (row) => String(row.position) },
    { title: "TIME (UTC)", paint: (text) => colours.dim(text), text: (row) => shortTime(row.created_at, { year }) },
    ...(isFixed("kind") ? [] : [{ title: "KIND", paint: paintKind, text: (row: EntrySummary) => row.kind }]),
    ...label("project", "project"),
    ...label("session_id", "session"),
    ...((out.columns ?? WIDE) < WIDE ? [] : label("client", "client")),
    { title: "WHAT", text: (row) => entryLine(row).slice(0, 400) },
  ];
  return { columns, rows: rows.map((row) => columns.map((column) => column.text(row))) };
}
