// The commands by name. They are loaded together, as one file of the bundle; what few of them need is loaded when it is used.
import { Command, CommanderError, type HelpConfiguration, type Option } from "commander";
import pico from "picocolors";
import { orThrow } from "../../model/rejection.js";
import { parseClock } from "../../model/time.js";
import type { CommandModule, Invocation } from "./command.js";
import * as commands from "./commands.js";
import { type ExitStatus, exitStatus, reportFailure, WrongUse } from "./failures.js";
import { formerConfigNote } from "./setting-sources.js";
import { resolveSettings } from "./settings.js";
import { wrapText } from "./text/table.js";
import { openScreen, type Screen } from "./text/terminal.js";
import { readVersion } from "./version.js";

interface CommandEntry {
  readonly summary: string;
  readonly module: CommandModule;
}

/** The commands in the groups of `hansard --help`. */
const commandGroups = {
  Record: {
    record: {
      summary: "record an entry, or many from standard input",
      module: commands.recordCommand,
    },
    import: {
      summary: "import files of other tools, or an export",
      module: commands.importCommand,
    },
    watch: {
      summary: "record what other tools write, while they write it",
      module: commands.watchCommand,
    },
    hooks: {
      summary: "install Claude Code hooks that record its sessions",
      module: commands.hooksCommand,
    },
    otlp: {
      summary: "point traces of a framework here, and map recorded ones again",
      module: commands.otlpCommand,
    },
    proxy: {
      summary: "forward model calls to their provider, and record them",
      module: commands.proxyCommand,
    },
    deliver: {
      summary: "deliver spooled entries of agents that have exited",
      module: commands.deliverCommand,
    },
  },
  Find: {
    list: {
      summary: "list entries, newest first",
      module: commands.listCommand,
    },
    show: {
      summary: "show one entry in full",
      module: commands.showCommand,
    },
    search: {
      summary: "search what was recorded",
      module: commands.searchCommand,
    },
    files: {
      summary: "list files that tool calls read or changed",
      module: commands.filesCommand,
    },
    sessions: {
      summary: "list sessions, or show one with its timeline",
      module: commands.sessionsCommand,
    },
    history: {
      summary: "print a session as model messages",
      module: commands.historyCommand,
    },
    tail: {
      summary: "show entries as they are recorded",
      module: commands.tailCommand,
    },
    lost: {
      summary: "list sessions whose files are gone; the record keeps them",
      module: commands.lostCommand,
    },
    resume: {
      summary: "write a session back where a coding agent goes on with it",
      module: commands.resumeCommand,
    },
    share: {
      summary: "write a session as one HTML page, to send to somebody",
      module: commands.shareCommand,
    },
    export: {
      summary: "write entries to a file",
      module: commands.exportCommand,
    },
  },
  Understand: {
    context: {
      summary: "show what a model was given for an answer",
      module: commands.contextCommand,
    },
    told: {
      summary: "was this text in the model's context?",
      module: commands.toldCommand,
    },
    reflect: {
      summary: "report what went wrong, what recurs and what has changed",
      module: commands.reflectCommand,
    },
    usage: {
      summary: "sum up tokens and cost, each call counted once",
      module: commands.usageCommand,
    },
    stats: {
      summary: "count entries by kind and project",
      module: commands.statsCommand,
    },
  },
  Learn: {
    memories: {
      summary: "list, show, add and audit memories",
      module: commands.memoriesCommand,
    },
    review: {
      summary: "review pending candidates, one at a time",
      module: commands.reviewCommand,
    },
    extract: {
      summary: "propose memories from what was recorded",
      module: commands.extractCommand,
    },
    reinforce: {
      summary: "count which memories were given, used and confirmed",
      module: commands.reinforceCommand,
    },
    recall: {
      summary: "print the memories for a prompt",
      module: commands.recallCommand,
    },
  },
  Verify: {
    verify: {
      summary: "check that nothing recorded was changed or removed",
      module: commands.verifyCommand,
    },
    seal: {
      summary: "print a signed statement of the log's current state",
      module: commands.sealCommand,
    },
  },
  Operate: {
    serve: {
      summary: "serve the record over HTTP, with a web page",
      module: commands.serveCommand,
    },
    mcp: {
      summary: "serve the record to an agent over MCP",
      module: commands.mcpCommand,
    },
    demo: {
      summary: "serve a week of sample data, discarded on exit",
      module: commands.demoCommand,
    },
    keys: {
      summary: "create, list and revoke access keys",
      module: commands.keysCommand,
    },
    doctor: {
      summary: "check a store, and say what to do",
      module: commands.doctorCommand,
    },
    backup: {
      summary: "back up the record to a file while it is in use",
      module: commands.backupCommand,
    },
    restore: {
      summary: "create a store from a backup",
      module: commands.restoreCommand,
    },
    copy: {
      summary: "copy a record between a folder and PostgreSQL",
      module: commands.copyCommand,
    },
    forget: {
      summary: "remove an entry, a session or a project for good",
      module: commands.forgetCommand,
    },
    scrub: {
      summary: "find entries that contain secrets, and forget them",
      module: commands.scrubCommand,
    },
    retention: {
      summary: "forget entries older than a given age",
      module: commands.retentionCommand,
    },
  },
} as const satisfies { readonly [group: string]: { readonly [name: string]: CommandEntry } };

