// The command that a tool was asked to run: a line, or a list of words, which is shown as a shell would take it.
import { isJsonObject } from "./json.js";

/** Under which names tools take a command. */
const COMMAND_NAMES = ["command", "cmd"];
/** A word that a shell takes as it is. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Undefined where the arguments name no command. */
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
