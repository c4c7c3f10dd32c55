// A tool call in one row, by its type: a command, a file read or changed, a search, anything else.
import { isShellTool, shellFolder, typedCommand } from "../../src/model/shell-command.js";
import { argumentSummary, firstLine, formatSize, plural, withoutAnsi } from "../format.js";
import { findEdit, type Values } from "./edits.js";
import type { Call } from "./lines.js";

export interface ToolRow {
  readonly name: string;
  readonly text: string;
  readonly facts: readonly string[];
  /** Lines that an edit added and removed. */
  readonly changed?: { readonly added: number; readonly removed: number };
  /** The line of a failed call's result that says why. */
  readonly error: string;
}

interface Asked {
  readonly call: Call;
  readonly args: Values;
  /** The result as text. */
  readonly result: string;
  readonly folder: string;
}

type RowOf = (asked: Asked) => Omit<ToolRow, "error"> | undefined;

/** The first type whose tools match, and that knows what to show, is taken. */
const types: readonly { readonly is: (tool: string) => boolean; readonly row: RowOf }[] = [
  { is: isShellTool, row: commandRow },
  { is: (tool) => /patch/i.test(tool), row: patchRow },
  { is: (tool) => /^(?:multi_?edit|edit|edit_file|str_?replace\w*|replace|search_replace)$/i.test(tool), row: editRow },
  { is: (tool) => /^(?:write|write_file|create|create_file|write_to_file)$/i.test(tool), row: writeRow },
  {
    is: (tool) => /^(?:read|read_file|read_many_files|view|view_file|open_file|fs_read|cat)$/i.test(tool),
    row: readRow,
  },
  {
    is: (tool) => /^(?:\w*grep\w*|glob|find|ls|search|search_files|codebase_search|file_search)$/i.test(tool),
    row: searchRow,
  },
];

export function toolRow(call: Call, result: string, folder: string): ToolRow {
  const isObject = typeof call.args === "object" && call.args !== null && !Array.isArray(call.args);
  const asked = { call, args: isObject ? (call.args as Values) : {}, result, folder };
  const type = types.find(({ is }) => is(call.tool));
  const row = type?.row(asked) ?? otherRow(asked);
  return { ...row, error: call.failed ? errorLine(asked) : "" };
}

/** `cd` into the session's own folder says nothing; another folder is named after the command. */
const CHANGES_FOLDER = /^\s*cd\s+("[^"\n]*"|'[^'\n]*'|[^\s;&|]+)\s*&&\s*/;

