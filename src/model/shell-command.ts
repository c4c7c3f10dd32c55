// The commands that agents run: which tools are shells, the command that one was given, and its parts. A parser for what agents
// write, not a shell: what it does not understand (a script, a here-document) is no simple command.
import { isJsonObject } from "./json.js";

/** Names of the tools of coding agents that run a command, in lower case; one row per agent. */
const SHELL_TOOLS: ReadonlySet<string> = new Set([
  ...["bash", "bashoutput", "powershell"], // Claude Code, pi, opencode
  ...["shell", "shell_command", "exec_command", "local_shell", "local_shell_call", "container.exec", "unified_exec"], // Codex
  ...["run_shell_command"], // Gemini CLI, Qwen Code
  ...["execute_command", "run_commands"], // Cline, Roo Code
  ...["run_in_terminal", "runinterminal", "run_terminal_cmd", "run_terminal_command"], // Visual Studio Code, Cursor
  ...["execute_bash", "execute_cmd"], // Kiro, Amazon Q
  ...["developer__shell", "terminal", "run_command", "execute"], // Goose, Zed, Windsurf, Droid
  ...["!"], // What the user ran
]);

/** The argument names under which tools take a command. */
const COMMAND_NAMES = ["command", "cmd", "commandLine", "CommandLine", "command_line"];
/** The argument names under which tools take a folder. */
const FOLDER_NAMES = ["workdir", "cwd", "working_dir", "working_directory", "workingDirectory", "dir", "directory"];
/** A word that needs no quotes. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;
/** `bash -lc`: the next argument is the command. */
const SHELL_PROGRAM = /^(?:.*\/)?(?:ba|z|da|k|fi)?sh$/;
const SHELL_FLAGS = /^-[a-z]*c$/;

export function isShellTool(tool: string): boolean {
  return SHELL_TOOLS.has(tool.toLowerCase());
}

/** The command that a tool was asked to run: a line, or a list of words, with shell quotes. Undefined if there is none. */
export function shellCommand(args: unknown): string | undefined {
  const command = commandIn(args);
  if (command === undefined || typeof command === "string") return command;
  return command.map(quoted).join(" ");
}

/** The same as typed in a shell: of `["bash", "-lc", "npm test"]` only `npm test`. */
export function typedCommand(args: unknown): string | undefined {
  const command = commandIn(args);
  if (command === undefined || typeof command === "string") return command;
  const [program = "", flags = "", typed] = command;
  if (typed !== undefined && command.length === 3 && SHELL_PROGRAM.test(program) && SHELL_FLAGS.test(flags))
    return typed;
  return command.map(quoted).join(" ");
}

/** The folder that a tool was asked to run a command in; empty if none is named. */
export function shellFolder(args: unknown): string {
  if (!isJsonObject(args)) return "";
  const named = FOLDER_NAMES.map((name) => args[name]).find((folder) => typeof folder === "string");
  return typeof named === "string" ? named : "";
}

function commandIn(args: unknown): string | readonly string[] | undefined {
  if (!isJsonObject(args)) return undefined;
  for (const name of COMMAND_NAMES) {
    const command = args[name];
    if (typeof command === "string" && command !== "") return command;
    if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === "string"))
      return command as readonly string[];
  }
  return undefined;
}

