// The command that a tool was asked to run: a line, or a list of words, which is shown with shell quotes.
import { isJsonObject } from "./json.js";

/** The argument names under which tools take a command. */
const COMMAND_NAMES = ["command", "cmd"];
/** A word that needs no quotes. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Undefined if the arguments contain no command. */
export function shellCommand(args: unknown): string | undefined {
  if (!isJsonObject(args)) return undefined;
  for (const name of COMMAND_NAMES) {
    const command = args[name];
    if (typeof command === "string" && command !== "") return command;
    if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === "string"))
      return command.map((word) => quoted(word as string)).join(" ");
  }
  return undefined;
}

function quoted(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
