// `hansard otlp`: maps recorded traces again after an upgrade, and prints how a framework sends its traces here.
import type { Command } from "commander";
import type { Recorder } from "../../../index.js";
import {
  type CommandModule,
  helpText,
  type Invocation,
  printResult,
  requireAddress,
  withProgress,
  withRecorder,
} from "../command.js";
import { type ExitStatus, exitStatus, WrongUse } from "../failures.js";
import { otlpSetups } from "../otlp-setups.js";
import { countOf, formatCount } from "../text/table.js";

const names = Object.keys(otlpSetups);

export const otlpCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<action>", "setup or remap")
      .argument("[name]", `for setup: ${names.join(", ")}`)
      .option("--url <address>", "the server (http://127.0.0.1:4747)")
      .option("--json", "print JSON")
      .addHelpText(
        "after",
        helpText(
          [
            `\`setup\` prints the lines that send a framework's traces to a server. \`remap\` reads all recorded traces again: what this
version understands and an earlier one did not is added, and nothing twice.`,
          ],
          [
            ["how OpenLLMetry sends its traces here", "hansard otlp setup openllmetry"],
            ["derive what an upgrade has learned", "hansard otlp remap"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    const [action, name] = invocation.operands;
    if (action === "setup") return printSetup(invocation, name);
    if (action === "remap") return remap(invocation, name);
    throw wrong("action", action, "Use setup or remap.");
  },
};

function printSetup(invocation: Invocation, name: string | undefined): ExitStatus {
  const setup = name !== undefined && Object.hasOwn(otlpSetups, name) ? otlpSetups[name] : undefined;
  if (name === undefined || setup === undefined) throw wrong("framework", name, `Use one of ${names.join(", ")}.`);
  const { options, settings } = invocation;
  const url = typeof options.url === "string" ? options.url : `http://127.0.0.1:${settings.port}`;
  requireAddress("--url", url, "https://record.example.com");
  const lines = setup.lines(url.replace(/\/+$/, ""));
  printResult(invocation, { name, language: setup.language, lines }, () => `${lines.join("\n")}\n`);
  return exitStatus.done;
}

async function remap(invocation: Invocation, name: string | undefined): Promise<ExitStatus> {
  if (name !== undefined) throw wrong("argument", name, "remap reads all recorded traces.");
  const remapped = await withProgress(invocation, (progress) =>
    withRecorder(invocation, { create: false }, async (recorder: Recorder) => {
      const { position: head } = await recorder.health();
      const onProgress = (at: number): void =>
        progress.show(`Reading traces: ${formatCount(at)} of ${formatCount(head)} …`);
      return recorder.remapTraces({ onProgress });
    }),
  );
  printResult(
    invocation,
    remapped,
    ({ traces, added }) => `${countOf(traces, "trace", "traces")} read, ${countOf(added, "entry", "entries")} added.\n`,
  );
  return exitStatus.done;
}

function wrong(what: string, given: string | undefined, hint: string): WrongUse {
  const message = given === undefined ? `the ${what} is missing` : `unknown ${what} ${JSON.stringify(given)}`;
  return new WrongUse({ code: "usage_invalid", field: what, message, hint });
}
