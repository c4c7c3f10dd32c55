// What the rules on commands read of a tool call: the command, whether it worked, and the line that says why not. It is short, because
// it passes from the thread that reads to the one that learns.

import { valueText } from "../../../model/content.js";
import type { EntryOf } from "../../../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../../../model/json.js";
import type { Mask } from "../../../model/mask.js";
import {
  isShellTool,
  type ParsedCommand,
  parseCommand,
  shellFolder,
  typedCommand,
  unquoted,
} from "../../../model/shell-command.js";
import { isMemoryFile } from "../../files/memory-file-names.js";

/** Whether a call worked; unknown where nothing shows it. */
type Outcome = "worked" | "failed" | "unknown";

interface Call {
  readonly entry_id: string;
  readonly session_id: string;
  readonly project: string;
}

/** A command that ran, masked: what is made of it stands in statements. */
export interface ShellRun extends Call, Pick<ParsedCommand, "env" | "words" | "core" | "is_last_of_several"> {
  readonly is: "run";
  /** The command as recorded, to be quoted. */
  readonly quote: string;
  /** Where it ran, relative to the project; empty where that is its root, or unknown. */
  readonly folder: string;
  readonly programs: readonly string[];
  readonly outcome: Outcome;
  /** The line that says why it failed; empty without one. */
  readonly error: string;
  /** The program that is not installed; empty without one. */
  readonly missing: string;
  /** Whether it failed because tests or a compiler found something: then the command was right. */
  readonly is_finding: boolean;
  /** Whether the shell took parentheses or brackets of a path for its own. */
  readonly is_unquoted: boolean;
}

/** A call that reads or changes a file. */
export interface FileCall extends Call {
  readonly is: "read" | "edit";
  readonly tool: string;
  readonly path: string;
  readonly quote: string;
  readonly outcome: Outcome;
  readonly error: string;
}

/** The commands that a memory file of a project names. */
interface NamedCommands {
  readonly is: "named";
  readonly project: string;
  /** The lines of the file, and the code in them. */
  readonly lines: readonly string[];
  /** The folder of the file, relative to the project. */
  readonly folder: string;
  /** Whether it is for people: agents are told by others. */
  readonly is_readme: boolean;
}

/** Any other call: it only counts as one. */
interface OtherCall extends Call {
  readonly is: "other";
}

export type CommandStep = ShellRun | FileCall | NamedCommands | OtherCall;

/** Of a longer output, only the beginning and the end are read. */
const OUTPUT_CHARS_MAX = 20_000;
const ERROR_CHARS_MAX = 120;
const QUOTE_CHARS_MAX = 500;
const PATH_CHARS_MAX = 300;
const NAMED_MAX = 400;

export function stepsIn(entry: EntryOf<"tool_call">, mask: Pick<Mask, "text">): readonly CommandStep[] {
  const call = { entry_id: entry.id, session_id: entry.session_id, project: entry.project };
  const command = isShellTool(entry.tool) || "command" in entry.args ? typedCommand(entry.args) : undefined;
  const output = outputOf(entry.result);
  const named = commandsNamedIn(entry, command, output);
  const own = command === undefined ? fileCallIn(entry, call, output) : runIn(entry, call, { command, output, mask });
  return named === undefined ? [own] : [own, named];
}

interface RunParts {
  readonly command: string;
  readonly output: string;
  readonly mask: Pick<Mask, "text">;
}

function runIn(entry: EntryOf<"tool_call">, call: Call, { command, output, mask }: RunParts): ShellRun | OtherCall {
  const masked = mask.text(command.slice(0, QUOTE_CHARS_MAX + 1));
  const parsed = command.length > QUOTE_CHARS_MAX ? undefined : parseCommand(masked);
  // What a person stopped or refused says nothing about the command.
  if (parsed === undefined || REFUSED.test(output) || IN_BACKGROUND.test(output)) return { is: "other", ...call };
  const missing = missingProgram(output, parsed.programs);
  const is_finding = FINDING.test(output);
  // The exit code is a filter's: only the output says what became of the command.
  const hides = parsed.hides_exit && (is_finding || FAILED_BEFORE_PIPE.test(output));
  const outcome = outcomeOf(entry, output, { hides, missing });
  const { env, words, core, programs, is_last_of_several } = parsed;
  const folder = folderIn(joined(shellFolder(entry.args), parsed.folder), entry.project);
  const error = outcome === "failed" ? mask.text(errorLine(output)).slice(0, ERROR_CHARS_MAX) : "";
  return {
    is: "run",
    ...call,
    ...{ quote: command, folder, env, words, core, programs, is_last_of_several, outcome, error, missing, is_finding },
    is_unquoted: outcome === "failed" && UNQUOTED.test(output),
  };
}