const entries: { readonly [name: string]: CommandEntry } = Object.assign({}, ...Object.values(commandGroups));

/** Runs the command that the arguments name, and returns the exit status. */
export async function run(args: readonly string[]): Promise<ExitStatus> {
  const screen = openScreen();
  let status: ExitStatus = exitStatus.done;
  const program = createProgram(screen, (reached) => {
    status = reached;
  });
  if (screen.out.isTerminal && namesNoCommand(args)) {
    program.action(async () => {
      const { overviewCommand } = await import("./commands/overview.js");
      status = await overviewCommand.run(toInvocation(program, new Command(), screen));
    });
  }
  try {
    await program.parseAsync(withoutHelpCommand(args), { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitStatus.done;
    // Without a command, and without a terminal, the help is shown, but it is a usage error.
    if (error instanceof CommanderError && error.code === "commander.help") return exitStatus.wrongUse;
    const reason = error instanceof CommanderError ? toWrongUse(error, args) : error;
    const given = { json: asksForJson(args), given_data: givenData(program), flags: flagsIn(program) };
    return reportFailure(reason, { screen, ...given });
  }
}

function createProgram(screen: Screen, reach: (status: ExitStatus) => void): Command {
  const program = new Command("hansard")
    .description("The verbatim record of what AI agents were told, said and did.")
    .version(readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "show this help, or that of a command")
    .helpCommand(false)
    .option("--data <place>", DATA_HELP)
    .option("--config <file>", CONFIG_HELP)
    // Options come after their command, so recorded text may look like one of them.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ outputError: () => undefined, writeOut: screen.out.write, writeErr: screen.err.write })
    .configureHelp(helpStyle())
    .addHelpText("after", `\n${SETTINGS_HELP}`);
  for (const option of program.options) takeOnce(option);
  for (const [group, members] of Object.entries(commandGroups)) {
    program.commandsGroup(`${group}:`);
    for (const [name, { summary }] of Object.entries(members)) {
      const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}${summary.endsWith("?") ? "" : "."}`;
      program.command(name).summary(summary).description(sentence).helpOption("-h, --help", "show this help");
    }
  }
  program.hook("preSubcommand", async (_, command) => {
    const { module } = entries[command.name()] as CommandEntry;
    module.define(command);
    command.option("--data <place>", DATA_HELP);
    command.option("--config <file>", CONFIG_HELP);
    command.option("--mask-file <path>", "extra values to mask, one per line (HANSARD_MASK_FILE)");
    if (!command.options.some(({ long }) => long === "--timezone")) {
      command.option("--timezone <zone>", "time zone of times, such as Europe/Berlin (this machine's)");
    }
    for (const option of command.options) takeOnce(option);
    command.action(async () => {
      reach(await module.run(toInvocation(program, command, screen)));
    });
  });
  return program;
}

/** Rejects a repeated option: one value would be lost. Options that may be repeated have a parser of their own. */
function takeOnce(option: Option): void {
  if (option.isBoolean() || option.parseArg !== undefined) return;
  option.argParser((value: string, before: string | undefined) => {
    if (before === undefined) return value;
    throw repeated(option.name());
  });
}

function repeated(name: string): WrongUse {
  return new WrongUse({
    code: "option_repeated",
    field: `--${name}`,
    message: `--${name} is given more than once`,
    hint: "Give it only once.",
  });
}

const DATA_HELP = "a folder, or the address of a database or server (HANSARD_DATA, or ~/.hansard)";

const CONFIG_HELP = "a settings file to use in place of your own";

const SETTINGS_HELP = `Settings come from flags, then the environment (HANSARD_DATA, HANSARD_KEY,
HANSARD_HOST, HANSARD_PORT, HANSARD_ALLOW_HOST, HANSARD_TLS_CERT,
HANSARD_TLS_KEY, HANSARD_RATE, HANSARD_REDACT, HANSARD_MODEL_URL, HANSARD_MODEL,
HANSARD_VIA, HANSARD_DAILY_TOKENS), then your own file
(~/.config/hansard/config.json) or the one named with --config. A file in the
current folder is never read by itself. A key is sent only to the address that
is set in the same place.
Values to mask are combined from --mask-file or HANSARD_MASK_FILE, HANSARD_MASK
(both one per line), and "mask" in the configuration.
Exit status: 0 done, 1 failed, 2 usage error.
`;

function helpStyle(): HelpConfiguration {
  // Commander removes the colours if the stream does not support them.
  const { bold, cyan } = pico.createColors(true);
  return {
    styleTitle: (text) => bold(text),
    styleCommandText: (text) => text,
    styleSubcommandTerm: (text) => cyan(text),
    styleOptionTerm: (text) => cyan(text),
  };
}

function toInvocation(program: Command, command: Command, screen: Screen): Invocation {
  const options = command.opts();
  const { data, config } = program.opts();
  // The clock of this process is the one that times are shown in.
  if (typeof options.timezone === "string") process.env.TZ = orThrow(parseClock(options.timezone)).zone;
  if (data !== undefined && options.data !== undefined) throw repeated("data");
  if (config !== undefined && options.config !== undefined) throw repeated("config");
  const named = { mask_file: options.maskFile, seal_key: options.sealKey, allow_host: options.allowHost };
  const tls = { tls_cert: options.tlsCert, tls_key: options.tlsKey };
  const model = { model_url: options.modelUrl, daily_tokens: options.dailyTokens };
  const flags = { data, ...named, ...tls, ...model, ...options };
  const sources = { flags, env: process.env, folder: process.cwd(), config: config ?? options.config };
  const settings = resolveSettings(sources);
  const json = options.json === true;
  const note = json ? undefined : formerConfigNote(sources);
  if (note !== undefined) screen.err.write(`${wrapText(note, screen.err.columns).join("\n")}\n`);
  return { operands: command.args, options, settings, screen, json };
}

/** The value of --data, before the command or after it. */
function givenData(program: Command): string | undefined {
  return [program, ...program.commands].map((command) => command.opts().data as string | undefined).find(Boolean);
}

/** The flags of the command that was called: the others are not defined yet. */
function flagsIn(program: Command): ReadonlySet<string> {
  return new Set(program.commands.flatMap(({ options }) => options.map((option) => option.name())));
}

/** Whether there is nothing but options that every command has. */
function namesNoCommand(args: readonly string[]): boolean {
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    if (arg === "--data" || arg === "--config") rest.shift();
    else if (!/^--(?:data|config)=/.test(arg)) return false;
  }
  return true;
}

/** `help list` is `list --help`. */
function withoutHelpCommand(args: readonly string[]): readonly string[] {
  if (args[0] !== "help") return args;
  return [...args.slice(1, 2), "--help"];
}

function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).includes("--json");
}

const codeByCommanderCode = {
  "commander.unknownCommand": "command_unknown",
  "commander.unknownOption": "option_unknown",
  "commander.optionMissingArgument": "option_invalid",
  "commander.invalidArgument": "option_invalid",
  "commander.missingArgument": "argument_missing",
  "commander.excessArguments": "argument_excess",
} as const;

/** Commander's error in our form: its suggestion becomes the hint. */
function toWrongUse(error: CommanderError, args: readonly string[]): WrongUse {
  const [message = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  const name = args.find((arg) => Object.hasOwn(entries, arg));
  const help = `See \`hansard${name === undefined ? "" : ` ${name}`} --help\`.`;
  const isSearch = name === "search" && error.code === "commander.unknownOption";
  const exclusion = isSearch ? "To exclude a word, put the query after --: hansard search -- one -other." : undefined;
  return new WrongUse({
    code: codeByCommanderCode[error.code as keyof typeof codeByCommanderCode] ?? "usage_invalid",
    message,
    hint: [suggestion?.replace(/^\((.*)\)$/, "$1"), exclusion, help].filter((part) => part !== undefined).join(" "),
  });
}
