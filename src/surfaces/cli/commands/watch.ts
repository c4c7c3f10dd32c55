// `hansard watch`: records what other tools write, while they write it, until Ctrl-C.
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import {
  type ImportedFile,
  importFormats,
  knownPlaces,
  type LostFile,
  placeVariables,
  type Recorder,
  type RejectedLine,
  type Watch,
} from "../../../index.js";
import { type CommandModule, helpText, type Invocation, onStop, textOptions, withRecorder } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { countOf, formatCount, wrapText } from "../text/table.js";
import { cleanLine, escapeControls, ProgressLine, pathText } from "../text/terminal.js";

/** The services that can start `hansard watch` at login. */
const unitKinds = ["systemd", "launchd"] as const;
const SHOW_EVERY_MS = 500;
/** More missing places than this are counted instead of named. */
const MISSING_SHOWN = 3;

export const watchCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("[path...]", "files and folders; by default, those of known tools")
      .option("--format <name>", `the format, if it cannot be detected: ${importFormats.join(", ")}`)
      .option("--timezone <zone>", "time zone of times without one, such as Europe/Berlin (this machine's)")
      .option("--poll", "check every second instead of relying on file events")
      .option("--redact <when>", "with capture: mask secrets before they are stored")
      .option("--print-service [kind]", `print a service file that starts it at login: ${unitKinds.join(", ")}`)
      .option("--json", "print events as JSON, one per line")
      .addHelpText(
        "after",
        helpText(
          [
            `A line is recorded within two seconds. Watching continues where it stopped, also after a restart and when a file was
rotated, truncated or replaced. A deleted file is noted, and its sessions are kept: \`hansard lost\` lists them.`,
          ],
          [
            ["record what all known tools write", "hansard watch"],
            ["one folder, with events as JSON", "hansard watch ./transcripts --json"],
            [
              "start it at every login",
              "hansard watch --print-service \\\n    > ~/.config/systemd/user/hansard-watch.service",
            ],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const { operands, options, settings, screen } = invocation;
    if (options.printService !== undefined) {
      screen.out.write(unitText({ kind: unitKind(options.printService), paths: operands, data: settings.data }));
      return exitStatus.done;
    }
    // Signals are handled before the store is opened, which takes a moment.
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => {
      stop = resolve;
    });
    const stopping = onStop(stop);
    try {
      await withRecorder(invocation, { create: true }, (recorder) => follow(recorder, invocation, stopped));
    } finally {
      stopping.forget();
    }
    return exitStatus.done;
  },
};

async function follow(recorder: Recorder, invocation: Invocation, stopped: Promise<void>): Promise<void> {
  const { operands, options } = invocation;
  const reporter = invocation.json ? new JsonReporter(invocation) : new TextReporter(invocation);
  const watch = await recorder.watchFiles(operands, {
    ...textOptions(options, ["format", "timezone"]),
    poll: options.poll === true,
    onFile: (file) => reporter.file(file),
    onRejected: (line) => reporter.rejected(line),
    onTrouble: (reason) => reporter.trouble(reason),
    onLost: (lost) => reporter.lost(lost),
  });
  reporter.begin(watch, operands.length === 0 ? knownPlaces().map(({ path }) => path) : operands);
  const shown = setInterval(() => reporter.show(), SHOW_EVERY_MS);
  let isStopped = false;
  void watch.caughtUp().then(() => isStopped || reporter.caughtUp());
  await stopped;
  isStopped = true;
  clearInterval(shown);
  await watch.close();
  reporter.end();
}

function unitKind(given: unknown): (typeof unitKinds)[number] {
  if (given === true) return process.platform === "darwin" ? "launchd" : "systemd";
  const kind = unitKinds.find((name) => name === given);
  if (kind !== undefined) return kind;
  const message = `--print-service must be ${unitKinds.join(" or ")}`;
  throw new WrongUse({ code: "option_invalid", field: "--print-service", message });
}

/** Prints events for programs. */
class JsonReporter {
  readonly #screen: Invocation["screen"];
  #watch: Watch | undefined;

  constructor({ screen }: Invocation) {
    this.#screen = screen;
  }

  begin(watch: Watch, paths: readonly string[]): void {
    this.#watch = watch;
    this.#write({ event: "watching", paths });
  }

  file(file: ImportedFile): void {
    this.#write({ event: "file", ...file });
  }

  rejected(line: RejectedLine): void {
    this.#write({ event: "rejected", ...line });
  }

  trouble(reason: string): void {
    this.#write({ event: "trouble", reason });
  }

  lost(lost: LostFile): void {
    this.#write({ event: "lost", ...lost });
  }

  caughtUp(): void {
    this.#write({ event: "caught_up", ...this.#watch?.counts });
  }

  show(): void {}

  end(): void {
    this.#write({ event: "stopped", ...this.#watch?.counts });
  }

  #write(event: object): void {
    this.#screen.out.write(`${escapeControls(JSON.stringify(event))}\n`);
  }
}