function fileCallIn(entry: EntryOf<"tool_call">, call: Call, output: string): FileCall | OtherCall {
  const path = pathIn(entry.args);
  if (path === undefined || path.length > PATH_CHARS_MAX) return { is: "other", ...call };
  const outcome = outcomeOf(entry, output, { hides: false, missing: "" });
  const error = outcome === "failed" ? errorLine(output).slice(0, ERROR_CHARS_MAX) : "";
  const isEdit = EDITING.test(entry.tool);
  if (HARNESS.test(output)) return { is: "other", ...call };
  const tool = entry.tool;
  return {
    is: isEdit ? "edit" : "read",
    ...call,
    tool,
    path: folderIn(path, entry.project),
    quote: path,
    outcome,
    error,
  };
}

const PATH_NAMES = ["file_path", "path", "filePath", "absolute_path", "target_file", "filename"];
const EDITING = /edit|write|replace|patch|create|insert|update|delete/i;

export function pathIn(args: JsonObject): string | undefined {
  const path = PATH_NAMES.map((name) => args[name]).find((one) => typeof one === "string" && one !== "");
  return typeof path === "string" ? path : undefined;
}

function outputOf(result: JsonValue | undefined): string {
  const text = result === undefined || result === null ? "" : textIn(result);
  if (text.length <= OUTPUT_CHARS_MAX) return withoutColours(text);
  const half = OUTPUT_CHARS_MAX / 2;
  return withoutColours(`${text.slice(0, half)}\n${text.slice(-half)}`);
}

/** Of a list of parts and of a wrapped output, the texts. */
function textIn(result: JsonValue): string {
  if (typeof result === "string") return result;
  if (Array.isArray(result)) return result.map(textIn).join("\n");
  if (!isJsonObject(result)) return valueText(result);
  const { text, output, stdout, stderr, content } = result;
  const texts = [text, output, stdout, stderr, content].filter((one) => typeof one === "string" && one !== "");
  return texts.length > 0 ? texts.join("\n") : valueText(result);
}

function withoutColours(text: string): string {
  return text.includes(ESCAPE) ? text.replaceAll(COLOURS, "") : text;
}

const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[0-9;?]{0,32}[A-Za-z]`, "g");

/** Codes as tools write them into their output, and as JSON around it. */
const EXIT_CODE =
  /(?:^|\n)\s*(?:process |command )?exit(?:ed with)?(?: status| code)?:? (?:code |status )?(-?\d{1,10})\b|"exit_?code"\s*:\s*(-?\d{1,10})/i;
/** Node's own last words after a crash, whatever a pipe returned. */
const CRASHED = /\n\s*at .+\n[\s\S]*\nNode\.js v\d+/;

interface Hidden {
  /** Whether the exit code is that of a pipe, and the output shows a failure. */
  readonly hides: boolean;
  readonly missing: string;
}

function outcomeOf({ result, is_error }: EntryOf<"tool_call">, output: string, { hides, missing }: Hidden): Outcome {
  if (is_error === true || missing !== "" || hides) return "failed";
  if (result === undefined || result === null) return "unknown";
  const code = exitCodeIn(result, output);
  if (code !== undefined && code !== 0) return "failed";
  return CRASHED.test(output) ? "failed" : "worked";
}

function exitCodeIn(result: JsonValue, output: string): number | undefined {
  const wrapped = isJsonObject(result) ? result : output.startsWith("{") ? parseJsonObject(output) : undefined;
  const { metadata, exit_code, exitCode } = wrapped ?? {};
  const known = [isJsonObject(metadata) ? (metadata.exit_code ?? metadata.exitCode) : undefined, exit_code, exitCode];
  const given = known.find((one) => typeof one === "number");
  if (typeof given === "number") return given;
  const [, said, json] = EXIT_CODE.exec(output) ?? [];
  const code = said ?? json;
  return code === undefined ? undefined : Number(code);
}

const NOT_FOUND = [
  /(?:^|\n)[^\n]{0,80}?(?::|\s)([\w.+-]{1,40}): (?:command )?not found(?:\n|$)/,
  /(?:^|\n)([\w.+-]{1,40}): (?:command )?not found(?:\n|$)/,
  /command not found: ([\w.+-]{1,40})/,
  /'([\w.+-]{1,40})' is not recognized as an internal or external command/,
];

/** A program of the command itself that the shell did not find; one that a script of it lacks says nothing about the command. */
function missingProgram(output: string, programs: readonly string[]): string {
  for (const pattern of NOT_FOUND) {
    const name = pattern.exec(output)?.[1];
    if (name !== undefined && programs.includes(name)) return name;
  }
  return "";
}

const REFUSED =
  /user (?:doesn't|does not|didn't) want|(?:user|you) (?:has )?(?:rejected|refused|denied|declined|cancell?ed|aborted)|\[?request interrupted|command aborted|operation (?:was )?(?:cancell?ed|aborted)|rejected by user|permission to use .{1,40} (?:has been )?denied/i;
const IN_BACKGROUND = /running in (?:the )?background|moved to (?:the )?background/i;
/** What a tool says of itself, not of the file. */
const HARNESS =
  /has not been read yet|string (?:to replace )?(?:was )?not found|modified since|no changes to make|sibling tool call|user (?:doesn't|rejected|refused)|must be (?:unique|different)/i;
const FINDING =
  /\bFAIL(?:ED|URES?)?\b|error TS\d+|AssertionError|\b[1-9]\d* (?:failed|failing|failures?|errors?|problems?)\b|\bnot ok \d|panicked at|error\[E\d+\]|could not compile|SyntaxError|test result: FAILED|Traceback \(most recent call last\)|npm (?:ERR!|error) (?:code )?ELIFECYCLE|✖|✗/;
/** What a runner says last of a command that failed. */
const FAILED_BEFORE_PIPE =
  /(?:^|\n)(?:npm (?:ERR!|error) |make(?:\[\d+\])?: \*\*\*|error Command failed|error: Recipe |error: script |ERR_PNPM|ninja: build stopped|BUILD FAILED|FAILURE: Build failed|Command failed with exit code)/;
const UNQUOTED = /no matches found: \S*[([]|syntax error near unexpected token [`']?\(/;

