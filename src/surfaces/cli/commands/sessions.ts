// `hansard sessions`: the list of them, one of them with its timeline, and the two marks that history starts after.

import type { Command } from "commander";
import type { Recorder } from "../../../index.js";
import { itemAt } from "../../../model/item-at.js";
import { operations } from "../../../operations/index.js";
import {
  type CommandModule,
  examplesText,
  type Invocation,
  notePartial,
  textOptions,
  withQuestion,
} from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { commandLine } from "../hints.js";
import { openSession, sessionNotFound, withFlag } from "../named-session.js";
import { attributesOf, defineFlags, flagsGiven } from "../operation-command.js";
import { sessionHead, sessionTable, timelineText } from "../text/session-text.js";
import { tellMore } from "../text/table.js";
import { documentText } from "../text/terminal.js";
export const sessionsCommand: CommandModule = {
  define(command: Command): void {
    command.argument("[id]", "show this session with its timeline");
    defineFlags(command, operations.listSessions, operations.listSessionEntries)
      .option("--entries", "of one session: only the timeline")
      .option("--wide", "of the list: do not cut ids and titles")
      .option("--clear", "start the history again from here; all entries stay in the log")
      .option("--consolidate <position>", "remove entries up to this position from the history")
      .option("--summary <text>", "with --consolidate: a summary of that part")
      .option("--json", "print JSON: for one session its summary, with --entries its timeline")
      .addHelpText(
        "after",
        examplesText([
          ["the most recent sessions", "hansard sessions"],
          ["the last entries of a session", "hansard sessions cli:anna --order desc --limit 20"],
          ["its entries for a program", "hansard sessions cli:anna --entries --json"],
          ["an id that starts with a dash", "hansard sessions -- -anna"],
          [
            "replace the history up to a position with a summary",
            'hansard sessions cli:anna --consolidate 120 --summary "Port chosen."',
          ],
        ]),
      );
  },

  async run(invocation: Invocation) {
    const task = taskOf(invocation);
    refuseMisplaced(invocation, task);
    await withQuestion(invocation, (recorder) => tasks[task](recorder, invocation));
    return exitStatus.done;
  },
};

type Task = "list" | "show" | "clear" | "consolidate";

/** The options of each task, apart from --data and --json. */
const optionsByTask: { readonly [task in Task]: readonly string[] } = {
  list: ["wide", ...attributesOf(operations.listSessions)],
  show: ["entries", ...attributesOf(operations.listSessionEntries)],
  clear: ["clear"],
  consolidate: ["consolidate", "summary"],
};

const tasks: { readonly [task in Task]: (recorder: Recorder, invocation: Invocation) => Promise<void> } = {
  list: listSessions,
  show: showSession,
  clear: clearSession,
  consolidate: consolidateSession,
};

function taskOf({ operands, options }: Invocation): Task {
  if (options.consolidate !== undefined) return "consolidate";
  if (options.clear !== undefined) return "clear";
  return operands.length === 0 ? "list" : "show";
}

function refuseMisplaced({ operands, options, json }: Invocation, task: Task): void {
  const known = new Set<string>(Object.values(optionsByTask).flat());
  const given = Object.keys(options).filter((name) => known.has(name));
  const wrong = given.find((name) => !optionsByTask[task].includes(name));
  const needsSession = wrong === undefined ? task !== "list" : task === "list";
  if (needsSession && operands.length === 0) {
    const option = `--${wrong ?? task}`;
    throw new WrongUse({
      code: "argument_missing",
      field: option,
      message: `${option} needs the id of a session`,
      hint: "`hansard sessions` lists the ids.",
    });
  }
  if (wrong !== undefined) throw misplaced(wrong, task);
  const paging = json && options.entries === undefined && task === "show" ? given[0] : undefined;
  if (paging === undefined) return;
  throw new WrongUse({
    code: "option_misplaced",
    field: `--${paging}`,
    message: `--${paging} has no effect: --json prints the summary of the session`,
    hint: "Add --entries to print its entries.",
  });
}

