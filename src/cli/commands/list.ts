// `hansard list`: entries newest first, as a table or as the document of GET /entries or GET /interactions.
import type { Command } from "commander";
import type { EntryList, InteractionList, Recorder } from "../../index.js";
import type { EntrySummary } from "../../model/entry.js";
import { readKinds } from "../../model/kinds.js";
import {
  type CommandModule,
  examplesText,
  type Invocation,
  notePartial,
  textOptions,
  withRecorder,
} from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { kindHelp } from "../kind-help.js";
import { entryLine, kindColour, shortTime } from "../text/entry-text.js";
import { type Column, renderTable } from "../text/table.js";
import { cleanLine, documentText } from "../text/terminal.js";

export const listCommand: CommandModule = {
  define(command: Command): void {
    command
      .option("--project <name>", "only this project; - for entries without one")
      .option("--session <id>", "only this session; - for entries without one")
      .option("--client <name>", "only this client; - for entries without one")
      .option("--kind <kind>", kindHelp(readKinds))
      .option("--role <role>", "only messages of this role: user, assistant, system, tool")
      .option("--since <time>", "from then on: 2026-11-15, 2026-11-15T06:39Z, or 30m, 12h, 7d, 2w ago")
      .option("--until <time>", "up to then, inclusive; a date alone means its end")
      .option("--memory <id>", "only interactions that used this memory")
      .option("--chunk <id>", "only interactions that used this chunk")
      .option("--limit <n>", "how many at most, up to 500 (50)")
      .option("--cursor <cursor>", "go on where the last page ended")
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
  const { session: session_id, kind = "", role = "", memory, chunk, ...rest } = textOptions(options, OPTION_NAMES);
  const filters = { ...rest, session_id };
  const byUse = memory !== undefined || chunk !== undefined;
  if (role !== "" && !byUse) return recorder.listEntries({ ...filters, kind, role });
  if (kind === "interaction" || (byUse && kind === "")) return recorder.listInteractions({ ...filters, memory, chunk });
  if (!byUse) return recorder.listEntries({ ...filters, kind });
  throw new WrongUse({
    code: "option_misplaced",
    field: memory === undefined ? "--chunk" : "--memory",
    message: `entries of kind ${kind} use no memories or chunks`,
    hint: "Leave --kind out, or give --kind interaction.",
  });
}

const OPTION_NAMES = [
  ...["project", "session", "client", "kind", "role", "since", "until", "memory", "chunk", "limit", "cursor"],
] as const;

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
  if (OPTION_NAMES.some((name) => options[name] !== undefined)) return "Nothing recorded matches.\n";
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
