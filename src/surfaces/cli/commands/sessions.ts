// `hansard sessions`: lists them, shows one with its timeline, and clears or consolidates one.

import type { Captured, Recorder, SessionList, SessionSummary, Timeline } from "../../../index.js";
import { RecorderError } from "../../../model/rejection.js";
import { operations } from "../../../operations/index.js";
import {
  type CommandModule,
  type Invocation,
  notePartial,
  printResult,
  textOptions,
  withQuestion,
} from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { commandLine } from "../hints.js";
import { answerOf, attributesOf, defineCommand, flagsGiven } from "../operation-command.js";
import { sessionHead, sessionTable, timelineText } from "../text/session-text.js";
import { tellMore } from "../text/table.js";
import { documentText } from "../text/terminal.js";

const { listSessions, getSession, listSessionEntries, clearSession, consolidateSession } = operations;

export const sessionsCommand: CommandModule = {
  define: (command) =>
    defineCommand(command, [listSessions, getSession, listSessionEntries, clearSession, consolidateSession], (own) =>
      own
        .option("--entries", "with an id: print only the timeline")
        .option("--all", "in the list: also subagents, which are otherwise part of their session")
        .option("--wide", "in the list: do not cut ids and titles")
        .option("--clear", "start a new history; all entries stay in the log")
        .option("--consolidate <position>", "remove entries up to this position from the history")
        .option("--summary <text>", "with --consolidate: a summary of that part")
        .option("--json", "print JSON: for one session its summary, with --entries its timeline"),
    ),

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
  list: ["wide", "all", ...attributesOf(listSessions)],
  show: ["entries", ...attributesOf(listSessionEntries)],
  clear: ["clear"],
  consolidate: ["consolidate", "summary"],
};

const tasks: { readonly [task in Task]: (recorder: Recorder, invocation: Invocation) => Promise<void> } = {
  list: showList,
  show: showSession,
  clear,
  consolidate,
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

async function showList(recorder: Recorder, invocation: Invocation): Promise<void> {
  const { options, screen, json } = invocation;
  const filters = flagsGiven(options, listSessions);
  const isFolded = options.all === undefined && filters.parent === undefined;
  const page = await answerOf<SessionList>(recorder, listSessions, invocation, isFolded ? { parent: "-" } : {});
  notePartial(page, { screen, json });
  const { out } = screen;
  if (json) out.write(documentText(page, out));
  else if (page.sessions.length > 0) {
    out.write(sessionTable(page.sessions, { pane: out, isWide: options.wide === true }));
  } else out.write(Object.keys(filters).length > 0 ? "No session matches.\n" : emptyText(invocation));
  if (!json) tellMore({ shown: page.sessions.length, cursor: page.next_cursor, pane: screen.err });
}

async function showSession(recorder: Recorder, invocation: Invocation): Promise<void> {
  const { options, screen, json } = invocation;
  const { out } = screen;
  if (json) {
    const operation = options.entries === undefined ? getSession : listSessionEntries;
    out.write(documentText(await answerOf<object>(recorder, operation, invocation), out));
    return;
  }
  const summary = await answerOf<SessionSummary>(recorder, getSession, invocation);
  const page = await answerOf<Timeline>(recorder, listSessionEntries, invocation, { excerpts: true });
  notePartial(page, invocation);
  // On later pages the head is not repeated.
  const hasHead = options.entries === undefined && options.cursor === undefined;
  if (hasHead) out.write(`${sessionHead(summary, out)}\n`);
  out.write(page.entries.length === 0 ? "No entries.\n" : timelineText(page.entries, out));
  tellMore({ shown: page.entries.length, cursor: page.next_cursor, pane: screen.err });
}

async function clear(recorder: Recorder, invocation: Invocation): Promise<void> {
  // A mistyped id must not create a session.
  await answerOf(recorder, getSession, invocation);
  const receipt = await answerOf<Captured>(recorder, clearSession, invocation);
  printResult(
    invocation,
    receipt,
    ({ position }) => `Cleared: history starts after #${position}. Earlier entries stay in the log.\n`,
  );
}

async function consolidate(recorder: Recorder, invocation: Invocation): Promise<void> {
  const before = await answerOf<SessionSummary>(recorder, getSession, invocation);
  const wanted = Number(invocation.options.consolidate);
  const body = { through: wanted, ...textOptions(invocation.options, ["summary"]) };
  const consolidated = await answerOf<{ readonly through: number }>(recorder, consolidateSession, invocation, {
    body,
  }).catch((error: unknown) => Promise.reject(withFlag(error, { field: "through", flag: "consolidate" })));
  printResult(invocation, consolidated, ({ through }) =>
    through === before.consolidated_through
      ? unmovedText(wanted, through)
      : `Consolidated through #${through}${through < wanted ? ", where the last complete turn ends" : ""}.\n`,
  );
}

/** A refusal of a field that has another name as a flag of this command. */
function withFlag(error: unknown, names: { readonly field: string; readonly flag: string }): unknown {
  if (!(error instanceof RecorderError) || error.field !== names.field) return error;
  const { code, message, hint } = error;
  return new RecorderError({ code, message, field: names.flag, ...(hint === undefined ? {} : { hint }) });
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