function quoted(word: string): string {
  return PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A command line that is one command, apart from where it runs and what shortens its output. */
export interface ParsedCommand {
  /** Where `cd` leads before it; empty if it does not change the folder. */
  readonly folder: string;
  /** Assignments before the program, such as `CI=1`. */
  readonly env: readonly string[];
  /** The words as typed, quotes included; the first is the program. */
  readonly words: readonly string[];
  /** The words with one space between them. */
  readonly core: string;
  /** Whether other commands ran before it in the same line: then a failure may be theirs. */
  readonly is_last_of_several: boolean;
  /** Whether its exit code is hidden: a pipe or `|| true` follows. */
  readonly hides_exit: boolean;
  /** The programs of all parts of the line, pipes included. */
  readonly programs: readonly string[];
}

/** Longer command lines are scripts. */
const COMMAND_CHARS_MAX = 500;

/** Programs that run another one: the words after their own are the command. */
const WRAPPERS: { readonly [program: string]: RegExp } = {
  time: /^$/,
  sudo: /^-\w*$/,
  nohup: /^$/,
  timeout: /^(?:-.*|\d+(?:\.\d+)?[smhd]?)$/,
  command: /^-\w*$/,
  env: /^$/,
};
const ASSIGNMENT = /^[A-Za-z_]\w*=/;
const REDIRECTION = /^(?:\d|&)?>{1,2}(?:&\d|&-)?/;

/** What begins a loop, a condition, a group or a computed program. */
const SCRIPTED = /^[({!$`]|^(?:for|while|if|case|until|function|do|then)$/;

interface Part {
  readonly words: readonly string[];
  /** What ends it: `&&`, `||`, `;`, `|`, `&` or nothing. */
  readonly ended: string;
}

/** Undefined for scripts: several lines, here-documents, loops, substitutions as programs. */
export function parseCommand(line: string): ParsedCommand | undefined {
  const typed = line.trim();
  if (typed === "" || typed.length > COMMAND_CHARS_MAX || /[\n\r]|<</.test(typed)) return undefined;
  const parts = partsOf(typed);
  if (parts === undefined) return undefined;
  const programs = parts.flatMap(({ words }) => programIn(words) ?? []);
  let links = linksOf(parts);
  let folder = "";
  while (links.length > 1 && links[0]?.words[0] === "cd" && links[0].ended === "&&") {
    folder = joinFolder(folder, unquoted(links[0].words[1] ?? ""));
    links = links.slice(1);
  }
  const hasFallback = links.length > 1 && links.at(-2)?.ended === "||";
  if (
    hasFallback &&
    links
      .at(-1)
      ?.words.join(" ")
      .match(/^(?:true|:|echo\b.*)$/) !== null
  ) {
    links = [...links.slice(0, -2), { words: links.at(-2)?.words ?? [], ended: "", is_piped: true }];
  }
  // `; echo $?` only shows the exit code, and hides it.
  if (links.length > 1 && links.at(-1)?.words[0] === "echo" && links.at(-2)?.ended === ";") {
    links = [...links.slice(0, -2), { words: links.at(-2)?.words ?? [], ended: "", is_piped: true }];
  }
  const last = links.at(-1);
  if (last === undefined) return undefined;
  const { env, words } = withoutWrappers(last.words.filter((word) => !REDIRECTION.test(word)));
  if (words.length === 0 || parts.some((part) => SCRIPTED.test(part.words[0] ?? ""))) return undefined;
  return {
    folder,
    env,
    words,
    core: words.join(" "),
    is_last_of_several: links.length > 1,
    hides_exit: last.is_piped,
    programs,
  };
}

/** A part of a line; of a pipe only the first program is kept. */
interface Link extends Part {
  readonly is_piped: boolean;
}

function linksOf(parts: readonly Part[]): readonly Link[] {
  const links: Link[] = [];
  let piped: Part | undefined;
  for (const part of parts) {
    if (part.ended === "|") {
      piped ??= part;
      continue;
    }
    links.push({ words: (piped ?? part).words, ended: part.ended, is_piped: piped !== undefined });
    piped = undefined;
  }
  return links;
}

/** The program that words begin with, without its path. */
function programIn(given: readonly string[]): string | undefined {
  const { words } = withoutWrappers(given);
  const program = unquoted(words[0] ?? "");
  return program === "" ? undefined : (program.split("/").at(-1) ?? program);
}

function withoutWrappers(given: readonly string[]): {
  readonly env: readonly string[];
  readonly words: readonly string[];
} {
  const env: string[] = [];
  const words = [...given];
  for (;;) {
    const [first = ""] = words;
    if (ASSIGNMENT.test(first)) env.push(words.shift() ?? "");
    else if (Object.hasOwn(WRAPPERS, first) && words.length > 1) {
      const own = WRAPPERS[first];
      words.shift();
      while (words.length > 1 && own?.test(words[0] ?? "") === true) words.shift();
    } else return { env, words };
  }
}

/** Splits at operators and spaces outside of quotes; undefined if a quote does not end. */
function partsOf(line: string): readonly Part[] | undefined {
  const parts: Part[] = [];
  let words: string[] = [];
  let word = "";
  let quote = "";
  let depth = 0;
  const endWord = (): void => {
    if (word !== "") words.push(word);
    word = "";
  };
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    if (char === "\\" && quote !== "'") {
      word += line.slice(at, at + 2);
      at += 1;
    } else if (quote !== "") {
      word += char;
      if (char === quote) quote = "";
    } else if (char === '"' || char === "'" || char === "`") {
      word += char;
      quote = char;
    } else if (char === "(" || char === ")") {
      depth += char === "(" ? 1 : -1;
      word += char;
    } else if (depth > 0) word += char;
    else if (/\s/.test(char)) endWord();
    else if (char === ">" || (char === "&" && /[>\d]/.test(`${line.charAt(at + 1)}${word.endsWith(">") ? "0" : ""}`))) {
      // A redirection is a word with its target.
      if (!/^(?:\d|&)?>?$/.test(word)) endWord();
      word += char;
      if (char === ">" && /\s/.test(line.charAt(at + 1))) {
        const rest = /^\s+/.exec(line.slice(at + 1))?.[0] ?? "";
        at += rest.length;
      }
    } else if (char === "|" || char === "&" || char === ";") {
      endWord();
      const isDouble = line.charAt(at + 1) === char && char !== ";";
      parts.push({ words, ended: isDouble ? char + char : char });
      words = [];
      if (isDouble || (char === "|" && line.charAt(at + 1) === "&")) at += 1;
    } else word += char;
  }
  if (quote !== "") return undefined;
  endWord();
  if (words.length > 0) parts.push({ words, ended: "" });
  return parts.filter((part) => part.words.length > 0);
}

export function unquoted(word: string): string {
  return word.replaceAll(/^(["'])(.*)\1$/gs, "$2");
}

function joinFolder(base: string, folder: string): string {
  if (base === "" || /^(?:[/~]|[A-Za-z]:)/.test(folder)) return folder;
  return `${base.replace(/\/+$/, "")}/${folder}`;
}

/** Programs whose first word, or two, say what is done: `git commit`, `npm run build`. */
const MULTIPLEXERS: ReadonlySet<string> = new Set(
  (
    "git gh npm pnpm yarn bun deno npx bunx cargo go docker podman kubectl helm terraform pip pip3 pipx uv poetry conda " +
    "brew apt apt-get dnf systemctl dotnet mvn gradle gradlew mix rails bundle rake composer php flutter dart swift " +
    "rustup nx turbo lerna make just task claude codex gemini hansard"
  ).split(" "),
);
const RUNS_SCRIPT = /^(?:run|run-script|exec|x|dlx)$/;
const SUBCOMMAND = /^[\w:@./-]+$/;

/** What a command does, without its arguments: `git commit`, `npm run build`, `python -m pytest`, `ls`. */
export function commandName({ words }: Pick<ParsedCommand, "words">): string {
  const program = (
    unquoted(words[0] ?? "")
      .split("/")
      .at(-1) ?? ""
  ).toLowerCase();
  const rest = words.slice(1).map(unquoted);
  if (/^python[\d.]*$/.test(program) && rest[0] === "-m" && rest[1] !== undefined) return `${program} -m ${rest[1]}`;
  if (!MULTIPLEXERS.has(program)) return program;
  const named = rest.filter((word) => !word.startsWith("-") && SUBCOMMAND.test(word));
  const [first, second] = named;
  if (first === undefined) return program;
  return RUNS_SCRIPT.test(first) && second !== undefined ? `${program} ${first} ${second}` : `${program} ${first}`;
}
