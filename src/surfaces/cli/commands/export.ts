// `hansard export`: the record or a part of it, to standard output, to a file, or to a folder with a file per session.
import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Command } from "commander";
import type { Recorder } from "../../../index.js";
import { makeFolder } from "../../../model/files.js";
import { type CommandModule, helpText, type Invocation, textOptions, withRecorder } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { defineQuestion, readQuestion } from "../question-options.js";
import { fileNamesOf } from "../session-file-names.js";
import { systemUser } from "../system-user.js";
import { countOf, formatBytes, formatCount } from "../text/table.js";
import { cleanText, escapeObeyed, type Pane, ProgressLine } from "../text/terminal.js";
import { refuseTaken, writeOut, writeWhole } from "../written-file.js";

/** Forms whose files hold one session each. */
const PER_SESSION = new Set(["nanobot", "timmy"]);

export const exportCommand: CommandModule = {
  define(command: Command): void {
    defineQuestion(command, "export")
      .option("--out <path>", "a file; for nanobot and timmy without --session a folder")
      .option("--force", "replace files that are there already")
      .option("--json", "tell what went wrong as JSON; what is exported stays as it is")
      .addHelpText(
        "after",
        helpText(
          ["nanobot holds messages, timmy also tool calls, errors and decisions; other entries stay behind."],
          [
            ["a copy of the whole record", "hansard export --out record.ndjson"],
            ["one session to read", "hansard export --format markdown --session cli:anna"],
            ["back to nanobot", "hansard export --format nanobot --out ~/.nanobot/workspace/sessions"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands } = invocation;
    if (operands[0] !== undefined) throw strayArgument(operands[0]);
    await withRecorder(invocation, { create: false }, (recorder) => exportWith(recorder, invocation));
    return exitStatus.done;
  },
};

async function exportWith(recorder: Recorder, { options, screen }: Invocation): Promise<void> {
  const { out } = textOptions(options, ["out"]);
  let isTold = false;
  const onUnaudited = (): void => {
    if (!isTold) screen.err.write("The store cannot be written, so that no audit entry tells of this export.\n");
    isTold = true;
  };
  const deed = { actor: systemUser(), export_id: randomUUID(), onUnaudited };
  const chosen = { ...readQuestion(options, "export"), ...deed };
  const { session_id } = chosen;
  const isPerSession = PER_SESSION.has(chosen.format ?? "");
  const replaces = options.force === true;
  if (!isPerSession || (session_id ?? "") !== "") {
    const lines = told(recorder.exportEntries(chosen), screen.err);
    if (out === undefined || out === "-")
      return writeOut(screen.out.isTerminal ? harmless(lines, chosen.format) : lines);
    const [name] = isFolder(out) ? [...fileNamesOf([session_id ?? ""]).values()] : [];
    const path = name !== undefined && isPerSession ? join(out, name) : out;
    refuseTaken([path], replaces);
    await writeWhole(path, lines);
    screen.err.write(`Wrote ${formatBytes(statSync(path).size)} to ${cleanText(path)}.\n`);
    return;
  }
  if (out === undefined || out === "-") throw folderMissing(chosen.format as string);
  const progress = new ProgressLine(screen.err);
  const names = fileNamesOf(await sessionIds(recorder, chosen));
  refuseTaken(
    [...names.values()].map((name) => join(out, name)),
    replaces,
  );
  makeFolder(out, 0o700);
  let [looked, written] = [0, 0];
  for (const [session, name] of names) {
    const lines = recorder.exportEntries({ ...chosen, session_id: session });
    const first = await lines.next();
    // Of a session that the filters leave nothing of, there is no file.
    if (first.done !== true) {
      await writeWhole(join(out, name), startingWith(first.value, lines));
      written += 1;
    }
    looked += 1;
    progress.show(`${formatCount(looked)} of ${countOf(names.size, "session", "sessions")} …`);
  }
  progress.clear();
  screen.err.write(`Wrote ${countOf(written, "session", "sessions")} to ${basename(out)}.\n`);
}

/** Says on the side where there is nothing to export: what is empty looks like what went wrong. */
async function* told(lines: AsyncIterable<string>, err: Pane): AsyncGenerator<string> {
  let isEmpty = true;
  for await (const line of lines) {
    isEmpty = false;
    yield line;
  }
  if (isEmpty) err.write("Nothing that was recorded matches, so that the export is empty.\n");
}

async function* startingWith(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** A terminal would obey control sequences in what was recorded; in JSON they can be written so that it does not. */
async function* harmless(lines: AsyncIterable<string>, format?: string): AsyncGenerator<string> {
  for await (const line of lines) yield format === "markdown" ? cleanText(line) : escapeObeyed(line);
}

async function sessionIds(
  recorder: Recorder,
  { project, client }: { readonly project?: string; readonly client?: string },
): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await recorder.listSessions({ project, client, cursor, limit: 500 });
    for (const { session_id } of page.sessions) ids.push(session_id);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function folderMissing(format: string): WrongUse {
  return new WrongUse({
    code: "option_invalid",
    field: "--out",
    message: `the form of ${format} holds one session per file`,
    hint: "Name a folder with --out, or one session with --session.",
  });
}

function strayArgument(argument: string): WrongUse {
  return new WrongUse({
    code: "argument_excess",
    message: `${JSON.stringify(argument.slice(0, 80))} is not an option`,
    hint: "Name a file with --out, or a session with --session.",
  });
}