function misplaced(option: string, task: Task): WrongUse {
  const ours = Object.entries(optionsByTask).find(([, names]) => names.includes(option))?.[0];
  const other = task === "show" ? "the id of a session" : `--${task}`;
  return new WrongUse({
    code: "option_misplaced",
    field: `--${option}`,
    message: `--${option} has no effect with ${other}`,
    hint: ours === "list" ? "It filters the list; omit the id." : "Run one command for each.",
  });
}

async function listSessions(recorder: Recorder, invocation: Invocation): Promise<void> {
  const { options, screen, json } = invocation;
  const filters = flagsGiven(options, operations.listSessions);
  const page = await recorder.listSessions(filters);
  notePartial(page, { screen, json });
  const { out } = screen;
  if (json) out.write(documentText(page, out));
  else if (page.sessions.length > 0) {
    const pane = options.wide === true ? { ...out, columns: undefined } : out;
    out.write(sessionTable(page.sessions, { pane, project: filters.project }));
  } else out.write(Object.keys(filters).length > 0 ? "No session matches.\n" : emptyText(invocation));
  if (!json) tellMore({ shown: page.sessions.length, cursor: page.next_cursor, pane: screen.err });
}

async function showSession(recorder: Recorder, { operands, options, screen, json }: Invocation): Promise<void> {
  const session = openSession(recorder, itemAt(operands, 0));
  const { out } = screen;
  const summary = await session.summary();
  if (json && options.entries === undefined) {
    if (summary === undefined) throw sessionNotFound(session.id);
    out.write(documentText(summary, out));
    return;
  }
  const page = await session.entries({ ...flagsGiven(options, operations.listSessionEntries), excerpts: !json });
  notePartial(page, { screen, json });
  if (json) {
    out.write(documentText(page, out));
    return;
  }
  if (summary === undefined) throw sessionNotFound(session.id);
  // On later pages the head is not repeated.
  const hasHead = options.entries === undefined && options.cursor === undefined;
  if (hasHead) out.write(`${sessionHead(summary, out)}\n`);
  out.write(page.entries.length === 0 ? "No entries.\n" : timelineText(page.entries, out));
  tellMore({ shown: page.entries.length, cursor: page.next_cursor, pane: screen.err });
}

async function clearSession(recorder: Recorder, { operands, screen, json }: Invocation): Promise<void> {
  const session = openSession(recorder, itemAt(operands, 0));
  // A mistyped id must not create a session.
  if ((await session.summary()) === undefined) throw sessionNotFound(session.id);
  const receipt = await session.clear();
  const { out } = screen;
  if (json) out.write(documentText(receipt, out));
  else out.write(`Cleared: history starts after #${receipt.position}. Earlier entries stay in the log.\n`);
}

async function consolidateSession(recorder: Recorder, invocation: Invocation): Promise<void> {
  const { operands, options, screen, json } = invocation;
  const session = openSession(recorder, itemAt(operands, 0));
  const before = await session.summary();
  if (before === undefined) throw sessionNotFound(session.id);
  const wanted = Number(options.consolidate);
  const consolidated = await session
    .consolidate(wanted, textOptions(options, ["summary"]))
    .catch((error: unknown) => Promise.reject(withFlag(error, { field: "through", flag: "consolidate" })));
  const { out } = screen;
  const { through } = consolidated;
  if (json) out.write(documentText(consolidated, out));
  else if (through === before.consolidated_through) out.write(unmovedText(wanted, through));
  else out.write(`Consolidated through #${through}${through < wanted ? ", where the last complete turn ends" : ""}.\n`);
}

function unmovedText(wanted: number, through: number): string {
  if (through === wanted) return `Already consolidated through #${through}; nothing was added.\n`;
  const since = through === 0 ? "" : ` after #${through}`;
  return `No complete turn up to #${wanted}${since}; nothing was added.\n`;
}

function emptyText({ settings, screen }: Invocation): string {
  const { out } = screen;
  const example = commandLine("hansard record --kind message --session cli:anna --role user --content Hello", settings);
  return `No sessions yet. A session begins with its first entry:\n\n  ${out.colours.bold(example)}\n`;
}