const LOOKS_LIKE_ERROR =
  /error|fail|not found|cannot|can't|could not|couldn't|no such|unknown|invalid|unrecogni[sz]ed|denied|missing|unable|fatal|expected|refused|unsupported|illegal|^usage:|no matches|not installed|does not exist|doesn't exist|too (?:large|long|many)|timed? ?out|ERR!|unexpected|exceeds/i;
const NOISE =
  /^npm (?:notice|warn)|operation not permitted|^(?:process |command )?exit(?:ed)?(?: with)? code|sibling tool call|debugger|js-debug bootloader|^(?:chunk id|wall time|original token count|output):?|^> |deprecat|warning:/i;

/** The first line that looks like an error, without what says nothing; empty if there is none. */
function errorLine(output: string): string {
  let npm = "";
  for (const line of output.split("\n")) {
    const text = line.trim();
    if (text === "" || text.length > 1_000 || NOISE.test(text) || !LOOKS_LIKE_ERROR.test(text)) continue;
    // npm's codes come before its sentence.
    if (/^npm (?:ERR!|error) (?:code|errno|syscall|path)\b/i.test(text)) npm ||= text;
    else return text.replace(/^npm (?:ERR!|error) /i, "").replaceAll(/\s+/g, " ");
  }
  return npm;
}

/** A folder or path relative to the project, whose name is a part of it; a longer one elsewhere is shown by its last two parts. */
function folderIn(path: string, project: string): string {
  const parts = path.replaceAll("\\", "/").replace(/\/+$/, "").split("/");
  if (!/^(?:[/~]|[A-Za-z]:)/.test(path)) return parts.filter((part) => part !== ".").join("/");
  const at = project === "" ? -1 : parts.lastIndexOf(project);
  if (at !== -1) return parts.slice(at + 1).join("/");
  const own = parts.filter((part) => part !== "");
  return own.length > 2 ? `…/${own.slice(-2).join("/")}` : path.replace(/\/+$/, "");
}

function joined(base: string, folder: string): string {
  if (folder === "" || base === "" || /^(?:[/~]|[A-Za-z]:)/.test(folder)) return folder === "" ? base : folder;
  return `${base.replace(/\/+$/, "")}/${folder}`;
}

const CODE_SPAN = /`([^`\n]{3,200})`/g;
const FENCED = /```[^\n]*\n([\s\S]{0,20000}?)```/g;

/** The commands that a memory file or a README names, where the call read one. */
function commandsNamedIn(
  entry: EntryOf<"tool_call">,
  command: string | undefined,
  output: string,
): NamedCommands | undefined {
  const paths = command === undefined ? [pathIn(entry.args) ?? ""] : command.slice(0, QUOTE_CHARS_MAX).split(/\s+/);
  const file = paths.map((path) => unquoted(path)).find(isMemoryFile);
  if (file === undefined) return undefined;
  const spans = [...output.matchAll(CODE_SPAN)].map(([, code = ""]) => code.trim());
  const fenced = [...output.matchAll(FENCED)].flatMap(([, code = ""]) => code.split("\n").map((line) => line.trim()));
  // Claude Code's Read numbers the lines.
  const numbered = output.split("\n").map((line) => line.replace(/^\s*\d+(?:→|\t)\s*/, "").trim());
  const lines = [...new Set([...spans, ...fenced, ...numbered])].filter((one) => one !== "" && one.length < 300);
  const path = folderIn(file, entry.project);
  const folder = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
  const is_readme = /readme/i.test(file);
  return { is: "named", project: entry.project, lines: lines.slice(0, NAMED_MAX), folder, is_readme };
}
