// Changes another program's settings file: shows the change, asks, and replaces the file as a whole.
import { readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../../model/files.js";
import type { Invocation } from "./command.js";
import { confirm } from "./command.js";
import { type ExitStatus, exitStatus, Failed, WrongUse } from "./failures.js";
import { NotEditable } from "./json-edit.js";
import { cleanText } from "./text/terminal.js";
import { writeWhole } from "./written-file.js";

export interface FileChange {
  readonly path: string;
  readonly change: (text: string) => string;
}

export async function proposeChange(invocation: Invocation, change: FileChange): Promise<ExitStatus> {
  const { screen, options } = invocation;
  const path = targetOf(change.path);
  const before = readText(path);
  const after = change.change(before);
  if (after === before) {
    screen.out.write(`No change: ${cleanText(path)} is up to date.\n`);
    return exitStatus.done;
  }
  screen.out.write(`${cleanText(path)}\n${changedLines(before, after).map(cleanText).join("\n")}\n`);
  if (options.yes !== true && !(await isConfirmed())) {
    screen.err.write("Nothing was changed.\n");
    return exitStatus.failed;
  }
  if (readText(path) !== before) {
    const hint = "Close the program that uses it, and try again.";
    throw new Failed({ code: "file_not_written", message: `${path} was changed in the meantime`, hint });
  }
  makeFolder(dirname(path));
  await writeWhole(path, wholeText(after));
  screen.err.write("Done.\n");
  return exitStatus.done;
}

/** Edits the text of a JSON file; an empty text is an empty object. */
export function changeJson(text: string, edit: (text: string) => string): string {
  try {
    const isEmpty = text.trim() === "";
    const changed = edit(isEmpty ? "{}" : text);
    return isEmpty ? `${changed}\n` : changed;
  } catch (error) {
    if (!(error instanceof NotEditable)) throw error;
    throw new Failed({
      code: "json_invalid",
      message: `the file is not what was expected (${error.message}); it was not changed`,
      hint: "Change it by hand; --print-config prints what it needs.",
    });
  }
}

/** Follows links: a linked settings file is changed in its own place. */
function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw new Failed({ code: "file_not_written", message: `cannot read ${path}: ${message}` });
  }
}

/** Removed and added lines, without the common beginning and end. */
function changedLines(before: string, after: string): readonly string[] {
  const [old, fresh] = [before, after].map((text) => text.split("\n")) as [string[], string[]];
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head += 1;
  let foot = 0;
  while (foot < shorter - head && old.at(-1 - foot) === fresh.at(-1 - foot)) foot += 1;
  const middle = (lines: readonly string[], sign: string): readonly string[] =>
    lines.slice(head, lines.length - foot).map((line) => `${sign} ${line}`);
  return [...middle(old, "-"), ...middle(fresh, "+")];
}

async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    const message = "there is no terminal to ask on";
    throw new WrongUse({ code: "option_invalid", field: "--yes", message, hint: "Add --yes to make the change." });
  }
  return confirm("Make this change? [y/N] ");
}

async function* wholeText(text: string): AsyncGenerator<string> {
  yield text;
}
