// A change to a file of another program: shown line by line, made only when a person agrees, and never half.
import { readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../../model/files.js";
import { isJsonObject, type JsonObject } from "../../model/json.js";
import { isAgreed } from "./agreed.js";
import type { Invocation } from "./command.js";
import { type ExitStatus, exitStatus, Failed, WrongUse } from "./failures.js";
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
    screen.out.write(`${cleanText(path)} has it already.\n`);
    return exitStatus.done;
  }
  screen.out.write(`${cleanText(path)}\n${changedLines(before, after).map(cleanText).join("\n")}\n`);
  if (options.yes !== true && !(await agreed())) {
    screen.err.write("Nothing was changed.\n");
    return exitStatus.failed;
  }
  if (readText(path) !== before) {
    const hint = "Close the program it belongs to, and try again.";
    throw new Failed({ code: "file_not_written", message: `${path} was changed meanwhile`, hint });
  }
  makeFolder(dirname(path));
  await writeWhole(path, wholeText(after));
  screen.err.write("Done.\n");
  return exitStatus.done;
}

/** The text of a JSON file with a change to its object, indented as it was. */
export function changeJson(text: string, change: (settings: JsonObject) => object): string {
  const settings = text.trim() === "" ? {} : parseSettings(text);
  const changed = change(settings);
  if (JSON.stringify(changed) === JSON.stringify(settings)) return text;
  const indent = /^[[{]\r?\n([ \t]+)/.exec(text)?.[1] ?? "  ";
  return `${JSON.stringify(changed, null, indent)}\n`;
}

function parseSettings(text: string): JsonObject {
  let settings: unknown;
  try {
    settings = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    // Said below: some programs allow comments, which would be lost.
  }
  if (isJsonObject(settings)) return settings;
  throw new Failed({
    code: "json_invalid",
    message: "the file is not a JSON object without comments, and is left alone",
    hint: "Change it by hand; --print-config shows what it needs.",
  });
}

/** Whoever keeps settings elsewhere behind a link means that place. */
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
    throw new Failed({ code: "file_not_written", message: `${path} cannot be read: ${message}` });
  }
}

/** The lines that go and come: what both begin and end with is left out. */
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

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    const message = "there is nobody to ask whether to make this change";
    throw new WrongUse({ code: "option_invalid", field: "--yes", message, hint: "Agree to it beforehand with --yes." });
  }
  return isAgreed("Make this change? [y/N] ");
}

async function* wholeText(text: string): AsyncGenerator<string> {
  yield text;
}
