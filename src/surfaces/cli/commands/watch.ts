// `hansard watch`: what other programs write, read into the record while they write it, until Ctrl-C.
import { existsSync } from "node:fs";
import type { Command } from "commander";
import {
  type ImportedFile,
  importFormats,
  knownPlaces,
  type Recorder,
  type RejectedLine,
  type Watch,
} from "../../../index.js";
import { type CommandModule, helpText, type Invocation, textOptions, withRecorder } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { onStop } from "../on-stop.js";
import { countOf, formatCount, wrapText } from "../text/table.js";
import { cleanLine, escapeObeyed, ProgressLine, pathText } from "../text/terminal.js";
import { unitKinds, unitText } from "../text/unit-text.js";

const SHOW_EVERY_MS = 500;
/** More places that are not there are counted instead of named. */
const ABSENT_SHOWN = 3;

export const watchCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("[path...]", "files and folders; none for the places where known tools keep theirs")
      .option("--format <name>", `what it is, where its content does not tell: ${importFormats.join(", ")}`)
      .option("--timezone <zone>", "where times without a zone were written, such as Europe/Berlin (this machine's)")
      .option("--poll", "look every second instead of waiting for word from the system")
      .option("--redact <when>", "capture: mask secrets before they are stored")
      .option("--print-service [kind]", `print a service file that starts it with the session: ${unitKinds.join(", ")}`)
      .option("--json", "print what happens as JSON, a line each")
      .addHelpText(
        "after",
        helpText(
          [
            `A line is recorded within two seconds of being complete. It goes on where it stopped, also after a restart, after
rotation and where a file was truncated or replaced. Files that vanish change nothing: the record outlives them.`,
          ],
          [
            ["what all known tools write on this machine", "hansard watch"],
            ["one folder, for a program", "hansard watch ./transcripts --json"],
            [
              "from now on with every login",
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
    // Heard from the first moment on, since opening a store takes one.
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
  const teller = invocation.json ? new JsonTeller(invocation) : new LineTeller(invocation);
  const watch = await recorder.watchFiles(operands, {
    ...textOptions(options, ["format", "timezone"]),
    poll: options.poll === true,
    onFile: (file) => teller.file(file),
    onRejected: (line) => teller.rejected(line),
    onTrouble: (reason) => teller.trouble(reason),
  });
  teller.begin(watch, operands.length === 0 ? knownPlaces().map(({ path }) => path) : operands);
  const shown = setInterval(() => teller.show(), SHOW_EVERY_MS);
  let isStopped = false;
  void watch.caughtUp().then(() => isStopped || teller.caughtUp());
  await stopped;
  isStopped = true;
  clearInterval(shown);
  await watch.close();
  teller.end();
}

function unitKind(given: unknown): (typeof unitKinds)[number] {
  if (given === true) return process.platform === "darwin" ? "launchd" : "systemd";
  const kind = unitKinds.find((name) => name === given);
  if (kind !== undefined) return kind;
  const message = `--print-service knows ${unitKinds.join(" and ")}`;
  throw new WrongUse({ code: "option_invalid", field: "--print-service", message });
}

/** For programs: what happens, a line each. */
class JsonTeller {
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

  caughtUp(): void {
    this.#write({ event: "caught_up", ...this.#watch?.counts });
  }

  show(): void {}

  end(): void {
    this.#write({ event: "stopped", ...this.#watch?.counts });
  }

  #write(event: object): void {
    this.#screen.out.write(`${escapeObeyed(JSON.stringify(event))}\n`);
  }
}

/** For people: a line for what happened, and one that says how it stands where there is a terminal. */
class LineTeller {
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
    const absent = paths.filter((path) => !there.includes(path));
    const count = countOf(absent.length, "place", "places");
    const missing = absent.length > ABSENT_SHOWN ? count : namesOf(absent);
    const later = `${missing} ${absent.length === 1 ? "is" : "are"} not there yet`;
    const sentences = [
      ...(there.length === 0 ? [] : [`Watching ${namesOf(there)}`]),
      ...(absent.length === 0 ? [] : [there.length === 0 ? `Waiting: ${later}` : later]),
    ];
    const text = `${sentences.join("; ")}.`;
    this.#screen.err.write(`${wrapText(text, this.#screen.err.columns).join("\n")}\n`);
  }

  file({ file, format, added, rejected }: ImportedFile): void {
    if (added === 0) return;
    const refused = rejected === 0 ? "" : `, ${countOf(rejected, "line", "lines")} rejected`;
    this.#line("out", `${pathText(file)}: ${countOf(added, "entry", "entries")} of ${format}${refused}`);
  }

  rejected({ file, line, reason }: RejectedLine): void {
    this.#line("err", `${pathText(file)}${line === 0 ? "" : `:${line}`}: ${cleanLine(reason)}`);
  }

  trouble(reason: string): void {
    this.#line("err", cleanLine(reason));
  }

  caughtUp(): void {
    this.show();
  }

  show(): void {
    const { files = 0, waiting = 0, added = 0 } = this.#watch?.counts ?? {};
    const behind = waiting === 0 ? "" : `, ${formatCount(waiting)} to read`;
    const entries = countOf(added, "entry", "entries");
    this.#progress.show(`${countOf(files, "file", "files")} watched${behind}, ${entries} added; Ctrl-C ends it`);
  }

  end(): void {
    this.#progress.clear();
    const { added = 0 } = this.#watch?.counts ?? {};
    this.#screen.err.write(`Stopped; ${countOf(added, "entry", "entries")} added. It goes on from here next time.\n`);
  }

  #line(pane: "out" | "err", text: string): void {
    this.#progress.clear();
    this.#screen[pane].write(`${text}\n`);
  }
}

function namesOf(paths: readonly string[]): string {
  return paths.map(pathText).join(", ");
}
