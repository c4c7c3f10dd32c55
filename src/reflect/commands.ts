// Shell commands that failed, by program and subcommand, each with the line that ended its errors most often.
import { valueText } from "../model/content.js";
import type { EntryOf } from "../model/entry.js";
import type { Citation, Cited, CommandFinding } from "../model/report.js";
import { commandName, isShellTool, parseCommand, typedCommand } from "../model/shell-command.js";
import { citationOf, cite, excerpt, type Mask } from "./citations.js";

/** Different commands, and different last lines of each, that are counted. */
const COMMANDS_MAX = 1_000;
const LINES_MAX = 100;
/** An error ends its output: the last line stands in this much of it. */
const END_CHARS = 4_000;
const COMMAND_CHARS = 2_000;
/** Lines that only say that it failed. */
const SAYS_ONLY_THAT =
  /^(?:\(?(?:process |command )?(?:exited|failed|exit code|exit status)\b.*|error: exit.*|<\/?\w+>)$/i;

interface Command {
  readonly name: string;
  calls: number;
  failures: number;
  readonly failed: Citation[];
  readonly lines: Map<string, number>;
}

/** Takes calls newest first. */
export class CommandTally {
  readonly #commands = new Map<string, Command>();
  readonly #mask: Mask;

  constructor(mask: Mask) {
    this.#mask = mask;
  }

  add(entry: EntryOf<"tool_call">): void {
    const typed = isShellTool(entry.tool) ? typedCommand(entry.args) : undefined;
    const command = typed === undefined ? undefined : this.#named(excerpt(nameOf(typed), this.#mask));
    if (command === undefined) return;
    command.calls += 1;
    if (entry.is_error !== true) return;
    command.failures += 1;
    cite(command.failed, citationOf(entry));
    const line = excerpt(lastLine(valueText(entry.result).slice(-END_CHARS)), this.#mask);
    const count = command.lines.get(line);
    if (count !== undefined || command.lines.size < LINES_MAX) command.lines.set(line, (count ?? 0) + 1);
  }

  /** Those with a failure, most failures first. */
  finish(): readonly Cited<CommandFinding>[] {
    return [...this.#commands.values()]
      .filter(({ failures }) => failures > 0)
      .map(({ name, calls, failures, failed, lines }) => ({
        command: name,
        calls,
        failures,
        error: mostFrequent(lines),
        cited: failed,
      }))
      .sort(
        (left, right) =>
          right.failures - left.failures || right.calls - left.calls || (left.command < right.command ? -1 : 1),
      );
  }

  #named(name: string): Command | undefined {
    const known = this.#commands.get(name);
    if (known !== undefined || name === "" || this.#commands.size >= COMMANDS_MAX) return known;
    const command: Command = { name, calls: 0, failures: 0, failed: [], lines: new Map() };
    this.#commands.set(name, command);
    return command;
  }
}

/** Program and subcommand; of a script, those of its first line. */
function nameOf(typed: string): string {
  const line = typed.slice(0, COMMAND_CHARS).trim().split("\n", 1)[0] ?? "";
  const parsed = parseCommand(typed) ?? parseCommand(line);
  if (parsed !== undefined && parsed.words.length > 0) return commandName(parsed);
  const words = line
    .replace(/^(?:cd\s+\S+\s*(?:&&|;)\s*)+/, "")
    .split(/\s+/)
    .filter((word) => !/^[A-Za-z_]\w*=/.test(word));
  return commandName({ words: words.slice(0, 1) });
}

/** The last one that says why. */
function lastLine(output: string): string {
  const lines = output.split(/[\n\r]+/).flatMap((line) => line.trim() || []);
  return lines.findLast((line) => !SAYS_ONLY_THAT.test(line)) ?? lines.at(-1) ?? "";
}

/** Of equals the newest, which came first. */
function mostFrequent(lines: ReadonlyMap<string, number>): string {
  let found = "";
  let most = 0;
  for (const [line, count] of lines) if (count > most) [found, most] = [line, count];
  return found;
}