function commandRow({ call, args, result, folder }: Asked): ReturnType<RowOf> {
  const typed = typedCommand(args);
  if (typed === undefined) return undefined;
  const start = typed.slice(0, COMMAND_CHARS);
  const [before = "", changed = ""] = CHANGES_FOLDER.exec(start) ?? [];
  const command = start.slice(before.length).trim();
  const where = pathFrom(folder, changed.replace(/^(["'])(.*)\1$/, "$2") || shellFolder(args));
  const isLonger = /\n/.test(command);
  const code = call.failed ? exitCodeIn(call.result, result) : undefined;
  return {
    name: "$",
    text: `${firstLine(command, COMMAND_CHARS)}${isLonger ? " …" : ""}${where === "" || where === "." ? "" : ` · in ${where}`}`,
    facts: [code === undefined ? "" : `exit ${code}`, size(call, result)],
  };
}

const COMMAND_CHARS = 500;

/** As tools write it into their output, and as JSON around it. */
const EXIT_CODE =
  /(?:^|\n)\s*(?:process |command )?exit(?:ed with)?(?: status| code)?:? (?:code |status )?(-?\d{1,10})\b|"exit_?code"\s*:\s*(-?\d{1,10})/i;
/** It stands at the beginning or at the end. */
const OUTCOME_CHARS = 4_000;

function exitCodeIn(result: unknown, text: string): string | undefined {
  const { exit_code, exitCode, metadata } = valuesOf(result);
  const { exit_code: inner, exitCode: innerToo } = valuesOf(metadata);
  const given = [exit_code, exitCode, inner, innerToo].find((code) => typeof code === "number");
  if (given !== undefined) return String(given);
  const found = EXIT_CODE.exec(text.slice(0, OUTCOME_CHARS)) ?? EXIT_CODE.exec(text.slice(-OUTCOME_CHARS));
  return found?.[1] ?? found?.[2];
}

function readRow(asked: Asked): ReturnType<RowOf> {
  const path = pathIn(asked);
  if (path === "") return undefined;
  return { name: "Read", text: `${path}${linesAsked(asked.args)}`, facts: [size(asked.call, asked.result)] };
}

/** `:12–40`, as the agent asked for it. */
function linesAsked(args: Values): string {
  const [first, last] = Array.isArray(args.view_range) ? args.view_range : [];
  const { offset, limit, start_line = first, end_line = last } = args;
  if (typeof start_line === "number") return `:${start_line}${typeof end_line === "number" ? `–${end_line}` : ""}`;
  if (typeof offset !== "number" && typeof limit !== "number") return "";
  const from = typeof offset === "number" ? offset : 1;
  return `:${from}${typeof limit === "number" ? `–${from + limit - 1}` : ""}`;
}

function editRow(asked: Asked): ReturnType<RowOf> {
  const edit = findEdit(asked.args);
  const path = pathIn(asked);
  if (edit === undefined || path === "") return undefined;
  return { name: "Edit", text: path, facts: [], changed: signsIn(edit.diff) };
}

function writeRow(asked: Asked): ReturnType<RowOf> {
  const path = pathIn(asked);
  const written = textUnder(asked.args, ["content", "contents", "file_text", "text"]);
  if (path === "" || written === undefined) return undefined;
  return { name: "Write", text: path, facts: [], changed: { added: countLines(written), removed: 0 } };
}

const PATCHED = /^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b\/)?)([^\n\r]{1,1024})/gm;

function patchRow({ call, args, folder }: Asked): ReturnType<RowOf> {
  const patch = [call.args, ...Object.values(args)].find(
    (value) => typeof value === "string" && /^(?:\*\*\*|---) /m.test(value),
  );
  if (typeof patch !== "string") return undefined;
  const paths = [...patch.matchAll(PATCHED)].map(([, path = ""]) => pathFrom(folder, path.trim()));
  const [first] = paths;
  if (first === undefined) return undefined;
  const text = paths.length === 1 ? first : `${first} and ${plural(paths.length - 1, "other file")}`;
  return { name: "Patch", text, facts: [], changed: signsIn(patch.replace(/^(?:\+\+\+|---) .*$/gm, "")) };
}

function searchRow({ call, args, result, folder }: Asked): ReturnType<RowOf> {
  const pattern = textUnder(args, ["pattern", "query", "regex", "q", "search", "glob"]);
  if (pattern === undefined) return undefined;
  const where = pathFrom(folder, textUnder(args, ["path", "dir", "directory", "target_directories"]) ?? "");
  const text = `${firstLine(pattern)}${where === "" || where === "." ? "" : ` in ${where}`}`;
  return { name: "Search", text, facts: [call.failed ? "" : matchesIn(call, args, result)] };
}

/** One match a line, unless lines around the matches were asked for. */
function matchesIn(call: Call, args: Values, result: string): string {
  if (call.result === undefined || /^\s*[[{]/.test(result)) return size(call, result);
  const told = /^Found (\d+)/.exec(result)?.[1];
  if (told !== undefined) return plural(Number(told), "match", "matches");
  if (/^\s*(?:no (?:files|matches|results)\b.*)?$/i.test(result.slice(0, 200))) return "no matches";
  if (["-A", "-B", "-C", "context"].some((name) => args[name] !== undefined)) return size(call, result);
  return plural(countLines(result), "match", "matches");
}

const MCP_TOOL = /^mcp__(.+?)__(.+)$/;

function otherRow({ call, result, folder }: Asked): Omit<ToolRow, "error"> {
  const [, server, tool] = MCP_TOOL.exec(call.tool) ?? [];
  return {
    name: server === undefined || tool === undefined ? call.tool : `${server} › ${tool}`,
    text: pathFrom(folder, argumentSummary(call.args)),
    facts: [call.result === undefined ? "no result recorded" : formatSize(result.length)],
  };
}

/** Lines that only say that it failed. */
const SAYS_ONLY_THAT =
  /^(?:\(?(?:process |command )?(?:exited|failed|exit code|exit status)\b.*|error: exit.*|<\/?\w+>)$/i;

const SAYS_WHY =
  /error|fail|exception|fatal|panic|expected|cannot|can't|could not|denied|refused|not found|no such|invalid|missing|unknown/i;

/** What a runner of scripts says after the script has said why. */
const OF_RUNNER = /^(?:npm (?:error|ERR!|notice)|make(?:\[\d+\])?: \*\*\*|error Command failed|error: script)/;

/** A command ends with what went wrong, other tools begin with it. */
function errorLine({ call, result }: Asked): string {
  const { output, stderr, error } = valuesOf(call.result);
  const text = [error, stderr, output].find((value) => typeof value === "string" && value.trim() !== "");
  const said = withoutAnsi(typeof text === "string" ? text.slice(-OUTCOME_CHARS) : result.slice(-OUTCOME_CHARS));
  const lines = said.split(/[\n\r]+/).flatMap((line) => line.trim() || []);
  const telling = lines.filter((line) => !SAYS_ONLY_THAT.test(line));
  const why = telling.filter((line) => SAYS_WHY.test(line));
  const last = why.findLast((line) => !OF_RUNNER.test(line)) ?? why[0] ?? telling.at(-1) ?? lines.at(-1);
  const line = isShellTool(call.tool) ? last : (telling[0] ?? lines[0]);
  return firstLine(line ?? "");
}

const PATH_NAMES = [
  "file_path",
  "path",
  "absolute_path",
  "filePath",
  "target_file",
  "notebook_path",
  "filename",
  "file",
];

function pathIn({ args, folder }: Asked): string {
  return pathFrom(folder, textUnder(args, PATH_NAMES) ?? "");
}

/** A path as seen from a folder, if it is below it. */
function pathFrom(folder: string, path: string): string {
  const base = folder.replace(/[/\\]+$/, "");
  const line = firstLine(path);
  if (base === "" || !line.startsWith(base)) return line;
  const rest = line.slice(base.length);
  return rest === "" ? "." : /^[/\\]./.test(rest) ? rest.slice(1) : line;
}

function textUnder(args: Values, names: readonly string[]): string | undefined {
  const found = names.map((name) => args[name]).find((value) => typeof value === "string" && value !== "");
  return found as string | undefined;
}

function valuesOf(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Values) : {};
}

function size(call: Call, result: string): string {
  if (call.result === undefined) return "no result recorded";
  return result === "" ? "no output" : plural(countLines(result), "line");
}

function countLines(text: string): number {
  if (text === "") return 0;
  let count = 1;
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}

function signsIn(diff: string): { readonly added: number; readonly removed: number } {
  const count = (sign: RegExp): number => diff.match(sign)?.length ?? 0;
  return { added: count(/^\+/gm), removed: count(/^-/gm) };
}