/** Prints events for people, and on a terminal a progress line. */
class TextReporter {
  readonly #screen: Invocation["screen"];
  readonly #progress: ProgressLine;
  #watch: Watch | undefined;

  constructor({ screen }: Invocation) {
    this.#screen = screen;
    this.#progress = new ProgressLine(screen.err);
  }

  begin(watch: Watch, paths: readonly string[]): void {
    this.#watch = watch;
    const there = paths.filter((path) => existsSync(path));
    const missing = paths.filter((path) => !there.includes(path));
    const names = missing.length > MISSING_SHOWN ? countOf(missing.length, "place", "places") : namesOf(missing);
    const sentences = [
      ...(there.length === 0 ? [] : [`Watching ${namesOf(there)}.`]),
      ...(missing.length === 0 ? [] : [`Waiting for ${names} to appear.`]),
    ];
    this.#screen.err.write(`${wrapText(sentences.join(" "), this.#screen.err.columns).join("\n")}\n`);
  }

  file({ file, format, added, rejected }: ImportedFile): void {
    if (added === 0) return;
    const faulty = rejected === 0 ? "" : `, ${countOf(rejected, "line", "lines")} rejected`;
    this.#line("out", `${pathText(file)}: ${countOf(added, "entry", "entries")} of ${format}${faulty}`);
  }

  rejected({ file, line, reason }: RejectedLine): void {
    this.#line("err", `${pathText(file)}${line === 0 ? "" : `:${line}`}: ${cleanLine(reason)}`);
  }

  trouble(reason: string): void {
    this.#line("err", cleanLine(reason));
  }

  lost({ file, how, sessions }: LostFile): void {
    const kept = countOf(sessions.length, "session is kept", "sessions are kept");
    this.#line("out", `${pathText(file)}: ${how === "deleted" ? "deleted" : "became shorter"}; ${kept}`);
  }

  caughtUp(): void {
    this.show();
  }

  show(): void {
    const { files = 0, waiting = 0, added = 0 } = this.#watch?.counts ?? {};
    const behind = waiting === 0 ? "" : `, ${formatCount(waiting)} to read`;
    const entries = countOf(added, "entry", "entries");
    this.#progress.show(`${countOf(files, "file", "files")} watched${behind}, ${entries} added; Ctrl-C to stop`);
  }

  end(): void {
    this.#progress.clear();
    const { added = 0 } = this.#watch?.counts ?? {};
    this.#screen.err.write(`Stopped; ${countOf(added, "entry", "entries")} added. The next run continues here.\n`);
  }

  #line(pane: "out" | "err", text: string): void {
    this.#progress.clear();
    this.#screen[pane].write(`${text}\n`);
  }
}

function namesOf(paths: readonly string[]): string {
  return paths.map(pathText).join(", ");
}

interface Unit {
  readonly kind: (typeof unitKinds)[number];
  readonly paths: readonly string[];
  readonly data: string;
}

const UNIT_NAME = "hansard-watch";

function unitText({ kind, paths, data }: Unit): string {
  const program = [process.execPath, realpathSync(process.argv[1] ?? "")];
  const args = [...program, "watch", "--data", data, ...paths.map((path) => resolve(path))];
  // Where tools keep their files; a service does not inherit these variables.
  const variables = placeVariables().flatMap((name): readonly [string, string][] => {
    const value = process.env[name] ?? "";
    return value === "" ? [] : [[name, value]];
  });
  return kind === "systemd" ? systemdText(args, variables) : plistText(args, variables);
}

function systemdText(args: readonly string[], variables: readonly (readonly [string, string])[]): string {
  const environment = variables.map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}\n`).join("");
  return `# ~/.config/systemd/user/${UNIT_NAME}.service
# systemctl --user daemon-reload && systemctl --user enable --now ${UNIT_NAME}
[Unit]
Description=Hansard records what coding agents write

[Service]
ExecStart=${args.map((arg) => quoted(arg.replaceAll("$", "$$$$"))).join(" ")}
${environment}Restart=on-failure
RestartSec=5
Nice=10

[Install]
WantedBy=default.target
`;
}

/** Quoted for systemd. */
function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("%", "%%");
  return `"${escaped}"`;
}

function plistText(args: readonly string[], variables: readonly (readonly [string, string])[]): string {
  const items = args.map((arg) => `    <string>${xml(arg)}</string>\n`).join("");
  const pairs = variables
    .map(([name, value]) => `    <key>${xml(name)}</key><string>${xml(value)}</string>\n`)
    .join("");
  const environment = pairs === "" ? "" : `  <key>EnvironmentVariables</key>\n  <dict>\n${pairs}  </dict>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ~/Library/LaunchAgents/${UNIT_NAME}.plist, then: launchctl load ~/Library/LaunchAgents/${UNIT_NAME}.plist -->
<plist version="1.0">
<dict>
  <key>Label</key><string>${UNIT_NAME}</string>
  <key>ProgramArguments</key>
  <array>
${items}  </array>
${environment}  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ProcessType</key><string>Background</string>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
